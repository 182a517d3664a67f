"""The node group components."""

import base64
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pulumi
import pytest
from winkube.core.errors import WinkubeError
from winkube.ec2.warm_pool import WarmPool
from winkube.eks.node_groups import (
    EksLinuxNodeGroup,
    EksLinuxNodeGroupArgs,
    EksWindowsNodeGroup,
    EksWindowsNodeGroupArgs,
)
from winkube.eks.target import EksTarget
from winkube.preview.model import UNKNOWN, Plan, Resource
from winkube.scheduling.labels import Taint

TARGET = EksTarget(
    name="dev",
    kubernetes_version="1.36",
    endpoint="https://dev.eks",
    certificate_authority="Q0E=",
    security_group_id="sg-1",
)
SUBNETS = ["subnet-1", "subnet-2"]
WINDOWS = EksWindowsNodeGroupArgs(name="windows", cluster=TARGET, subnet_ids=SUBNETS)
LINUX = EksLinuxNodeGroupArgs(name="system", cluster=TARGET, subnet_ids=SUBNETS)
GROUP, TEMPLATE, ENTRY = (
    "aws:eks/nodeGroup:NodeGroup",
    "aws:ec2/launchTemplate:LaunchTemplate",
    "aws:eks/accessEntry:AccessEntry",
)
AUTOSCALING, TAG = "aws:autoscaling/group:Group", "aws:autoscaling/tag:Tag"
Record = Callable[..., Plan]


def windows(record: Record, *, preview: bool = True, **values: Any) -> Plan:
    """The plan of a Windows group."""
    return record(lambda: EksWindowsNodeGroup("win", replace(WINDOWS, **values)), preview=preview)


def linux(record: Record, **values: Any) -> Plan:
    """The plan of a Linux group."""
    return record(lambda: EksLinuxNodeGroup("lin", replace(LINUX, **values)))


def of(plan: Plan, kind: str) -> list[Resource]:
    """The resources of a kind."""
    return [resource for resource in plan.resources if resource.type == kind]


def only(plan: Plan, kind: str) -> Resource:
    """The one resource of a kind."""
    (found,) = of(plan, kind)
    return found


def text_of(plan: Plan) -> str:
    """The user data of the launch template, decoded."""
    return base64.b64decode(only(plan, TEMPLATE).inputs["userData"]).decode()


@pytest.mark.parametrize(
    ("release", "edition", "ami_type"),
    [
        ("2022", None, "WINDOWS_CORE_2022_x86_64"),
        ("2022", "full", "WINDOWS_FULL_2022_x86_64"),
        ("2025", "core", "WINDOWS_CORE_2025_x86_64"),
    ],
)
def test_windows_groups_are_one_path(record: Record, release: str, edition: str | None, ami_type: str):
    """Release and edition decide the image and nothing else."""
    plan = windows(record, windows=release, edition=edition or "core")
    inputs = only(plan, GROUP).inputs
    assert inputs["amiType"] == ami_type
    assert inputs["version"] == "1.36"
    assert inputs["taints"] == [{"key": "os", "value": "windows", "effect": "NO_SCHEDULE"}]
    assert inputs["scalingConfig"] == {"minSize": 1, "maxSize": 3, "desiredSize": 1}
    outputs = next(r for r in plan.resources if r.name == "win").outputs
    assert outputs["windowsRelease"] == release
    assert f"{release}-English-{(edition or 'core').title()}" in outputs["amiParameter"]
    assert outputs["podsPerNode"] == 9


def test_the_launch_template_of_windows(record: Record):
    """Session tokens, one hop, an encrypted gp3 root on /dev/sda1, and no image id beside the AMI type."""
    inputs = only(windows(record), TEMPLATE).inputs
    assert inputs["metadataOptions"] == {
        "httpEndpoint": "enabled",
        "httpTokens": "required",
        "httpPutResponseHopLimit": 1,
    }
    assert inputs["blockDeviceMappings"] == [
        {
            "deviceName": "/dev/sda1",
            "ebs": {"volumeSize": 80, "volumeType": "gp3", "encrypted": "true", "deleteOnTermination": "true"},
        }
    ]
    assert {spec["resourceType"] for spec in inputs["tagSpecifications"]} == {"instance", "volume", "network-interface"}
    assert "imageId" not in inputs
    assert "userData" not in inputs
    assert "vpcSecurityGroupIds" not in inputs


def test_bottlerocket_encrypts_both_disks(record: Record):
    """The system's disk keeps its size, the data disk is sized."""
    plan = linux(record, linux="bottlerocket", instance_types=["m7g.large"])
    assert only(plan, GROUP).inputs["amiType"] == "BOTTLEROCKET_ARM_64"
    system, data = only(plan, TEMPLATE).inputs["blockDeviceMappings"]
    assert (system["deviceName"], data["deviceName"]) == ("/dev/xvda", "/dev/xvdb")
    assert "volumeSize" not in system["ebs"]
    assert system["ebs"]["encrypted"] == data["ebs"]["encrypted"] == "true"


def test_linux_and_windows_have_roles_of_their_own(record: Record):
    """Each group makes its role, and the group comes after the role's policies."""

    def both() -> None:
        EksLinuxNodeGroup("lin", LINUX)
        EksWindowsNodeGroup("win", WINDOWS)

    plan = record(both, preview=False)
    groups = {group.name: group for group in of(plan, GROUP)}
    assert groups["lin-group"].inputs["nodeRoleArn"] != groups["win-group"].inputs["nodeRoleArn"]
    attachments = [r for r in plan.resources if "RolePolicyAttachment" in r.type and r.name.startswith("win-")]
    assert attachments
    assert {a.urn for a in attachments} <= set(groups["win-group"].options.dependencies)
    assert not any("CNI" in a.inputs["policyArn"] for a in attachments)


def test_the_caller_s_order_reaches_the_nodes(record: Record):
    """What stands in depends_on of the component stands in the dependencies of its node group."""

    def ordered() -> None:
        first = EksLinuxNodeGroup("lin", LINUX)
        EksWindowsNodeGroup("win", WINDOWS, pulumi.ResourceOptions(depends_on=[first]))

    plan = record(ordered)
    groups = {group.name: group for group in of(plan, GROUP)}
    assert groups["lin-group"].urn in groups["win-group"].options.dependencies


def test_the_autoscaler_owns_the_desired_size(record: Record):
    """Changes of the desired size are ignored, whoever manages the group."""
    assert only(windows(record), GROUP).options.ignore_changes == ("scalingConfig.desiredSize",)
    plan = windows(record, management="self_managed")
    assert only(plan, AUTOSCALING).options.ignore_changes == ("desiredCapacity",)


def test_the_autoscaler_knows_a_windows_node_before_there_is_one(record: Record):
    """System, build, taint, labels and pod addresses as tags of the group that EKS makes."""
    plan = windows(record, labels={"team": "web"}, prefix_delegation=True)
    prefix = "k8s.io/cluster-autoscaler/node-template/"
    given = [tag.inputs["tag"] for tag in of(plan, TAG)]
    tags = {tag["key"].removeprefix(prefix): tag["value"] for tag in given}
    assert tags == {
        "label/kubernetes.io/os": "windows",
        "label/node.kubernetes.io/windows-build": "10.0.20348",
        "label/team": "web",
        "resources/vpc.amazonaws.com/PrivateIPv4Address": "144",
        "taint/os": "windows:NoSchedule",
    }
    assert all(tag.inputs["autoscalingGroupName"] is UNKNOWN for tag in of(plan, TAG))
    assert not of(windows(record, autoscaler_tags=False), TAG)
    assert not of(linux(record), TAG)


def test_the_windows_taint_can_be_left_out(record: Record):
    """Without it there is no taint, and no tag for it."""
    plan = windows(record, windows_taint=False)
    assert "taints" not in only(plan, GROUP).inputs
    assert not [tag for tag in of(plan, TAG) if "/taint/" in tag.inputs["tag"]["key"]]


def test_a_taint_of_ones_own_takes_the_place_of_the_default(record: Record):
    """The same key and effect are not given twice."""
    plan = windows(record, taints=[Taint(key="os", value="windows-2022")])
    assert only(plan, GROUP).inputs["taints"] == [{"key": "os", "value": "windows-2022", "effect": "NO_SCHEDULE"}]


def test_an_image_of_ones_own(record: Record):
    """No AMI type and version, complete user data, and the Windows entry before the group."""
    plan = windows(record, preview=False, image_id="ami-0123456789abcdef0", labels={"team": "web"}, max_pods=9,
                   kubelet_arguments={"v": "4"}, commands_before=["Write-Host 'one'"],
                   commands_after=["Write-Host 'two'"])  # fmt: skip
    group, template, entry = only(plan, GROUP), only(plan, TEMPLATE), only(plan, ENTRY)
    assert not {"amiType", "version", "releaseVersion"} & set(group.inputs)
    assert template.inputs["imageId"] == "ami-0123456789abcdef0"
    assert entry.inputs["type"] == "EC2_WINDOWS"
    assert entry.urn in group.options.dependencies
    text = text_of(plan)
    for part in ("-EKSClusterName 'dev'", "-ServiceCIDR '172.20.0.0/16'", "-DNSClusterIP '172.20.0.10'", "--max-pods=9",
                 "--node-labels=team=web", "--register-with-taints=os=windows:NoSchedule", "--v=4",
                 "--system-reserved=memory=1536Mi", "--windows-priorityclass=ABOVE_NORMAL_PRIORITY_CLASS"):  # fmt: skip
        assert part in text
    assert text.index("'one'") < text.index("Start-EKSBootstrap") < text.index("'two'")


def test_linux_with_an_image_of_its_own_needs_no_entry(record: Record):
    """EKS makes the Linux entry of a managed group itself."""
    assert not of(linux(record, image_id="ami-0123456789abcdef0"), ENTRY)


@pytest.mark.parametrize(("kind", "entry"), [("win", "EC2_WINDOWS"), ("lin", "EC2_LINUX")])
def test_self_managed_groups(record: Record, kind: str, entry: str):
    """An Auto Scaling group with a profile, the cluster's security group, an entry, and rolling replacement."""
    plan = (windows if kind == "win" else linux)(record, management="self_managed", capacity_type="spot",
                                                 instance_types=["m6i.large", "m5.large"])  # fmt: skip
    group, template = only(plan, AUTOSCALING), only(plan, TEMPLATE)
    assert not of(plan, GROUP)
    assert only(plan, ENTRY).inputs["type"] == entry
    assert only(plan, ENTRY).urn in group.options.dependencies
    assert template.inputs["imageId"] is UNKNOWN
    assert template.inputs["vpcSecurityGroupIds"] == ["sg-1"]
    assert template.inputs["iamInstanceProfile"]["name"] is UNKNOWN
    policy = group.inputs["mixedInstancesPolicy"]
    assert [o["instanceType"] for o in policy["launchTemplate"]["overrides"]] == ["m6i.large", "m5.large"]
    assert policy["instancesDistribution"]["onDemandPercentageAboveBaseCapacity"] == 0
    assert group.inputs["instanceRefresh"]["strategy"] == "Rolling"
    tags = {tag["key"]: tag["value"] for tag in group.inputs["tags"]}
    assert tags["kubernetes.io/cluster/dev"] == "owned"
    assert tags["k8s.io/cluster-autoscaler/dev"] == "owned"
    assert [invoke.token for invoke in plan.invokes] == ["aws:ssm/getParameter:getParameter"]


def test_commands_of_a_managed_group_stand_before_eks_own(record: Record):
    """EKS appends its part; ours must not call the bootstrap."""
    text = text_of(windows(record, commands_before=["Write-Host 'one'"]))
    assert text == "<powershell>\nWrite-Host 'one'\n</powershell>\n"
    assert "multipart/mixed" in text_of(linux(record, commands_before=["echo one"]))


def test_options_of_a_managed_group(record: Record):
    """CPU options, update strategy, warm pool, pinned release and extra security groups in the words of the API."""
    plan = windows(
        record, cpu_cores=1, threads_per_core=1, max_unavailable=None, max_unavailable_percentage=25,
        update_strategy="minimal",
        warm_pool=WarmPool(min_size=1, state="running"), release_version="1.36-2026.11.10",
        security_group_ids=["sg-2"],
        capacity_type="spot", desired_size=2,
    )  # fmt: skip
    group, template = only(plan, GROUP).inputs, only(plan, TEMPLATE).inputs
    assert template["cpuOptions"] == {"coreCount": 1, "threadsPerCore": 1}
    assert template["vpcSecurityGroupIds"] == ["sg-1", "sg-2"]
    assert group["updateConfig"] == {"maxUnavailablePercentage": 25, "updateStrategy": "MINIMAL"}
    assert group["warmPoolConfig"] == {"minSize": 1, "poolState": "RUNNING", "reuseOnScaleIn": False}
    assert group["releaseVersion"] == "1.36-2026.11.10"
    assert group["capacityType"] == "SPOT"
    assert group["scalingConfig"]["desiredSize"] == 2


def test_server_2019_is_built_with_a_warning(record: Record):
    """The advice is in the log, with its code."""
    plan = windows(record, windows="2019")
    assert only(plan, GROUP).inputs["amiType"] == "WINDOWS_CORE_2019_x86_64"
    assert any("WK-EKS-028" in text for severity, text in plan.logs if severity == "warning")


def test_every_mistake_of_a_group_comes_at_once(record: Record):
    """The cluster's, the group's and the role's mistakes in one error, each under its own path."""
    args = replace(
        WINDOWS,
        cluster=replace(
            TARGET, ip_family="ipv6", kubernetes_version="1.34", vpc_cni="addons", authentication_mode="api"
        ),
        windows="2025",
        instance_types=["m7g.large"],
        taints=[Taint(key="os", effect="NoShedule")],
        external_policies=["AmazonSSMManagedInstanceCore"],
        tags={"aws:x": "y"},
    )
    with pytest.raises(WinkubeError) as caught:
        record(lambda: EksWindowsNodeGroup("win", args))
    found = {mistake.rule.code: mistake.path for mistake in caught.value.mistakes}
    assert found == {
        "WK-EKS-012": ("windows",),
        "WK-EKS-016": ("instance_types", 0),
        "WK-EKS-030": ("cluster", "ip_family"),
        "WK-EKS-056": ("cluster", "vpc_cni"),
        "WK-EKS-057": ("cluster", "authentication_mode"),
        "WK-SCH-004": ("taints", 0, "effect"),
        "WK-IAM-015": ("external_policies", 0),
        "WK-TAG-002": ("tags", "aws:x"),
    }


def test_auto_mode_runs_no_windows_nodes(record: Record):
    """WK-EKS-034 for Windows; Linux groups may stand beside Auto Mode."""
    with pytest.raises(WinkubeError, match="WK-EKS-034"):
        windows(record, cluster=replace(TARGET, auto_mode=True))
    linux(record, cluster=replace(TARGET, auto_mode=True))


def test_old_platforms_have_no_windows_support(record: Record):
    """WK-EKS-039 compares numbers: eks.10 is later than eks.4."""
    old = replace(TARGET, kubernetes_version="1.31", platform_version="eks.3")
    with pytest.raises(WinkubeError) as caught:
        windows(record, cluster=old)
    (mistake,) = caught.value.mistakes
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-039", ("cluster", "platform_version"), "eks.3")
    assert "eks.4" in mistake.message
    windows(record, cluster=replace(old, platform_version="eks.10"))
