"""Own images of Windows nodes: Image Builder, cached images, fast launch."""

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml
from winkube.eks.image_plan import FastLaunch, cache_component, check_windows_image
from winkube.eks.windows_image import EksWindowsImage, EksWindowsImageArgs
from winkube.preview.model import UNKNOWN, Plan, Resource

ARGS = EksWindowsImageArgs(region="eu-central-1", kubernetes_version="1.36")
CORE = "mcr.microsoft.com/windows/servercore:ltsc2022"
OURS = "111122223333.dkr.ecr.eu-central-1.amazonaws.com/shop/web:1.4"


def one(plan: Plan, kind: str) -> Resource:
    (found,) = [resource for resource in plan.resources if resource.type.endswith(f":{kind}")]
    return found


@pytest.mark.parametrize(
    ("change", "code", "path", "words"),
    [
        ({"cached_images": ["servercore"]}, "WK-EKS-095", ("cached_images", 0), "a registry and a tag or digest"),
        ({"cached_images": [CORE.replace("2022", "2019")]}, "WK-EKS-095", ("cached_images", 0), '"ltsc2022"'),
        ({"cached_images": ["a/b:c'; rm"]}, "WK-EKS-095", ("cached_images", 0), "a registry and a tag or digest"),
        ({"fast_launch": FastLaunch(account_id="12")}, "WK-EKS-096", ("fast_launch", "account_id"), "twelve digits"),
        ({"fast_launch": FastLaunch(account_id="1" * 12, snapshots=0)}, "WK-EKS-096", ("fast_launch", "snapshots"),
         "1 or more"),
        ({"fast_launch": FastLaunch(account_id="1" * 12, max_parallel_launches=5)}, "WK-EKS-096",
         ("fast_launch", "max_parallel_launches"), "set it to 6"),
        ({"root_volume_size_gib": 49}, "WK-EKS-097", ("root_volume_size_gib",), "50 or more"),
        ({"schedule": "monthly"}, "WK-EKS-098", ("schedule",), "cron(0 4 ? * WED#3 *)"),
        ({"windows": "2025", "kubernetes_version": "1.34"}, "WK-EKS-012", ("windows",), "1.35"),
    ],
)  # fmt: skip
def test_what_cannot_be_built_is_refused(
    change: dict[str, Any], code: str, path: tuple[str | int, ...], words: str
) -> None:
    (mistake,) = check_windows_image(replace(ARGS, **change))
    assert (mistake.rule.code, mistake.path) == (code, path)
    assert words in mistake.text()


def test_builders_are_of_types_that_run_windows(record: Any) -> None:
    with pytest.raises(Exception, match="WK-EKS-016"):
        record(lambda: EksWindowsImage("image", replace(ARGS, instance_types=["m7g.large"])))


def test_images_are_pulled_where_the_kubelet_sees_them() -> None:
    """Into containerd's namespace k8s.io; with a token for a registry of ECR and without one for others."""
    text = cache_component([CORE, OURS])
    assert yaml.safe_load(text) == json.loads(text)
    (phase,) = json.loads(text)["phases"]
    stop, public, private = phase["steps"][0]["inputs"]["commands"]
    assert stop == "$ErrorActionPreference = 'Stop'"
    assert public == f"& ctr -n k8s.io images pull '{CORE}'; if ($LASTEXITCODE -ne 0) {{ exit $LASTEXITCODE }}"
    assert f"Get-ECRLoginCommand -Region eu-central-1).Password)\" '{OURS}'" in private


def test_an_image_is_built_with_the_deployment_on_top_of_that_of_eks(record: Any) -> None:
    plan = record(lambda: EksWindowsImage(
        "image", replace(ARGS, cached_images=[CORE], fast_launch=FastLaunch(account_id="111122223333"))))  # fmt: skip
    recipe = one(plan, "ImageRecipe").inputs
    assert recipe["parentImage"] is UNKNOWN
    assert recipe["blockDeviceMappings"] == [
        {"deviceName": "/dev/sda1", "ebs": {"volumeSize": 80.0, "volumeType": "gp3", "encrypted": "true"}}
    ]
    (invoke,) = plan.invokes
    assert invoke.arguments["name"].endswith("Windows_Server-2022-English-Core-EKS_Optimized-1.36/image_id")
    arns = [component["componentArn"] for component in recipe["components"]]
    assert arns == ["arn:aws:imagebuilder:eu-central-1:aws:component/update-windows/x.x.x", UNKNOWN]
    (distribution,) = one(plan, "DistributionConfiguration").inputs["distributions"]
    assert distribution["fastLaunchConfigurations"] == [{
        "accountId": "111122223333", "enabled": True, "maxParallelLaunches": 6.0,
        "snapshotConfiguration": {"targetResourceCount": 5.0},
    }]  # fmt: skip
    assert one(plan, "InfrastructureConfiguration").inputs["instanceMetadataOptions"]["httpTokens"] == "required"
    assert one(plan, "Image").options.custom_timeouts == {"create": "180m"}
    assert not [resource for resource in plan.resources if resource.type.endswith(":ImagePipeline")]


def test_a_schedule_makes_a_pipeline_instead(record: Any) -> None:
    plan = record(lambda: EksWindowsImage("image", replace(ARGS, schedule="cron(0 4 ? * WED#3 *)")))
    schedule = one(plan, "ImagePipeline").inputs["schedule"]
    assert schedule["scheduleExpression"] == "cron(0 4 ? * WED#3 *)"
    assert not [resource for resource in plan.resources if resource.type.endswith(":Image")]


def test_the_image_id_is_for_a_node_group(record: Any) -> None:
    """In an update the id is there; the group is then one with an image of its own."""
    seen: list[str] = []

    def build() -> None:
        image = EksWindowsImage("image", ARGS)
        assert image.image_id is not None
        image.image_id.apply(seen.append)

    record(build, preview=False)
    assert seen == ["placeholder-image-image.outputResources.0.amis.0.image"]


def test_updates_of_windows_can_be_left_to_the_maker_of_the_image(record: Any) -> None:
    """Without them only what caches container images is built in."""
    plan = record(lambda: EksWindowsImage("image", replace(ARGS, update_windows=False, cached_images=[CORE])))
    (component,) = one(plan, "ImageRecipe").inputs["components"]
    assert component["componentArn"] is UNKNOWN
