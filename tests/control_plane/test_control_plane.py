"""The control plane as it is registered: slots, load balancers, order, what nodes are told."""

import base64
import hashlib
import json
from typing import Any

import pulumi
import pytest
import yaml
from winkube.control_plane.args import IrsaIssuer
from winkube.control_plane.control_plane import LinuxControlPlane
from winkube.control_plane.key_set import key_id
from winkube.control_plane.security_groups import GROUPS
from winkube.core.errors import WinkubeError
from winkube.instance_groups.join_target import check_join_target
from winkube.network.ports import self_managed_rules
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import UNKNOWN, Plan, Resource, Secret, unwrap_secrets

from tests.tls_mocks import TLS

from .planes import CLUSTER, control_plane_args, update, usual

USER_DATA_LIMIT = 4096


def of_type(plan: Plan, kind: str) -> list[Resource]:
    return [resource for resource in plan.resources if resource.type.endswith(f":{kind}")]


def documents(plan: Plan) -> dict[str, dict[str, Any]]:
    """Slot to its node document."""
    found = [json.loads(it.inputs["content"]) for it in of_type(plan, "BucketObjectv2")
             if "/nodes/control-plane/" in str(it.inputs["key"])]  # fmt: skip
    return {document["slot"]: document for document in found}


@pytest.mark.parametrize(("slots", "zones"), [(1, 1), (3, 1), (3, 2), (3, 3), (5, 3)])
def test_a_slot_is_a_group_of_one_machine_in_one_zone(slots: int, zones: int) -> None:
    names = [f"eu-central-1{letter}" for letter in "abc"[:zones]]
    subnets = [f"subnet-{letter}" for letter in "abc"[:zones]]
    plan = update(slots=slots, zones=names, subnet_ids=subnets)
    groups = of_type(plan, "Group")
    assert len(groups) == slots
    for number, group in enumerate(groups):
        sizes = (group.inputs["minSize"], group.inputs["maxSize"], group.inputs["desiredCapacity"])
        assert sizes == (1, 1, 1)
        assert group.inputs["vpcZoneIdentifiers"] == [subnets[number % zones]]
        tags = {tag["key"]: tag["value"] for tag in group.inputs["tags"]}
        assert tags["winkube.io/slot"] == f"cp-{number}"
        assert tags[f"kubernetes.io/cluster/{CLUSTER}"] == "owned"
        assert sum(key.startswith("kubernetes.io/cluster/") for key in tags) == 1
    assert sorted(documents(plan)) == [f"cp-{number}" for number in range(slots)]


def test_a_group_is_made_when_its_api_is_healthy() -> None:
    """The load balancer's word counts once, at the start; later EC2's alone: no member of etcd is thrown away."""
    for group in of_type(usual(), "Group"):
        assert group.inputs["waitForElbCapacity"] == 1
        assert group.inputs["healthCheckType"] == "EC2"
        assert len(group.inputs["targetGroupArns"]) == 1
        (hook,) = group.inputs["initialLifecycleHooks"]
        assert hook["lifecycleTransition"] == "autoscaling:EC2_INSTANCE_TERMINATING"
        assert (hook["heartbeatTimeout"], hook["defaultResult"]) == (300, "CONTINUE")


def test_a_changed_template_replaces_no_machine() -> None:
    """No instance refresh: ``winkube cluster roll`` replaces, one slot at a time."""
    for group in of_type(usual(), "Group"):
        assert "instanceRefresh" not in group.inputs
        assert "maxInstanceLifetime" not in group.inputs


def test_a_node_starts_when_everything_that_it_asks_for_is_there() -> None:
    """Rights, open ports, the API's name, its secrets, its document, the token's parameter."""
    plan = usual()
    for group in of_type(plan, "Group"):
        before = {plan.by_urn[urn].name for urn in group.options.dependencies if urn in plan.by_urn}
        assert before >= {
            "cp-api-record-private", "cp-nodes-state", "cp-nodes-join-token", "cp-join-token", "cp-boot-linux",
            "cp-pki-ca.key", "cp-pki-encryption.yaml", group.name, "cp-sg-api-to-control-plane-tcp-6443",
            "cp-sg-control-plane-out",
        }  # fmt: skip


def test_the_load_balancer_is_one_that_its_own_targets_can_use() -> None:
    """A security group from the start, no client addresses, short deregistration, a check of readiness."""
    (balancer,), (group,) = of_type(usual(), "LoadBalancer"), of_type(usual(), "TargetGroup")
    assert (balancer.inputs["internal"], balancer.inputs["loadBalancerType"]) == (True, "network")
    assert len(balancer.inputs["securityGroups"]) == 1
    assert balancer.inputs["enableCrossZoneLoadBalancing"] is True
    assert group.inputs["preserveClientIp"] == "false"
    assert (group.inputs["deregistrationDelay"], group.inputs["connectionTermination"]) == (30, True)
    check = group.inputs["healthCheck"]
    assert (check["protocol"], check["path"], check["port"]) == ("HTTPS", "/readyz", "6443")


def test_a_tcp_check_only_connects() -> None:
    (group,) = of_type(update(health_check="tcp"), "TargetGroup")
    assert group.inputs["healthCheck"]["protocol"] == "TCP"
    assert "path" not in group.inputs["healthCheck"]


def test_a_public_api_has_a_second_balancer_and_nodes_keep_to_the_first() -> None:
    plan = update(
        api_exposure="public", api_allowed_cidrs=["203.0.113.0/24"], public_subnet_ids=["subnet-p"],
        zone_ids={"private": "Z1", "public": "Z2"},
    )  # fmt: skip
    assert {it.name: it.inputs["internal"] for it in of_type(plan, "LoadBalancer")} == {
        "cp-api-nlb": True, "cp-public-api-nlb": False,
    }  # fmt: skip
    assert {it.inputs["zoneId"]: it.inputs["name"] for it in of_type(plan, "Record")} == {
        "Z1": f"api.{CLUSTER}", "Z2": f"api.{CLUSTER}",
    }  # fmt: skip
    assert all(len(group.inputs["targetGroupArns"]) == 2 for group in of_type(plan, "Group"))
    clients = [it for it in of_type(plan, "SecurityGroupIngressRule") if "cidrIpv4" in it.inputs]
    assert [(it.inputs["cidrIpv4"], it.inputs["fromPort"]) for it in clients] == [("203.0.113.0/24", 6443)]


def test_there_is_one_rule_for_each_row_of_the_port_matrix() -> None:
    rows = [row for row in self_managed_rules() if row.source != "client"]
    rules = of_type(usual(), "SecurityGroupIngressRule")
    assert len(rules) == len(rows)
    assert all("cidrIpv4" not in rule.inputs for rule in rules)
    ids = {role: f"cp-sg-{word}-id" for role, word in GROUPS.items()}
    opened = {(it.inputs["referencedSecurityGroupId"], it.inputs["securityGroupId"], it.inputs["ipProtocol"],
               it.inputs["fromPort"], it.inputs["toPort"]) for it in rules}  # fmt: skip
    assert opened == {(ids[row.source], ids[row.target], row.protocol, row.first, row.last) for row in rows}


def test_nodes_are_told_the_name_that_the_balancer_s_record_has() -> None:
    """The endpoint in kubeadm's document, of the plane and of its target: one value, from the cluster's name."""
    plan = usual()
    records = {it.inputs["name"] for it in of_type(plan, "Record")}
    told = {
        it["controlPlaneEndpoint"]
        for document in documents(plan).values()
        for it in yaml.safe_load_all(document["kubeadm"]["init"])
        if it["kind"] == "ClusterConfiguration"
    }
    assert {f"{name}:6443" for name in records} == told == {of_type(plan, "LinuxControlPlane")[0].outputs["endpoint"]}


@pytest.mark.parametrize("name", ["cp", "a-control-plane-with-a-name-that-is-much-too-long-for-a-balancer"])
def test_names_of_balancers_fit(name: str) -> None:
    """32 characters, Pulumi's own eight included."""
    args = control_plane_args()
    plan = evaluate_function(lambda: LinuxControlPlane(name, args), mode="update", mocks=TLS)
    for it in (*of_type(plan, "LoadBalancer"), *of_type(plan, "TargetGroup")):
        assert len(it.inputs["name"]) <= 32 if "name" in it.inputs else len(it.name) + 8 <= 32


def test_the_launch_template_is_closed() -> None:
    for template in of_type(update(etcd_volume_size_gib=20, volume_kms_key_arn="arn:k"), "LaunchTemplate"):
        options = template.inputs["metadataOptions"]
        assert (options["httpTokens"], options["httpPutResponseHopLimit"]) == ("required", 1)
        names = {"hostnameType": "resource-name", "enableResourceNameDnsARecord": True}
        assert template.inputs["privateDnsNameOptions"] == names, "the approver of serving certificates asks for it"
        # With a slash in a tag's key every launch would fail.
        assert "instanceMetadataTags" not in options
        root, etcd = template.inputs["blockDeviceMappings"]
        assert (root["deviceName"], root["ebs"]["volumeSize"], etcd["ebs"]["volumeSize"]) == ("/dev/xvda", 40, 20)
        for volume in (root, etcd):
            assert (volume["ebs"]["encrypted"], volume["ebs"]["volumeType"]) == ("true", "gp3")
            assert volume["ebs"]["kmsKeyId"] == "arn:k"


def test_user_data_is_small_and_names_code_and_document_by_their_digests() -> None:
    plan = usual()
    keys = {it.inputs["key"] for it in of_type(plan, "BucketObjectv2")}
    for template in of_type(plan, "LaunchTemplate"):
        text = base64.b64decode(template.inputs["userData"]).decode()
        assert len(text.encode()) <= USER_DATA_LIMIT
        (document,) = [key for key in keys if key in text and key.endswith(".json")]
        content = next(it.inputs["content"] for it in of_type(plan, "BucketObjectv2") if it.inputs["key"] == document)
        assert hashlib.sha256(content.encode()).hexdigest() in document


def test_a_worker_can_join_without_a_node_of_the_control_plane() -> None:
    """Its target waits for the record and the parameter, and is right in the eyes of instance groups."""
    seen: list[Any] = []
    waits: list[set[str]] = []

    def build() -> None:
        plane = LinuxControlPlane("cp", control_plane_args())
        seen.append(plane.target)
        ready = pulumi.Output.from_input(plane.target.certificate_authority)

        async def look() -> None:
            waits.append({type(it).__name__ for it in await ready.resources()})

        pulumi.Output.from_input(look())

    evaluate_function(build, mode="update", mocks=TLS)
    (target,) = seen
    assert check_join_target(target) == []
    assert target.endpoint == f"api.{CLUSTER}:6443"
    assert waits
    assert {"ApiRecord", "Parameter"} <= waits[0]
    assert "Group" not in waits[0]


def test_a_kubernetes_provider_waits_for_every_slot() -> None:
    seen: list[set[str]] = []

    def build() -> None:
        plane = LinuxControlPlane("cp", control_plane_args())

        async def look() -> None:
            seen.append({getattr(it, "_name", "") for it in await plane.kubeconfig.resources()})

        pulumi.Output.from_input(look())

    evaluate_function(build, mode="update", mocks=TLS)
    assert {"cp-cp-0", "cp-cp-1", "cp-cp-2"} <= seen[0]


def test_a_preview_registers_the_same_and_knows_what_is_plain() -> None:
    before, after = usual("preview"), usual("update")
    assert [it.urn for it in before.resources] == [it.urn for it in after.resources]
    (plane,) = of_type(before, "LinuxControlPlane")
    assert plane.outputs["endpoint"] == f"api.{CLUSTER}:6443"
    assert plane.outputs["tokenParameter"] == f"/winkube/{CLUSTER}/join-token"
    assert plane.outputs["kubeconfig"] == Secret(UNKNOWN)


def test_the_issuer_is_what_the_api_servers_sign_as() -> None:
    """By a distribution, or by the bucket itself; the key set is that of the cluster's own key."""
    plan = usual()
    (provider,) = of_type(plan, "OpenIdConnectProvider")
    objects = {it.inputs["key"]: it.inputs["content"] for it in of_type(plan, "BucketObjectv2")
               if it.name.startswith("cp-issuer")}  # fmt: skip
    issuer = json.loads(objects[".well-known/openid-configuration"])["issuer"]
    assert provider.inputs["url"] == issuer
    assert issuer in documents(plan)["cp-0"]["kubeadm"]["init"]
    public = next(it for it in of_type(plan, "BucketObjectv2") if it.name == "cp-pki-sa.pub").inputs["content"]
    assert json.loads(objects["openid/v1/jwks"])["keys"][0]["kid"] == key_id(unwrap_secrets(public))
    (policy,) = of_type(plan, "BucketPolicy")
    reader = json.loads(policy.inputs["policy"])["Statement"][0]
    assert reader["Principal"] == {"Service": "cloudfront.amazonaws.com"}
    (block,) = of_type(plan, "BucketPublicAccessBlock")
    assert block.inputs["restrictPublicBuckets"] is True


def test_an_issuer_in_an_open_bucket_opens_two_objects() -> None:
    plan = update(irsa=IrsaIssuer(publish="s3", bucket_name="keys-example"))
    (policy,) = of_type(plan, "BucketPolicy")
    reader = json.loads(policy.inputs["policy"])["Statement"][0]
    assert reader["Principal"] == "*"
    assert [arn.partition(".arn/")[2] for arn in reader["Resource"]] == [
        ".well-known/openid-configuration", "openid/v1/jwks",
    ]  # fmt: skip
    (provider,) = of_type(plan, "OpenIdConnectProvider")
    assert provider.inputs["url"] == "https://keys-example.s3.eu-central-1.amazonaws.com"
    assert not of_type(plan, "Distribution")


def test_protection_holds_what_cannot_be_made_again() -> None:
    plan = update(deletion_protection=True)
    protected = {it.name for it in plan.resources if it.options.protect}
    assert protected >= {"cp-pki-ca-key", "cp-pki-ca", "cp-pki-sa-key", "cp-pki-etcd-ca-key", "cp-key"}
    assert all(it.inputs["enableDeletionProtection"] for it in of_type(plan, "LoadBalancer"))
    assert not any(it.options.protect for it in usual().resources)


def test_wrong_arguments_make_nothing() -> None:
    def build() -> None:
        with pytest.raises(WinkubeError) as raised:
            LinuxControlPlane("cp", control_plane_args(slots=2, runtime="docker"))
        assert "LinuxControlPlane(cp).slots: a control plane has 1, 3 or 5 slots" in str(raised.value)
        assert "LinuxControlPlane(cp).runtime:" in str(raised.value)

    assert evaluate_function(build).resources == []


def test_the_internal_balancer_may_stand_in_subnets_of_its_own() -> None:
    """The machines stay where they are."""
    plan = update(api_subnet_ids=("subnet-x", "subnet-y", "subnet-z"))
    (balancer,) = of_type(plan, "LoadBalancer")
    mappings = balancer.inputs.get("subnets") or [it["subnetId"] for it in balancer.inputs["subnetMappings"]]
    assert mappings == ["subnet-x", "subnet-y", "subnet-z"]
    places = {subnet for group in of_type(plan, "Group") for subnet in group.inputs.get("vpcZoneIdentifiers", ())}
    assert places == {"subnet-0a", "subnet-0b", "subnet-0c"}
