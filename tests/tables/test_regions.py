"""The table of regions, and the check that uses it."""

import json
import re
from pathlib import Path

import pytest
from winkube.tables import regions

ROOT = Path(__file__).parents[2]


def test_the_preview_has_the_same_table():
    """``preview`` imports nothing of the library, so it carries a copy; the two must not drift apart."""
    library = (ROOT / "components/tables/regions.json").read_text(encoding="utf-8")
    assert (ROOT / "preview/evaluation/regions.json").read_text(encoding="utf-8") == library
    assert json.loads(library)["regions"].keys() == regions.REGIONS.keys()


def test_the_table_holds_every_region_with_an_eks_endpoint():
    """Compared with the service endpoints of the AWS SDK, the isolated partitions left out."""
    botocore = pytest.importorskip("botocore")
    data = json.loads((Path(botocore.__file__).parent / "data/endpoints.json").read_text(encoding="utf-8"))
    with_eks = {
        name: part["partition"]
        for part in data["partitions"]
        if part["partition"] in regions.PARTITIONS
        for name in part["services"]["eks"]["endpoints"]
        if not name.startswith("fips-")
    }
    assert with_eks == {name: regions.partition(name) for name in with_eks}
    assert set(with_eks) == set(regions.REGIONS)


@pytest.mark.parametrize("name", regions.REGIONS)
def test_zones_belong_to_their_region_and_are_told_apart(name: str):
    """A zone is its region and one letter; what can be picked is listed once, restricted zones are not among it."""
    row = regions.REGIONS[name]
    assert all(re.fullmatch(f"{name}[a-f]", zone) for zone in (*row.zones, *row.restricted_zones))
    assert len(set(row.zones)) == len(row.zones) >= 2
    assert not set(row.restricted_zones) & set(row.zones)
    assert set(row.eks_excluded_zones) <= set(row.zones)
    assert set(regions.zones(name)) <= regions.all_zones(name)


def test_zones_without_eks_are_not_picked():
    """Most accounts cannot place an EKS control plane in us-east-1e, few have ap-northeast-1b."""
    assert "us-east-1e" not in regions.zones("us-east-1")
    assert "us-east-1e" in regions.all_zones("us-east-1")
    assert regions.zones("ap-northeast-1") == ("ap-northeast-1a", "ap-northeast-1c", "ap-northeast-1d")


def test_partition_and_dns_suffix():
    """The four partitions of the table, each with the suffix of its host names."""
    suffixes = {region.partition: region.dns_suffix for region in regions.REGIONS.values()}
    assert suffixes == {
        "aws": "amazonaws.com",
        "aws-cn": "amazonaws.com.cn",
        "aws-eusc": "amazonaws.eu",
        "aws-us-gov": "amazonaws.com",
    }


def test_regions_launched_after_march_2019_are_opt_in():
    assert regions.REGIONS["af-south-1"].opt_in
    assert not regions.REGIONS["eu-north-1"].opt_in
    assert not regions.REGIONS["us-gov-east-1"].opt_in


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        ("us-esat-1", '"us-east-1"'),
        ("us-east-1a", 'write the region "us-east-1", without the letter of a zone'),
        ("EU-CENTRAL-1", '"eu-central-1"'),
        ("mx-north-9", '"mx-central-1"'),
        ("nowhere", '"eu-central-1" or "us-east-1"'),
    ],
)
def test_an_unknown_region_is_refused_with_the_nearest_names(wrong: str, remedy: str):
    """WK-NET-001."""
    (mistake,) = regions.check_region(wrong, ("region",))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-NET-001", ("region",), wrong)
    assert remedy in mistake.remedy
    assert not regions.check_region("eu-central-1")
