"""The table of replacements: what it says, and that it says nothing where nobody knows."""

import json
from pathlib import Path

import pytest
from winkube.preview.comparison import replacements
from winkube.preview.comparison.refresh_replacements import core, docstring_says, match
from winkube.preview.comparison.replacements import Answer, covers, mark, table, worst

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"


@pytest.mark.parametrize(
    ("token", "path", "answer"),
    [
        (NODE_GROUP, ("amiType",), "yes"),
        (NODE_GROUP, ("instanceTypes", 0), "yes"),
        (NODE_GROUP, ("launchTemplate", "id"), "yes"),
        (NODE_GROUP, ("launchTemplate", "version"), "no"),
        (NODE_GROUP, ("launchTemplate",), "unknown"),
        (NODE_GROUP, ("taints", 0, "effect"), "no"),
        (TEMPLATE, ("userData",), "no"),
        (TEMPLATE, ("name",), "yes"),
        ("aws:autoscaling/tag:Tag", ("tag", "key"), "yes"),
        ("aws:autoscaling/tag:Tag", ("tag", "value"), "no"),
        ("aws:autoscaling/tag:Tag", ("tag",), "unknown"),
        ("aws:autoscaling/tag:Tag", ("region",), "yes"),
        ("aws:kms/key:Key", ("keyUsage",), "yes"),
        ("aws:kms/key:Key", ("description",), "no"),
        ("aws:ec2/flowLog:FlowLog", ("vpcId",), "yes"),
        ("aws:eks/cluster:Cluster", ("kubernetesNetworkConfig", "serviceIpv4Cidr"), "yes"),
        ("aws:eks/cluster:Cluster", ("accessConfig", "authenticationMode"), "no"),
        ("aws:eks/cluster:Cluster", ("version",), "no"),
        ("aws:ec2/vpc:Vpc", ("cidrBlock",), "yes"),
        ("aws:ec2/vpc:Vpc", ("tags", "Name"), "no"),
        ("aws:ec2/vpc:Vpc", ("instanceTenancy",), "unknown"),
        ("aws:ec2/vpc:Vpc", ("region",), "yes"),
        ("aws:ec2/vpc:Vpc", ("notInAnySchema",), "unknown"),
        ("kubernetes:core/v1:ConfigMap", ("data", "enable-windows-ipam"), "yes"),
        ("kubernetes:core/v1:ConfigMap", ("metadata", "labels", "a"), "no"),
        ("kubernetes:core/v1:ConfigMap", ("metadata", "namespace"), "yes"),
        ("kubernetes:apps/v1:Deployment", ("spec", "replicas"), "no"),
        ("kubernetes:apps/v1:Deployment", ("spec",), "unknown"),
        ("kubernetes:core/v1:Pod", ("spec", "containers", 0, "image"), "yes"),
        ("kubernetes:example.com/v1:Widget", ("spec", "size"), "unknown"),
        ("gcp:compute/instance:Instance", ("zone",), "unknown"),
    ],
)
def test_marks(token: str, path: tuple[str | int, ...], answer: str) -> None:
    """Yes and no where a source says so; unknown elsewhere, never no."""
    assert mark(token, path).answer == answer


def test_every_answer_names_its_source() -> None:
    """The source is in words, with version or date."""
    assert mark(NODE_GROUP, ("amiType",)).source.startswith("CloudFormation schemas of 20")
    assert mark("aws:eks/cluster:Cluster", ("bootstrapSelfManagedAddons",)).source.endswith(table()["sources"]["d"])
    assert mark("a:b/c:D", ("e",)).source == "no source"


def test_the_option_beats_the_table() -> None:
    """``replaceOnChanges`` makes a change replace, whatever the table says."""
    said = mark(TEMPLATE, ("userData",), ["userData"])
    assert (said.answer, said.source) == (Answer.YES, "option replaceOnChanges")
    assert mark(TEMPLATE, ("imageId",), ["userData"]).answer is Answer.NO


def test_worst() -> None:
    """Yes beats unknown beats no."""
    marks = [mark(TEMPLATE, ("userData",)), mark("a:b/c:D", ("e",)), mark(NODE_GROUP, ("amiType",))]
    assert [worst(marks[:end]).answer for end in (0, 1, 2, 3)] == ["no", "no", "unknown", "yes"]


@pytest.mark.parametrize("pattern", ["", "a..b", "a[", 'a["x', ".", "[", "a.b.c.d"])
def test_a_broken_property_path_covers_nothing(pattern: str) -> None:
    """What cannot be read as a path is no pattern for anything."""
    assert not covers(pattern, ("a", "b", "c"))


def test_the_table_has_its_sources_and_no_contradiction() -> None:
    """Each letter is explained; a property has one answer."""
    content = json.loads((Path(replacements.__file__).parent / "replacements.json").read_text())
    assert len(content["types"]) > 700
    for token, rows in content["types"].items():
        paths = [path for row in rows.values() for path in row]
        assert len(paths) == len(set(paths)), token
        assert {letter for row in rows.values() for letters in row.values() for letter in letters} <= set("cdp"), token
    assert sum(len(rows.get("yes", {})) for rows in content["types"].values()) > 1800


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Changing this will force terraform to create new resource.", "yes"),
        ("The name. Forces replacement if changed.", "yes"),
        ("Cannot be changed after creation.", "yes"),
        ("The id (Required, Forces new resource).", "yes"),
        ("Changing from `a` back to `b` forces a new resource.", "maybe"),
        ("When decreased, this will force a recreation of the resource.", "maybe"),
        ("Enable to force a new task deployment of the service.", "maybe"),
        ("Changing this value triggers an update to `x`.", ""),
        ("The name.", ""),
    ],
)
def test_docstrings(text: str, answer: str) -> None:
    """A plain sentence counts, a condition makes it a maybe."""
    assert docstring_says(text) == answer


def test_names_match_only_where_one_fits() -> None:
    """Two that could be meant are no match."""
    assert match(["subnetIds", "name"], ["Subnets", "GroupName"], "Group") == {
        "name": "GroupName", "subnetIds": "Subnets",
    }  # fmt: skip
    assert match(["roleArn"], ["Role", "RoleId"], "X") == {}
    assert core("AssumeRolePolicyDocument") == core("assumeRolePolicy")
