"""The add-ons of a cluster as one component."""

import json
from dataclasses import replace

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
import pytest
from winkube.addons.addon_policies import mounted_buckets
from winkube.addons.addon_table import ADDONS
from winkube.addons.installing import install_order
from winkube.core.errors import WinkubeError
from winkube.eks.addons import AddonChoice, EksAddons, EksAddonsArgs, check_eks_addons
from winkube.preview.model import UNKNOWN, Plan, walk

from .conftest import CLUSTER, ISSUER, PROVIDER_ARN, TAGS, assert_well_made, of_type, the

ROLES = ["arn:aws:iam::111122223333:role/linux", "arn:aws:iam::111122223333:role/windows"]
QUEUE = "arn:aws:sqs:eu-central-1:111122223333:dev-interruptions"


def choice(name: str, **more) -> AddonChoice:
    if ADDONS[name].policy_for and "role_arn" not in more:
        more.setdefault("additional_policies", [mounted_buckets(["arn:aws:s3:::data"])])
    return AddonChoice(name=name, **more)


def args(*choices: AddonChoice, **more) -> EksAddonsArgs:
    given = {
        "cluster": CLUSTER,
        "region": "eu-central-1",
        "oidc_provider_arn": PROVIDER_ARN,
        "oidc_issuer": ISSUER,
        "vpc_id": "vpc-0123456789abcdef0",
        "karpenter_node_role_arns": ROLES,
        "tags": TAGS,
    }
    return EksAddonsArgs(addons=choices, **(given | more))


def built(record, *choices: AddonChoice, preview: bool = True, **more) -> Plan:
    return record(lambda: EksAddons("dev", args(*choices, **more)), preview=preview)


@pytest.mark.parametrize("preview", [True, False])
def test_every_addon_of_the_table_is_installed_its_way(record, preview: bool):
    """EKS add-ons as such, charts as releases; a role for each that calls AWS and for no other."""
    plan = built(record, *map(choice, ADDONS), preview=preview)
    assert_well_made(plan, "EksAddons", ["addons", "roleArns", "windowsNodePolicyArns"])
    managed = {it.inputs["addonName"] for it in of_type(plan, "Addon")}
    assert managed == {row.name for row in ADDONS.values() if row.chart is None}
    assert {it.inputs["name"] for it in of_type(plan, "Release")} == set(ADDONS) - managed
    assert set(the(plan, "EksAddons").outputs["roleArns"]) == {
        row.name for row in ADDONS.values() if row.service_account
    }
    assert the(plan, "EksAddons").outputs["windowsNodePolicyArns"] == [
        "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"
    ]


@pytest.mark.parametrize("preview", [True, False])
def test_the_role_of_a_chart_stands_in_its_service_account(record, preview: bool):
    plan = built(record, choice("cluster-autoscaler"), preview=preview)
    account = the(plan, "Release").inputs["values"]["rbac"]["serviceAccount"]
    role = account["annotations"]["eks.amazonaws.com/role-arn"]
    assert account["name"] == "cluster-autoscaler"
    assert role is UNKNOWN if preview else role.endswith("dev-cluster-autoscaler-role.arn")


def test_the_role_of_an_addon_is_its_argument(record):
    role = "arn:aws:iam::111122223333:role/own"
    addon = the(built(record, choice("aws-ebs-csi-driver", role_arn=role)), "Addon")
    assert addon.inputs["serviceAccountRoleArn"] == role
    assert json.loads(addon.inputs["configurationValues"]) == {"node": {"enableWindows": True}}


def test_conflicts_are_overwritten(record):
    """A selector that someone took away by hand comes back; an add-on leaves the cluster with its resource."""
    addon = the(built(record, choice("aws-ebs-csi-driver")), "Addon")
    assert (addon.inputs["resolveConflictsOnCreate"], addon.inputs["resolveConflictsOnUpdate"]) == (
        "OVERWRITE", "OVERWRITE")  # fmt: skip
    assert "preserve" not in addon.inputs


@pytest.mark.parametrize("windows", [True, False])
def test_the_windows_part_follows_the_cluster_or_the_choice(record, windows: bool):
    followed = the(built(record, choice("aws-ebs-csi-driver"), windows=windows), "Addon")
    assert json.loads(followed.inputs["configurationValues"])["node"] == {"enableWindows": windows}
    chosen = the(built(record, choice("aws-ebs-csi-driver", windows=False), windows=True), "Addon")
    assert json.loads(chosen.inputs["configurationValues"])["node"] == {"enableWindows": False}


def test_a_chart_is_fetched_from_its_publisher_at_a_fixed_version(record):
    plan = built(record, choice("csi-driver-smb"), choice("cert-manager"), choice("metrics-server", version="3.14.0"))
    smb, certificates = the(plan, "Release", "dev-csi-driver-smb"), the(plan, "Release", "dev-cert-manager")
    assert smb.inputs["repositoryOpts"] == {"repo": "https://kubernetes-csi.github.io/csi-driver-smb"}
    assert (smb.inputs["version"], smb.inputs["namespace"], smb.inputs["createNamespace"]) == (
        "1.20.3", "kube-system", False)  # fmt: skip
    assert certificates.inputs["chart"].startswith("oci://")
    assert "repositoryOpts" not in certificates.inputs
    assert certificates.inputs["createNamespace"] is True
    assert the(plan, "Release", "dev-metrics-server").inputs["version"] == "3.14.0"


def test_each_comes_after_what_it_needs(record):
    """The balancers' webhook answers for every new service; gMSA's certificates come from cert-manager."""
    plan = built(record, choice("windows-gmsa"), choice("cert-manager"), choice("aws-load-balancer-controller"))
    urns = {it.name: it.urn for it in of_type(plan, "Release")}
    gmsa = the(plan, "Release", "dev-windows-gmsa").options.dependencies
    assert {urns["dev-cert-manager"], urns["dev-aws-load-balancer-controller"]} <= set(gmsa)
    assert urns["dev-aws-load-balancer-controller"] in the(plan, "Release", "dev-cert-manager").options.dependencies
    assert install_order(["windows-gmsa", "metrics-server", "cert-manager"], ADDONS).index("windows-gmsa") == 2


def test_rights_outlive_the_controller(record):
    """On the way down a controller still removes what it made in AWS: its policies go after it."""
    plan = built(record, choice("aws-load-balancer-controller"))
    policy = the(plan, "RolePolicy")
    assert policy.urn in the(plan, "Release").options.dependencies


def test_karpenter_is_told_its_roles_and_its_queue(record):
    plan = built(record, choice("karpenter"), karpenter_queue_arn=QUEUE, preview=False)
    statements = json.loads(the(plan, "RolePolicy").inputs["policy"])["Statement"]
    assert next(it for it in statements if it.get("Sid") == "PassNodeRoles")["Resource"] == ROLES
    assert next(it for it in statements if it.get("Sid") == "HearOfInterruptions")["Resource"] == [QUEUE]
    settings = the(plan, "Release").inputs["values"]["settings"]
    assert settings == {"clusterName": "dev", "interruptionQueue": "dev-interruptions"}


def test_pod_identity_is_associated_and_not_annotated(record):
    plan = built(record, choice("cluster-autoscaler", identity="pod_identity"), choice("eks-pod-identity-agent"),
                 oidc_provider_arn=None, oidc_issuer=None)  # fmt: skip
    association = the(plan, "PodIdentityAssociation").inputs
    assert (association["namespace"], association["serviceAccount"]) == ("kube-system", "cluster-autoscaler")
    assert "annotations" not in the(plan, "Release").inputs["values"]["rbac"]["serviceAccount"]


@pytest.mark.parametrize("preview", [True, False])
def test_a_cluster_that_is_made_in_the_same_program_is_waited_for(record, preview: bool):
    def build():
        made = aws.eks.Cluster("made", role_arn=ROLES[0], vpc_config={"subnet_ids": ["subnet-1", "subnet-2"]})
        EksAddons("dev", args(choice("cluster-autoscaler"), cluster=replace(CLUSTER, name=made.name)))

    plan = record(build, preview=preview)
    policy = the(plan, "RolePolicy").inputs["policy"]
    name = the(plan, "Release").inputs["values"]["autoDiscovery"]["clusterName"]
    assert (policy is UNKNOWN and name is UNKNOWN) if preview else name in policy


@pytest.mark.parametrize("preview", [True, False])
def test_inputs_may_be_made_in_the_same_program(record, preview: bool):
    """What other resources compute is passed on, and is neither missing nor judged."""

    def build():
        vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16")
        role = aws.iam.Role("own", assume_role_policy="{}")
        provider = aws.iam.OpenIdConnectProvider("oidc", url=ISSUER, client_id_lists=["sts.amazonaws.com"])
        queue = aws.sqs.Queue("queue")
        EksAddons("dev", args(choice("aws-load-balancer-controller"), choice("karpenter"),
                              choice("aws-ebs-csi-driver", role_arn=role.arn), vpc_id=vpc.id,
                              karpenter_node_role_arns=[role.arn], karpenter_queue_arn=queue.arn,
                              oidc_provider_arn=provider.arn))  # fmt: skip

    plan = record(build, preview=preview)
    vpc_id = the(plan, "Release", "dev-aws-load-balancer-controller").inputs["values"]["vpcId"]
    assert vpc_id is UNKNOWN if preview else vpc_id


def test_the_nodes_come_first(record):
    def build():
        first = aws.ec2.PlacementGroup("nodes", strategy="spread")
        EksAddons("dev", args(choice("aws-ebs-csi-driver"), choice("metrics-server")),
                  pulumi.ResourceOptions(depends_on=[first]))  # fmt: skip

    plan = record(build)
    assert the(plan, "Addon").options.dependencies
    assert the(plan, "Release").options.dependencies


def test_children_take_the_callers_providers(record):
    """AWS' children go to the AWS provider, the releases to the cluster's; nothing falls to a default one."""

    def build():
        cloud = aws.Provider("cloud", region="eu-central-1")
        cluster = kubernetes.Provider("cluster", kubeconfig="{}")
        EksAddons("dev", args(choice("aws-ebs-csi-driver"), choice("cluster-autoscaler")),
                  pulumi.ResourceOptions(providers=[cloud, cluster]))  # fmt: skip

    plan = record(build)
    for resource in plan.resources:
        package = resource.type.partition(":")[0]
        if package in ("aws", "kubernetes"):
            assert f":{'cloud' if package == 'aws' else 'cluster'}::" in resource.options.provider


def test_a_plan_holds_no_secret_in_plain_text(record):
    """Nothing that is installed takes a credential: roles are assumed, certificates are made in the cluster."""
    plan = built(record, *map(choice, ADDONS))
    words = ("password", "secretkey", "accesskey", "privatekey", "token")
    for resource in plan.resources:
        for path, _ in walk(resource.inputs):
            assert not any(str(part).lower().replace("_", "") in words for part in path)


def test_mistakes_are_raised_before_anything_is_registered(record):
    def build():
        with pytest.raises(WinkubeError) as raised:
            EksAddons("dev", args(choice("cluster-autoscaler"), AddonChoice(name="vpc-cni"), oidc_issuer=None,
                                  tags={"aws:x": "y"}, role_path="x"))  # fmt: skip
        assert [it.rule.code for it in raised.value.mistakes] == [
            "WK-ADD-001", "WK-ADD-021", "WK-IAM-020", "WK-TAG-002"]  # fmt: skip
        assert "EksAddons(dev).addons[1].name" in str(raised.value)

    assert record(build).resources == []


def test_inputs_that_are_missing_are_named():
    found = check_eks_addons(args(choice("aws-load-balancer-controller"), choice("karpenter"), vpc_id=None,
                                  karpenter_node_role_arns=()))  # fmt: skip
    assert [(it.rule.code, it.remedy) for it in found] == [
        ("WK-ADD-013", "set vpc_id"), ("WK-ADD-013", "set karpenter_node_role_arns")]  # fmt: skip


def test_no_addon_needs_no_provider():
    assert not check_eks_addons(args(choice("metrics-server"), oidc_issuer=None, oidc_provider_arn=None))
