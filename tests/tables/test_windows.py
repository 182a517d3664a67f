"""The tables of node images."""

import gzip
import json
from importlib.resources import files

import pytest
from winkube.tables.linux import LINUX_IMAGES
from winkube.tables.windows import EDITIONS, WINDOWS_RELEASES, releases_for


def eks_model():
    """The EKS API as botocore carries it."""
    return json.loads(gzip.decompress(files("botocore").joinpath("data/eks/2017-11-01/service-2.json.gz").read_bytes()))


@pytest.mark.parametrize("release", WINDOWS_RELEASES)
@pytest.mark.parametrize("edition", EDITIONS)
def test_core_and_full_are_not_swapped(release: str, edition: str):
    """AMI type and SSM parameter of one edition name that edition: a popular module has them crossed."""
    row, other = WINDOWS_RELEASES[release], {"core": "full", "full": "core"}[edition]
    for text in (row.ami_type(edition), row.ami_parameter(edition, "1.36")):
        assert edition in text.lower()
        assert other not in text.lower()
        assert release in text


def test_the_parameter_is_the_published_one():
    """The name in the user guide, with the id and not the JSON document."""
    assert WINDOWS_RELEASES["2025"].ami_parameter("full", "1.35") == (
        "/aws/service/ami-windows-latest/Windows_Server-2025-English-Full-EKS_Optimized-1.35/image_id"
    )


def test_every_ami_type_is_one_of_the_api():
    """The EKS API knows each AMI type that the tables yield, and no Windows one is missing."""
    known = set(eks_model()["shapes"]["AMITypes"]["enum"])
    windows = {row.ami_type(edition) for row in WINDOWS_RELEASES.values() for edition in EDITIONS}
    assert windows == {name for name in known if name.startswith("WINDOWS_")}
    assert {name for image in LINUX_IMAGES.values() for name in image.ami_types.values()} <= known


@pytest.mark.parametrize(
    ("minor", "releases"),
    [("1.34", ("2019", "2022")), ("1.35", ("2019", "2022", "2025")), ("1.36", ("2019", "2022", "2025"))],
)
def test_server_2025_needs_1_35(minor: str, releases: tuple[str, ...]):
    """The releases that a minor can run."""
    assert releases_for(minor) == releases


def test_only_2019_carries_a_warning():
    """The release out of mainstream support says so."""
    assert [release for release, row in WINDOWS_RELEASES.items() if row.warning] == ["2019"]
