"""The cluster component."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pulumi
import pytest
from winkube.core.errors import WinkubeError
from winkube.eks.access import AccessPolicy
from winkube.eks.cluster import AccessEntry, EksCluster, EksClusterArgs, check_cluster_args
from winkube.preview.model import UNKNOWN, Plan

ARGS = EksClusterArgs(
    cluster_name="dev", region="eu-central-1", kubernetes_version="1.36", subnet_ids=["subnet-1", "subnet-2"]
)


def only(plan: Plan, kind: str):
    """The one resource of a kind."""
    found = [resource for resource in plan.resources if resource.type == kind]
    assert len(found) == 1, [resource.name for resource in found]
    return found[0]


def test_the_cluster_is_private_encrypted_and_without_unmanaged_addons(record: Callable[..., Plan]):
    """The defaults are the safe ones, and leave the add-ons to be configured."""
    inputs = only(record(lambda: EksCluster("dev", ARGS)), "aws:eks/cluster:Cluster").inputs
    assert inputs["name"] == "dev"
    assert inputs["vpcConfig"]["endpointPublicAccess"] is False
    assert inputs["vpcConfig"]["endpointPrivateAccess"] is True
    assert inputs["bootstrapSelfManagedAddons"] is False
    assert inputs["encryptionConfig"]["resources"] == ["secrets"]
    assert inputs["kubernetesNetworkConfig"] == {"ipFamily": "ipv4", "serviceIpv4Cidr": "172.20.0.0/16"}
    assert "audit" in inputs["enabledClusterLogTypes"]


def test_the_log_group_is_made_first(record: Callable[..., Plan]):
    """EKS would make it itself, without an end to its logs."""
    plan = record(lambda: EksCluster("dev", ARGS))
    group = only(plan, "aws:cloudwatch/logGroup:LogGroup")
    assert group.inputs["name"] == "/aws/eks/dev/cluster"
    assert group.inputs["retentionInDays"] == 90
    assert group.urn in only(plan, "aws:eks/cluster:Cluster").options.dependencies


def test_the_role_has_its_policies_before_the_cluster(record: Callable[..., Plan]):
    """The attachments, the one for Windows included, come before the cluster."""
    plan = record(lambda: EksCluster("dev", ARGS))
    attachments = [r for r in plan.resources if r.type == "aws:iam/rolePolicyAttachment:RolePolicyAttachment"]
    assert {a.inputs["policyArn"].rpartition("/")[2] for a in attachments} == {
        "AmazonEKSClusterPolicy", "AmazonEKSVPCResourceController",
    }  # fmt: skip
    assert {a.urn for a in attachments} <= set(only(plan, "aws:eks/cluster:Cluster").options.dependencies)


def test_a_cluster_without_windows_has_the_plain_role(record: Callable[..., Plan]):
    """The VPC resource controller's policy is for Windows."""
    plan = record(lambda: EksCluster("dev", replace(ARGS, windows=False)))
    attachment = only(plan, "aws:iam/rolePolicyAttachment:RolePolicyAttachment")
    assert attachment.inputs["policyArn"].endswith("/AmazonEKSClusterPolicy")


def test_deletion_protection_covers_key_logs_and_cluster(record: Callable[..., Plan]):
    """What cannot be rebuilt is protected by Pulumi and by EKS."""
    plan = record(lambda: EksCluster("dev", replace(ARGS, deletion_protection=True)))
    assert only(plan, "aws:eks/cluster:Cluster").inputs["deletionProtection"] is True
    assert only(plan, "aws:kms/key:Key").options.protect
    assert only(plan, "aws:cloudwatch/logGroup:LogGroup").options.protect
    assert not only(record(lambda: EksCluster("dev", ARGS)), "aws:kms/key:Key").options.protect


def test_a_key_of_ones_own_is_used(record: Callable[..., Plan]):
    """No key is made where one is given."""
    arn = "arn:aws:kms:eu-central-1:111122223333:key/x"
    plan = record(lambda: EksCluster("dev", replace(ARGS, secrets_kms_key_arn=arn)))
    assert not [resource for resource in plan.resources if resource.type == "aws:kms/key:Key"]
    assert only(plan, "aws:eks/cluster:Cluster").inputs["encryptionConfig"]["provider"]["keyArn"] == arn


def test_the_key_is_the_accounts(record: Callable[..., Plan]):
    """Its policy gives it to the account it lies in, and says so rather than leave it to a default."""
    policy = only(record(lambda: EksCluster("dev", ARGS), preview=False), "aws:kms/keyPolicy:KeyPolicy").inputs
    (statement,) = json.loads(policy["policy"])["Statement"]
    assert statement["Principal"]["AWS"] == ["arn:aws:iam:::root"]  # a placeholder of an ARN has no account
    assert policy["keyId"] == "placeholder-dev-secrets.keyId"


def test_options_of_the_control_plane(record: Callable[..., Plan]):
    """Tier, zonal shift, upgrades, egress and public access in the words of EKS."""
    args = replace(
        ARGS, control_plane_tier="tier-xl", zonal_shift=True, support_type="standard",
        authentication_mode="API_AND_CONFIG_MAP",
        control_plane_egress="customer_routed", endpoint_public_access=True, public_access_cidrs=("203.0.113.0/24",),
        creator_is_admin=False,
    )  # fmt: skip
    inputs = only(record(lambda: EksCluster("dev", args)), "aws:eks/cluster:Cluster").inputs
    assert inputs["controlPlaneScalingConfig"] == {"tier": "tier-xl"}
    assert inputs["zonalShiftConfig"] == {"enabled": True}
    assert inputs["upgradePolicy"] == {"supportType": "STANDARD"}
    assert inputs["vpcConfig"]["publicAccessCidrs"] == ["203.0.113.0/24"]
    assert inputs["vpcConfig"]["controlPlaneEgressMode"] == "CUSTOMER_ROUTED"
    assert inputs["accessConfig"] == {
        "authenticationMode": "API_AND_CONFIG_MAP",
        "bootstrapClusterCreatorAdminPermissions": False,
    }


def test_people_get_entries_and_policies(record: Callable[..., Plan]):
    """An entry with two policies; each association waits for its entry."""
    entry = AccessEntry(
        name="web",
        principal_arn="arn:aws:iam::111122223333:role/web",
        policies=[AccessPolicy(policy="edit", namespaces=["web"]), AccessPolicy(policy="view")],
    )
    plan = record(lambda: EksCluster("dev", replace(ARGS, access_entries=[entry])), preview=False)
    made = only(plan, "aws:eks/accessEntry:AccessEntry")
    assert made.inputs["type"] == "STANDARD"
    links = [r for r in plan.resources if r.type.startswith("aws:eks/accessPolicyAssociation")]
    assert {link.inputs["accessScope"]["type"] for link in links} == {"cluster", "namespace"}
    assert all(made.urn in link.options.dependencies for link in links)


def test_the_kubeconfig_holds_no_secret(record: Callable[..., Plan]):
    """The token comes from the AWS CLI; in a preview the text is unknown."""
    update = next(r for r in record(lambda: EksCluster("dev", ARGS), preview=False).resources if r.name == "dev")
    document = json.loads(update.outputs["kubeconfig"])
    user = document["users"][0]["user"]
    assert user["exec"]["command"] == "aws"
    assert user["exec"]["args"][-3:] == ["dev", "--output", "json"]
    assert set(user) == {"exec"}
    preview = next(r for r in record(lambda: EksCluster("dev", ARGS)).resources if r.name == "dev")
    assert preview.outputs["kubeconfig"] is UNKNOWN


def test_the_target_describes_the_cluster(record: Callable[..., Plan]):
    """Node groups learn everything that the bootstrap needs, and the partition of the region."""
    made: list[EksCluster] = []
    record(lambda: made.append(EksCluster("dev", replace(ARGS, region="us-gov-west-1", service_cidr="10.100.0.0/16"))))
    target = made[0].target
    assert target.dns_cluster_ip == "10.100.0.10"
    assert (target.partition, target.vpc_cni, target.authentication_mode) == ("aws-us-gov", "addon", "API")
    assert isinstance(target.endpoint, pulumi.Output)


def test_irsa_can_be_left_out(record: Callable[..., Plan]):
    """The OIDC provider is there unless it is not wanted."""
    kind = "aws:iam/openIdConnectProvider:OpenIdConnectProvider"
    assert only(record(lambda: EksCluster("dev", ARGS)), kind).inputs["clientIdLists"] == ["sts.amazonaws.com"]
    plan = record(lambda: EksCluster("dev", replace(ARGS, oidc_provider=False)))
    assert not [resource for resource in plan.resources if resource.type == kind]


def test_one_subnet_is_too_few(record: Callable[..., Plan]):
    """WK-EKS-032, together with every other mistake, before anything is registered."""
    args = replace(ARGS, subnet_ids=["subnet-1"], kubernetes_version="9.99", region="eu-central-9")
    with pytest.raises(WinkubeError) as caught:
        record(lambda: EksCluster("dev", args))
    by_code = {mistake.rule.code: mistake for mistake in caught.value.mistakes}
    assert set(by_code) == {"WK-EKS-001", "WK-EKS-032", "WK-NET-001"}
    assert by_code["WK-EKS-032"].path == ("subnet_ids",)
    assert by_code["WK-EKS-032"].got == 1


ROLE = "arn:aws:iam::111122223333:role/eks/cluster"


def test_an_existing_role_is_taken(record: Callable[..., Plan]):
    """No role is made where one is named, by a text or by another resource's output."""
    plan = record(lambda: EksCluster("dev", replace(ARGS, role_arn=ROLE)))
    assert not [resource for resource in plan.resources if resource.type.startswith("aws:iam/role")]
    assert only(plan, "aws:eks/cluster:Cluster").inputs["roleArn"] == ROLE
    component = next(resource for resource in plan.resources if resource.type.endswith("EksCluster"))
    assert component.outputs["roleArn"] == ROLE
    group = only(plan, "aws:cloudwatch/logGroup:LogGroup")
    assert group.urn in only(plan, "aws:eks/cluster:Cluster").options.dependencies
    later = record(lambda: EksCluster("dev", replace(ARGS, role_arn=pulumi.Output.from_input(ROLE))))
    assert only(later, "aws:eks/cluster:Cluster").inputs["roleArn"] == ROLE


POLICY = {"Effect": "Allow", "Action": "kms:Decrypt", "Resource": "arn:aws:kms:eu-central-1:111122223333:key/x"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("additional_policies", (POLICY,)),
        ("external_policies", ("arn:aws:iam::aws:policy/ReadOnlyAccess",)),
        ("permissions_boundary", "arn:aws:iam::111122223333:policy/bound"),
        ("role_path", "/team/"),
    ],
)
def test_an_existing_role_keeps_what_it_has(field: str, value: Any):
    """WK-EKS-046 for what would be given to a role that is made here, with both ways out."""
    (mistake,) = check_cluster_args(replace(ARGS, role_arn=ROLE, **{field: value}))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-046", (field,), value)
    assert f"remove {field}" in mistake.remedy
    assert "role_arn" in mistake.remedy
    assert not check_cluster_args(replace(ARGS, **{field: value}))


@pytest.mark.parametrize("arn", ["cluster", "arn:aws-cn:iam::111122223333:role/x", "arn:aws:iam::1:role/x"])
def test_an_existing_role_is_named_by_its_arn(arn: str):
    """WK-EKS-046 for a name, another partition, and an account that is none."""
    (mistake,) = check_cluster_args(replace(ARGS, role_arn=arn))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-046", ("role_arn",), arn)
    assert "arn:aws:iam::<account>:role/<name>" in mistake.remedy
