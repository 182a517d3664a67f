"""Own images of Windows nodes: what is baked, and by which code."""

import json
from dataclasses import replace
from typing import Any

import pytest
from winkube.instance_groups.groups import WindowsInstanceGroup
from winkube.instance_groups.node_image import (
    WindowsNodeImage,
    WindowsNodeImageArgs,
    bake_commands,
    check_node_image,
    image_document,
)
from winkube.node_images.plan import FastLaunch
from winkube.preview.model import UNKNOWN, Plan, Resource

from .samples import PEM, late_target, make_target, windows_args

ARGS = WindowsNodeImageArgs(target=make_target())
CORE = "mcr.microsoft.com/windows/servercore:ltsc2022"


def one(plan: Plan, kind: str) -> Resource:
    """The one resource of a kind."""
    (found,) = [resource for resource in plan.resources if resource.type.endswith(f":{kind}")]
    return found


@pytest.mark.parametrize(
    ("change", "code", "path", "words"),
    [
        ({"windows": "2019"}, "WK-KAD-002", ("windows",), "2022"),
        ({"edition": "nano"}, "WK-IG-022", ("edition",), '"core"'),
        ({"root_volume_size_gib": 80}, "WK-EKS-097", ("root_volume_size_gib",), "set it to 100 or more"),
        ({"cached_images": (CORE.replace("2022", "2025"),)}, "WK-EKS-095", ("cached_images", 0), '"ltsc2022"'),
        ({"instance_types": ("m7g.large",)}, "WK-EKS-016", ("instance_types", 0), "m7i.large"),
        ({"fast_launch": FastLaunch(account_id="1")}, "WK-EKS-096", ("fast_launch", "account_id"), "twelve digits"),
        ({"schedule": "weekly"}, "WK-EKS-098", ("schedule",), "cron("),
        ({"target": make_target(vxlan_vni=1)}, "WK-IG-006", ("target", "vxlan_vni"), "4096"),
    ],
)
def test_what_cannot_be_built_is_refused(change: dict[str, Any], code: str, path: Any, words: str) -> None:
    """The rules of images and those of self-managed clusters."""
    found = [m for m in check_node_image(replace(ARGS, **change)) if m.rule.code == code]
    assert [m.path for m in found] == [path]
    assert words in found[0].text()


def test_an_image_lies_on_top_of_the_makers_own(record: Any) -> None:
    """Windows updates first, then the boot code; no more than the role that builds needs."""
    plan = record(lambda: WindowsNodeImage("image", replace(ARGS, windows="2025", edition="full")))
    parameter = "/aws/service/ami-windows-latest/Windows_Server-2025-English-Full-Base"
    assert parameter in json.dumps([call.arguments for call in plan.invokes], default=str)
    components = one(plan, "ImageRecipe").inputs["components"]
    assert components[0]["componentArn"].endswith(":aws:component/update-windows/x.x.x")
    assert len(components) == 2
    policy = json.loads(one(plan, "RolePolicy").inputs["policy"])
    assert [s["Sid"] for s in policy["Statement"]] == ["BootFiles", "BucketKey"]


def test_the_boot_code_itself_makes_the_image(record: Any) -> None:
    """The same bundle, checked by digest, told to stop where a node begins to be one; 3010 restarts Windows."""
    plan = record(lambda: WindowsNodeImage("image", ARGS))
    (step,) = json.loads(one(plan, "Component").inputs["data"])["phases"][0]["steps"]
    commands = step["inputs"]["commands"]
    assert commands[0] == "$ErrorActionPreference = 'Stop'"
    assert commands[-1] == "exit $LASTEXITCODE"
    assert "-Purpose Image" in commands[-2]
    keys = [r.inputs["key"] for r in plan.resources if r.type.endswith(":BucketObjectv2")]
    assert all(any(key in command for command in commands) for key in keys)
    assert sum("Get-FileHash" in command for command in commands) == 2


def test_the_document_is_of_a_group_that_nobody_joins_with() -> None:
    """No hooks, no state in the bucket; files, features and images as of every node."""
    document = json.loads(image_document(replace(ARGS, cached_images=(CORE,)), "boot", PEM))
    assert document["autoScaling"] == {"group": None, "launchHook": None, "terminateHook": None}
    assert document["bucket"]["statusPrefix"] is None
    assert CORE in document["containerd"]["images"]
    assert document["artefacts"]


def test_a_quote_in_a_name_ends_no_string() -> None:
    """What a bucket is called cannot become a command."""
    commands = bake_commands("eu-west-1", "it's", "a/boot/1", "a/nodes/image/2.json")
    assert any("'it''s'" in command for command in commands)


def test_a_group_uses_the_image(record: Any) -> None:
    """The id goes into the launch template, once it is known."""

    def build() -> None:
        image = WindowsNodeImage("image", ARGS)
        assert image.image_id is not None
        WindowsInstanceGroup("win", windows_args(image_id=image.image_id))

    assert one(record(build), "LaunchTemplate").inputs["imageId"] is UNKNOWN


def test_a_schedule_makes_a_pipeline(record: Any) -> None:
    """And no image with the deployment; it also plans for a cluster that is not there yet."""
    schedule = "cron(0 4 ? * WED#3 *)"
    plan = record(lambda: WindowsNodeImage("image", WindowsNodeImageArgs(target=late_target(), schedule=schedule)))
    assert one(plan, "ImagePipeline").inputs["schedule"]["scheduleExpression"] == schedule
    assert not [r for r in plan.resources if r.type.endswith(":Image")]
