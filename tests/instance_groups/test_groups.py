"""The instance group components, in preview and in update."""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import yaml
from winkube.core.errors import WinkubeError
from winkube.ec2.warm_pool import WarmPool
from winkube.instance_groups import boot_code, groups
from winkube.instance_groups.boot_code import BootCode, BootCodeArgs
from winkube.instance_groups.groups import LinuxInstanceGroup, WindowsInstanceGroup
from winkube.instance_groups.rollout import Rollout
from winkube.node_agent import containerd
from winkube.preview.model import UNKNOWN, Plan, Resource
from winkube.scheduling.labels import Taint

from .samples import KEY, late_target, linux_args, make_target, windows_args

Record = Callable[..., Plan]
GROUP, TEMPLATE = "aws:autoscaling/group:Group", "aws:ec2/launchTemplate:LaunchTemplate"
HOOK, OBJECT = "aws:autoscaling/lifecycleHook:LifecycleHook", "aws:s3/bucketObjectv2:BucketObjectv2"
POLICY, RULE = "aws:iam/rolePolicy:RolePolicy", "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"


def resolved(values: dict[str, Any]) -> dict[str, Any]:
    """The values, those that are functions called: what makes resources does so while a plan is made."""
    return {name: value() if callable(value) else value for name, value in values.items()}


def windows(record: Record, *, preview: bool = True, **values: Any) -> Plan:
    """The plan of a Windows group."""
    return record(lambda: WindowsInstanceGroup("win", windows_args(**resolved(values))), preview=preview)


def linux(record: Record, *, preview: bool = True, **values: Any) -> Plan:
    """The plan of a Linux group."""
    return record(lambda: LinuxInstanceGroup("lin", linux_args(**resolved(values))), preview=preview)


def of(plan: Plan, kind: str) -> list[Resource]:
    """The resources of a kind."""
    return [resource for resource in plan.resources if resource.type == kind]


def only(plan: Plan, kind: str) -> Resource:
    """The one resource of a kind."""
    (found,) = of(plan, kind)
    return found


def named(plan: Plan, name: str) -> Resource:
    """The resource of a name."""
    (found,) = [resource for resource in plan.resources if resource.name == name]
    return found


def tags_of(group: Resource) -> dict[str, tuple[str, bool]]:
    """The tags of an Auto Scaling group: key to value, and whether instances get it."""
    return {tag["key"]: (tag["value"], tag["propagateAtLaunch"]) for tag in group.inputs["tags"]}


def user_data(plan: Plan) -> str:
    """The user data of the launch template."""
    return base64.b64decode(only(plan, TEMPLATE).inputs["userData"]).decode()


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize("build", [windows, linux])
def test_a_group_is_planned_and_made(record: Record, build: Any, preview: bool) -> None:
    """The same resources in a preview and in an update, and outputs in both."""
    plan = build(record, preview=preview)
    (component,) = [r for r in plan.resources if r.type.endswith("InstanceGroup")]
    assert {"autoscalingGroupName", "launchTemplateId", "roleArn", "documentKey", "labels"} <= set(component.outputs)
    assert only(plan, TEMPLATE).parent == component.urn


@pytest.mark.parametrize("build", [windows, linux])
def test_a_group_of_a_cluster_that_is_not_there_yet_is_planned(record: Record, build: Any) -> None:
    """Nothing but plain facts is known in the first preview: what depends on the others stays unknown."""
    plan = build(record, target=late_target)
    assert only(plan, TEMPLATE).inputs["userData"] is UNKNOWN
    assert only(plan, GROUP).inputs["name"].endswith(".prod.example.com")
    assert tags_of(only(plan, GROUP))["kubernetes.io/cluster/prod.example.com"] == ("owned", True)


def test_a_wrong_group_is_refused_before_anything_is_registered(record: Record) -> None:
    """All mistakes, none of the resources."""
    with pytest.raises(WinkubeError) as raised:
        windows(record, windows="2019", min_size=9, root_volume_size_gib=30)
    assert {m.rule.code for m in raised.value.mistakes} == {"WK-KAD-002", "WK-EKS-019", "WK-IG-024"}


def test_the_launch_template_is_closed(record: Record) -> None:
    """Session tokens, one hop, encrypted gp3, no key pair, the least size of Windows."""
    template = only(windows(record), TEMPLATE).inputs
    assert template["metadataOptions"] == {
        "httpEndpoint": "enabled", "httpTokens": "required", "httpPutResponseHopLimit": 1,
    }  # fmt: skip
    assert template["privateDnsNameOptions"]["hostnameType"] == "resource-name"
    (disk,) = template["blockDeviceMappings"]
    assert disk["deviceName"] == "/dev/sda1"
    assert (disk["ebs"]["encrypted"], disk["ebs"]["volumeType"], disk["ebs"]["volumeSize"]) == ("true", "gp3", 100)
    assert "keyName" not in template
    assert {spec["resourceType"] for spec in template["tagSpecifications"]} == {
        "instance", "volume", "network-interface",
    }  # fmt: skip
    own = windows(record, volume_kms_key_arn=KEY, root_volume_size_gib=150, image_id="ami-0123456789abcdef0")
    (disk,) = only(own, TEMPLATE).inputs["blockDeviceMappings"]
    assert (disk["ebs"]["kmsKeyId"], disk["ebs"]["volumeSize"]) == (KEY, 150)
    assert only(own, TEMPLATE).inputs["imageId"] == "ami-0123456789abcdef0"


@pytest.mark.parametrize(
    ("build", "values", "parameter"),
    [
        (windows, {"windows": "2025", "edition": "full"},
         "/aws/service/ami-windows-latest/Windows_Server-2025-English-Full-Base"),
        (linux, {}, "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"),
        (linux, {"linux": "ubuntu2404", "instance_types": ("m7g.large",)},
         "/aws/service/canonical/ubuntu/server/24.04/stable/current/arm64/hvm/ebs-gp3/ami-id"),
    ],
)  # fmt: skip
def test_images_come_from_their_makers_parameters(record: Record, build: Any, values: Any, parameter: str) -> None:
    """The newest image is resolved late, without credentials in a preview."""
    plan = build(record, **values)
    (component,) = [r for r in plan.resources if r.type.endswith("InstanceGroup")]
    assert component.outputs["amiParameter"] == parameter
    assert parameter in json.dumps([call.arguments for call in plan.invokes], default=str)


def test_labels_and_taints_are_the_same_everywhere(record: Record) -> None:
    """What the kubelet registers with is what the autoscaler reads; the taint of Windows is among it."""
    labels, taints = {"team": "a"}, (Taint(key="gpu", value="no", effect="NoExecute"),)
    plan = windows(record, preview=False, labels=labels, taints=taints)
    document = json.loads(named(plan, "win-document").inputs["content"])
    arguments = dict(arg[2:].split("=", 1) for arg in document["kubelet"]["arguments"])
    registered = dict(pair.split("=", 1) for pair in arguments["node-labels"].split(","))
    assert registered == {"team": "a", "node.kubernetes.io/instance-group": "windows"}
    (text,) = [file["content"] for file in document["files"] if file["path"].endswith("config.json")]
    written = {(t["key"], t.get("value", ""), t["effect"]) for t in json.loads(text)["registerWithTaints"]}
    assert written == {("os", "windows", "NoSchedule"), ("gpu", "no", "NoExecute")}
    tags = tags_of(only(plan, GROUP))
    template = "k8s.io/cluster-autoscaler/node-template"
    for key, value in registered.items():
        assert tags[f"{template}/label/{key}"] == (value, False)
    for key, value, effect in written:
        assert tags[f"{template}/taint/{key}"] == (f"{value}:{effect}", False)


def test_the_autoscaler_knows_a_node_before_there_is_one(record: Record) -> None:
    """System, architecture, build, disk and pods: without them a group at zero is taken for a Linux one."""
    tags = tags_of(only(windows(record, windows="2025", min_size=0), GROUP))
    template = "k8s.io/cluster-autoscaler/node-template"
    assert tags[f"{template}/label/kubernetes.io/os"] == ("windows", False)
    assert tags[f"{template}/label/kubernetes.io/arch"] == ("amd64", False)
    assert tags[f"{template}/label/node.kubernetes.io/windows-build"] == ("10.0.26100", False)
    assert tags[f"{template}/resources/ephemeral-storage"] == ("100Gi", False)
    assert tags[f"{template}/resources/pods"] == ("110", False)
    assert tags["k8s.io/cluster-autoscaler/enabled"] == ("true", False)
    assert tags["k8s.io/cluster-autoscaler/prod.example.com"] == ("owned", False)
    arm = tags_of(only(linux(record, instance_types=("m7g.large",)), GROUP))
    assert arm[f"{template}/label/kubernetes.io/arch"] == ("arm64", False)
    assert arm[f"{template}/label/kubernetes.io/os"] == ("linux", False)
    none = tags_of(only(windows(record, autoscaler_tags=False), GROUP))
    assert not [key for key in none if "cluster-autoscaler" in key]


def test_the_taint_of_windows_can_be_left_out(record: Record) -> None:
    """windows_taint=False, as the old script's switch: neither registered nor tagged."""
    plan = windows(record, windows_taint=False)
    assert "k8s.io/cluster-autoscaler/node-template/taint/os" not in tags_of(only(plan, GROUP))
    document = json.loads(named(plan, "win-document").inputs["content"])
    assert not any("registerWithTaints" in file["content"] for file in document["files"])


def test_types_and_purchase_options_are_those_of_the_group(record: Record) -> None:
    """Types in order, spot with a base on demand, rebalancing."""
    group = only(
        windows(record, instance_types=("m6i.large", "m5.large"), capacity_type="spot", on_demand_base=1), GROUP
    )
    policy = group.inputs["mixedInstancesPolicy"]
    assert [o["instanceType"] for o in policy["launchTemplate"]["overrides"]] == ["m6i.large", "m5.large"]
    distribution = policy["instancesDistribution"]
    assert (distribution["onDemandBaseCapacity"], distribution["onDemandPercentageAboveBaseCapacity"]) == (1, 0)
    assert group.inputs["capacityRebalance"] is True
    ordinary = only(windows(record), GROUP).inputs
    assert ordinary["mixedInstancesPolicy"]["instancesDistribution"]["onDemandPercentageAboveBaseCapacity"] == 100
    assert ordinary["capacityRebalance"] is False


def test_a_failed_boot_abandons_the_instance(record: Record) -> None:
    """The hooks are there for the first instances, and can be changed later; Linux has the one of leaving alone."""
    plan = windows(record, drain_seconds=1200)
    initial = {hook["name"]: hook for hook in only(plan, GROUP).inputs["initialLifecycleHooks"]}
    later = {hook.inputs["name"]: hook.inputs for hook in of(plan, HOOK)}
    assert set(initial) == set(later) == {"node-ready", "node-drained"}
    for hooks in (initial, later):
        assert hooks["node-ready"]["defaultResult"] == "ABANDON"
        assert hooks["node-ready"]["heartbeatTimeout"] == 1800
        assert hooks["node-ready"]["lifecycleTransition"] == "autoscaling:EC2_INSTANCE_LAUNCHING"
        assert hooks["node-drained"]["defaultResult"] == "CONTINUE"
        assert hooks["node-drained"]["heartbeatTimeout"] == 1260
    document = json.loads(named(plan, "win-document").inputs["content"])
    assert document["deadlines"]["bootSeconds"] == 1800
    assert document["autoScaling"] == {
        "group": "windows.prod.example.com", "launchHook": "node-ready", "terminateHook": "node-drained",
    }  # fmt: skip
    assert [hook.inputs["name"] for hook in of(linux(record), HOOK)] == ["node-drained"]


def test_nodes_are_replaced_one_part_first(record: Record) -> None:
    """A canary, a wait, the rest; a failure rolls back. Or not at all."""
    refresh = only(windows(record), GROUP).inputs["instanceRefresh"]
    preferences = refresh["preferences"]
    assert refresh["strategy"] == "Rolling"
    assert preferences["checkpointPercentages"] == [10, 100]
    assert preferences["checkpointDelay"] == "600"
    assert preferences["autoRollback"] is True
    assert "instanceRefresh" not in only(windows(record, rollout=Rollout(automatic=False)), GROUP).inputs
    plain = only(windows(record, rollout=Rollout(canary_percentage=None)), GROUP).inputs["instanceRefresh"]
    assert "checkpointPercentages" not in plain["preferences"]


def test_a_warm_pool_belongs_to_a_group_of_one_type(record: Record) -> None:
    """With it the group has a plain launch template."""
    pool = WarmPool(min_size=2, max_prepared=4)
    group = only(windows(record, warm_pool=pool, max_instance_lifetime_days=30), GROUP).inputs
    assert group["warmPool"] == {"minSize": 2, "poolState": "Stopped", "maxGroupPreparedCapacity": 4}
    assert "mixedInstancesPolicy" not in group
    assert group["launchTemplate"]["version"] is UNKNOWN
    assert group["maxInstanceLifetime"] == 30 * 86400


def test_the_autoscaler_owns_the_number_of_nodes(record: Record) -> None:
    """A deployment does not set it back."""
    assert "desiredCapacity" in only(windows(record), GROUP).options.ignore_changes


def test_nodes_start_after_what_they_need(record: Record) -> None:
    """Role, statements, boot files and security group come before the first instance."""
    plan = windows(record)
    waits = {urn.rpartition("::")[2] for urn in only(plan, GROUP).options.dependencies}
    assert {"win-join", "win-document", "win-code-windows", "win-nodes-profile", "win-security-out"} <= waits


def test_policies_of_ones_own_arrive(record: Record) -> None:
    """additional_policies as inline policies, external_policies attached, boundary and path on the role."""
    statement = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::app/config.json"}
    arn = "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"
    boundary = "arn:aws:iam::111122223333:policy/bound"
    plan = windows(record, additional_policies=[statement], external_policies=[arn], permissions_boundary=boundary,
                   role_path="/nodes/")  # fmt: skip
    inline = [json.loads(policy.inputs["policy"])["Statement"] for policy in of(plan, POLICY)]
    assert [statement] in [[s] for document in inline for s in document if s.get("Action") == "s3:GetObject"]
    assert arn in {attachment.inputs["policyArn"] for attachment in of(plan, ATTACHMENT)}
    role = only(plan, "aws:iam/role:Role").inputs
    assert (role["permissionsBoundary"], role["path"]) == (boundary, "/nodes/")


def test_security_groups_are_made_where_none_are_given(record: Record) -> None:
    """The kubelet for the control plane alone, VXLAN both ways with every group of other nodes."""
    target = make_target(api_security_group_ids=("sg-api",))
    rules = {(r.inputs["ipProtocol"], r.inputs["fromPort"]): r for r in of(windows(record, target=target), RULE)}
    assert set(rules) == {("tcp", 10250), ("udp", 4789), ("tcp", 6443)}
    every = of(windows(record, preview=False, target=target), RULE)
    kubelet = [r.inputs["referencedSecurityGroupId"] for r in every if r.inputs["fromPort"] == 10250]
    assert kubelet == ["sg-plane"]
    into = {r.inputs["securityGroupId"] for r in every if r.inputs["fromPort"] == 4789}
    assert {"sg-plane", "sg-linux"} < into
    assert [r.inputs["securityGroupId"] for r in every if r.inputs["fromPort"] == 6443] == ["sg-api"]
    given = windows(record, preview=False, target=make_target(windows_security_group_ids=("sg-windows",)),
                    security_group_ids=("sg-more",))  # fmt: skip
    assert not of(given, RULE)
    assert only(given, TEMPLATE).inputs["vpcSecurityGroupIds"] == ["sg-windows", "sg-more"]


def test_user_data_is_short_and_leads_to_code_and_document(record: Record) -> None:
    """Below 4 KiB, without secrets, with the digests of both objects."""
    for build, name in ((windows, "win"), (linux, "lin")):
        plan = build(record)
        text = user_data(plan)
        assert len(text.encode()) <= 4096
        assert yaml.safe_load(text)
        keys = {r.inputs["key"] for r in of(plan, OBJECT)}
        assert len(keys) == 2
        assert all(key in text for key in keys)
        assert named(plan, f"{name}-document").inputs["key"].startswith("clusterconfigs/prod.example.com/nodes/")


def test_boot_files_stay_for_nodes_that_started_with_them(record: Record) -> None:
    """A node of an older launch template starts again from them, so they are not deleted with a change."""
    for resource in of(windows(record), OBJECT):
        assert resource.options.retain_on_delete is True


def test_the_same_arguments_make_the_same_user_data(record: Record) -> None:
    """Neither time nor order of labels shows in it."""
    first = user_data(windows(record, labels={"a": "1", "b": "2"}))
    assert first == user_data(windows(record, labels={"b": "2", "a": "1"}))
    assert first != user_data(windows(record, labels={"a": "1", "b": "3"}))


def test_another_runtime_makes_another_launch_template(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one, or another line of its configuration: new nodes come up with it, and no node is changed."""
    before = user_data(linux(record))
    assert user_data(linux(record, runtime="cri-o")) != before
    written = containerd.configuration
    monkeypatch.setattr(containerd, "configuration", lambda *given: written(*given).replace("true", "false"))
    assert user_data(linux(record)) != before


def test_one_byte_of_a_script_changes_the_groups_that_use_it(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows groups with the bundle, Linux groups not; and the other way round."""
    before = user_data(windows(record)), user_data(linux(record))
    monkeypatch.setitem(boot_code.CODE, "windows", lambda: b"other")
    monkeypatch.setitem(boot_code.DIGESTS, "windows", lambda: "0" * 64)
    assert user_data(windows(record)) != before[0]
    assert user_data(linux(record)) == before[1]
    monkeypatch.undo()
    monkeypatch.setitem(boot_code.CODE, "linux", lambda: b"other")
    monkeypatch.setitem(boot_code.DIGESTS, "linux", lambda: "0" * 64)
    assert user_data(windows(record)) == before[0]
    assert user_data(linux(record)) != before[1]


def test_groups_can_share_the_boot_code(record: Record) -> None:
    """One upload for a cluster, however many groups."""

    def build() -> None:
        target = make_target()
        code = BootCode("code", BootCodeArgs(cluster_name=target.cluster_name, bucket=target.bucket))
        for number in range(3):
            WindowsInstanceGroup(f"win-{number}", windows_args(name=f"win-{number}", boot_code=code))

    objects = of(record(build), OBJECT)
    assert [r.name for r in objects if r.name.startswith("code")] == ["code-linux", "code-windows"]
    assert len(objects) == 2 + 3


def test_no_secret_lies_in_the_bucket_or_in_user_data(record: Record) -> None:
    """The join token is named, never written."""
    for build in (windows, linux):
        plan = build(record)
        texts = [str(r.inputs.get("content", "")) for r in of(plan, OBJECT)] + [user_data(plan)]
        assert all("PRIVATE KEY" not in text for text in texts)
        assert any("${JOIN_TOKEN}" in text for text in texts)


def test_outputs_say_what_pods_have_to_choose_by(record: Record) -> None:
    """Release, build and RuntimeClass."""
    made: list[WindowsInstanceGroup] = []
    record(lambda: made.append(WindowsInstanceGroup("win", windows_args(windows="2025"))))
    assert (made[0].windows_release, made[0].windows_build, made[0].runtime_class) == (
        "2025", "10.0.26100", "windows-2025",
    )  # fmt: skip


def test_linux_workers_join_by_file_discovery(record: Record) -> None:
    """kubeadm's JoinConfiguration with the group's labels and taints, and the agent's document of a worker."""
    plan = linux(record, labels={"team": "a"}, taints=(Taint(key="dedicated", value="a"),))
    document = json.loads(named(plan, "lin-document").inputs["content"])
    join = yaml.safe_load(document["kubeadm"]["join"])
    assert document["role"] == "worker"
    assert document["secrets"] == []
    assert join["discovery"] == {"file": {"kubeConfigPath": "/etc/kubernetes/discovery.conf"}}
    assert join["nodeRegistration"]["taints"] == [{"key": "dedicated", "value": "a", "effect": "NoSchedule"}]
    arguments = {a["name"]: a["value"] for a in join["nodeRegistration"]["kubeletExtraArgs"]}
    assert "team=a" in arguments["node-labels"]
    assert arguments["cloud-provider"] == "external"


def test_a_cluster_without_cloud_controller_gets_kubelets_that_do_not_wait(record: Record) -> None:
    """Clusters of kubeadm by hand: no uninitialized taint that nobody would take away."""
    target = make_target(cloud_provider="none")
    document = json.loads(named(windows(record, target=target), "win-document").inputs["content"])
    assert not any("cloud-provider" in argument for argument in document["kubelet"]["arguments"])


def test_what_is_not_advised_is_said(record: Record) -> None:
    """The lost log of the kubelet, as a warning."""
    plan = windows(record)
    assert any("WK-IG-042" in text for _, text in plan.logs)
    assert not groups.advise_instance_group(replace(windows_args(), kubelet_log=False))


def test_what_is_said_of_a_target_is_said_once_in_a_deployment(record: Record) -> None:
    """Not by each of a thousand groups; in the next deployment again."""

    def make() -> None:
        for name in ("a", "b", "c"):
            WindowsInstanceGroup(name, windows_args(name=name))

    for _ in range(2):
        assert [text.partition(":")[0] for _, text in record(make).logs if "WK-IG-042" in text] == ["a"]


@pytest.mark.parametrize(("build", "given"), [(linux, "linux"), (windows, "windows")])
def test_workers_take_the_security_groups_that_the_target_names(record: Record, build: Any, given: str) -> None:
    """Each system its own; where the target names some, none is made."""
    target = make_target(linux_security_group_ids=("sg-linux",), windows_security_group_ids=("sg-windows",))
    plan = build(record, target=target)
    assert only(plan, TEMPLATE).inputs["vpcSecurityGroupIds"] == [f"sg-{given}"]
    assert not of(plan, "aws:ec2/securityGroup:SecurityGroup")
