"""The table of instance types."""

import gzip
import json
from importlib.resources import files

import pytest
from winkube.tables.instance_types import (
    architecture,
    instance_type,
    instance_type_names,
    sizes_of,
    untested_on_windows,
)


@pytest.mark.parametrize(
    ("name", "ipv4", "nitro"),
    [("t3.medium", 6, True), ("t3.large", 12, True), ("m5.large", 10, True), ("m6i.large", 10, True),
     ("m7i.large", 10, True), ("m7i.xlarge", 15, True), ("c6i.2xlarge", 15, True), ("m5.4xlarge", 30, True),
     ("m4.large", 10, False), ("c5.metal", 50, True)],
)  # fmt: skip
def test_addresses_per_interface_are_those_of_the_controller(name: str, ipv4: int, nitro: bool):
    """The values in the VPC resource controller's own table; bare metal counts as Nitro there."""
    facts = instance_type(name)
    assert facts is not None
    assert (facts.ipv4_per_interface, facts.nitro) == (ipv4, nitro)


@pytest.mark.parametrize(
    "family", ["a1", "t4g", "m6g", "m7g", "c6gn", "c7g", "r8g", "g5g", "x2gd", "im4gn", "is4gen", "i8g"]
)
def test_graviton_families_are_arm(family: str):
    """Every size of a Graviton family is arm64."""
    assert sizes_of(family)
    assert {architecture(f"{family}.{size}") for size in sizes_of(family)} == {"arm64"}


def test_names_cover_the_linter_s():
    """Nothing that cfn-lint accepts in any region is missing, but Macs."""
    text = files("cfnlint").joinpath("data/schemas/extensions/aws_ec2_instance/instancetype_enum.json").read_text()
    regions = [entry["enum"] for entry in json.loads(text).values() if isinstance(entry, dict)]
    wanted = {name for names in regions for name in names if not name.startswith("mac")}
    assert wanted <= set(instance_type_names())


def test_no_name_is_invented():
    """Every name is known to cfn-lint or to botocore's EC2 model, or is an old one that moto still describes."""
    model = json.loads(
        gzip.decompress(files("botocore").joinpath("data/ec2/2016-11-15/service-2.json.gz").read_bytes())
    )
    text = files("cfnlint").joinpath("data/schemas/extensions/aws_ec2_instance/instancetype_enum.json").read_text()
    linter = {name for entry in json.loads(text).values() if isinstance(entry, dict) for name in entry["enum"]}
    assert set(instance_type_names()) - linter <= set(model["shapes"]["InstanceType"]["enum"])


def test_accelerators_are_marked():
    """GPU and machine-learning families are told apart."""
    marked = {name: getattr(instance_type(name), "accelerator") for name in ("g4dn.xlarge", "inf2.xlarge", "m5.large")}  # noqa: B009
    assert marked == {"g4dn.xlarge": "gpu", "inf2.xlarge": "inferentia", "m5.large": None}


def test_sizes_come_smallest_first():
    """What a message offers starts with the small ones."""
    assert sizes_of("t3") == ("nano", "micro", "small", "medium", "large", "xlarge", "2xlarge")
    assert sizes_of("m99") == ()


@pytest.mark.parametrize("name", ["m5", "m5.", ".large", "m5.tiny", "", "large.m5"])
def test_unknown_names_are_none(name: str):
    """No guess from a half name."""
    assert instance_type(name) is None


def test_untested_families():
    """M6a is meant as a whole, M4 but for its largest size."""
    assert untested_on_windows("m6a.large")
    assert untested_on_windows("r3.large")
    assert not untested_on_windows("m4.16xlarge")
    assert not untested_on_windows("m6i.large")
