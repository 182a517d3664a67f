"""Roles of nodes and of EKS clusters: settings that are refused, and what is registered."""

import json
from dataclasses import fields

import pytest
from winkube.core.errors import WinkubeError
from winkube.core.mistakes import Mistake
from winkube.preview.model import UNKNOWN, Plan
from winkube.roles.role import (
    ControlPlaneRole,
    ControlPlaneRoleArgs,
    EksClusterRole,
    EksClusterRoleArgs,
    NodeRole,
    NodeRoleArgs,
    check_control_plane_role,
    check_node_role,
    name_prefix,
)
from winkube.roles.role_rules import RoleLike, check_boundary, check_external_policies, check_path, check_role

CUSTOM = "arn:aws:iam::111122223333:policy/team/nodes"
TAGS = {"team": "platform"}


def of_type(plan: Plan, kind: str) -> list:
    return [resource for resource in plan.resources if resource.type.endswith(f":{kind}")]


def only(found: list[Mistake], code: str) -> Mistake:
    (mistake,) = found
    assert mistake.rule.code == code
    return mistake


@pytest.mark.parametrize("args", [NodeRoleArgs, ControlPlaneRoleArgs, EksClusterRoleArgs])
def test_the_arguments_have_what_is_judged(args):
    properties = {name for name, value in vars(RoleLike).items() if isinstance(value, property)}
    assert properties <= {field.name for field in fields(args)}


@pytest.mark.parametrize("preview", [True, False])
def test_a_windows_node_role(record, preview: bool):
    """Trust in EC2, the three policies of Windows nodes, no inline policy, no instance profile."""
    args = NodeRoleArgs(kind="eks-windows", path="/k8s/", permissions_boundary=CUSTOM, tags=TAGS)
    plan = record(lambda: NodeRole("win", args), preview=preview)
    (role,) = of_type(plan, "Role")
    assert role.inputs["path"] == "/k8s/"
    assert role.inputs["permissionsBoundary"] == CUSTOM
    assert role.inputs["tags"] == {"Name": "win-role", "team": "platform"}
    assert "name" not in role.inputs
    assert "namePrefix" not in role.inputs
    assert json.loads(role.inputs["assumeRolePolicy"])["Statement"][0]["Principal"]["Service"] == ["ec2.amazonaws.com"]
    assert [attachment.name for attachment in of_type(plan, "RolePolicyAttachment")] == [
        "win-AmazonEC2ContainerRegistryPullOnly",
        "win-AmazonEKSWorkerNodePolicy",
        "win-AmazonSSMManagedInstanceCore",
    ]
    assert not of_type(plan, "RolePolicy")
    assert not of_type(plan, "InstanceProfile")
    (component,) = of_type(plan, "NodeRole")
    assert set(component.outputs) >= {"roleArn", "roleName"}
    assert (component.outputs["roleArn"] is UNKNOWN) == preview


def test_a_linux_node_role_carries_the_cni_policy_unless_the_cni_has_its_own_role(record):
    def names(**more) -> set[str]:
        plan = record(lambda: NodeRole("n", NodeRoleArgs(kind="eks-linux", **more)))
        return {
            attachment.inputs["policyArn"].rpartition("/")[2] for attachment in of_type(plan, "RolePolicyAttachment")
        }

    assert names() - names(cni_policy=False) == {"AmazonEKS_CNI_Policy"}


def test_a_self_managed_node_role_has_inline_policies_of_its_own(record):
    """Session Manager and self-description without the wide managed policy, and an instance profile."""
    args = NodeRoleArgs(kind="self-managed", instance_profile=True, path="/k8s/", tags=TAGS)
    plan = record(lambda: NodeRole("n", args), preview=False)
    assert [policy.name for policy in of_type(plan, "RolePolicy")] == ["n-describe-self", "n-session-manager"]
    (profile,) = of_type(plan, "InstanceProfile")
    assert profile.inputs["path"] == "/k8s/"
    assert profile.inputs["tags"] == {"Name": "n-profile", "team": "platform"}
    (component,) = of_type(plan, "NodeRole")
    assert component.outputs["instanceProfileName"] is not None


def test_additional_and_external_policies_are_attached_in_any_form(record):
    """Inline documents are completed; managed ones are named after themselves."""
    statement = {"Effect": "Allow", "Action": "ec2:DescribeTags", "Resource": "*"}
    args = NodeRoleArgs(
        kind="eks-windows", additional_policies=[statement, json.dumps([statement])], external_policies=[CUSTOM]
    )
    plan = record(lambda: NodeRole("n", args))
    first, second = of_type(plan, "RolePolicy")
    assert (first.name, second.name) == ("n-additional-0", "n-additional-1")
    assert first.inputs["policy"] == second.inputs["policy"]
    assert json.loads(first.inputs["policy"]) == {"Version": "2012-10-17", "Statement": [statement]}
    assert any(
        x.name == "n-team-nodes" and x.inputs["policyArn"] == CUSTOM for x in of_type(plan, "RolePolicyAttachment")
    )


@pytest.mark.parametrize("windows", [True, False])
def test_an_eks_cluster_role_manages_windows_addresses_only_with_windows(record, windows: bool):
    args = EksClusterRoleArgs(windows=windows, partition="aws-cn", tags=TAGS)
    plan = record(lambda: EksClusterRole("dev", args))
    (role,) = of_type(plan, "Role")
    assert "eks.amazonaws.com" in role.inputs["assumeRolePolicy"]
    arns = {attachment.inputs["policyArn"] for attachment in of_type(plan, "RolePolicyAttachment")}
    expected = {"arn:aws-cn:iam::aws:policy/AmazonEKSClusterPolicy"}
    if windows:
        expected.add("arn:aws-cn:iam::aws:policy/AmazonEKSVPCResourceController")
    assert arns == expected


def test_mistakes_are_raised_before_anything_is_registered(record):
    """A bad policy and a bad ARN at once."""
    args = NodeRoleArgs(
        kind="eks-windos",
        additional_policies=['[{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]'],
        external_policies=["AmazonS3ReadOnlyAccess"],
        permissions_boundary="boundary",
        path="team",
        partition="aws-china",
    )

    def build():
        with pytest.raises(WinkubeError) as raised:
            NodeRole("n", args)
        assert [mistake.rule.code for mistake in raised.value.mistakes] == [
            "WK-IAM-022",
            "WK-IAM-021",
            "WK-IAM-007",
            "WK-IAM-015",
            "WK-IAM-019",
            "WK-IAM-020",
        ]
        assert "NodeRole(n).additional_policies[0][0].Action: allows every action of s3" in str(raised.value)

    assert record(build).resources == []


def test_an_unknown_kind_is_refused():
    """WK-IAM-022."""
    mistake = only(check_node_role(NodeRoleArgs(kind="windows")), "WK-IAM-022")
    assert (mistake.path, mistake.got) == (("kind",), "windows")
    assert '"eks-windows"' in mistake.remedy


def test_an_unknown_partition_is_refused():
    """WK-IAM-021."""
    mistake = only(check_role(EksClusterRoleArgs(partition="aws-gov")), "WK-IAM-021")
    assert (mistake.path, mistake.got) == (("partition",), "aws-gov")
    assert 'write "aws-us-gov"' in mistake.remedy


@pytest.mark.parametrize(
    ("arn", "remedy"),
    [
        ("AmazonSSMManagedInstanceCore", 'write "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"'),
        ("arn:aws: iam::aws:policy/AmazonEKSClusterPolicy", 'write "arn:aws:iam::aws:policy/AmazonEKSClusterPolicy"'),
        ("arn:aws:iam::123:policy/x", "arn:aws:iam::<account>:policy/<name>"),
        ("arn:aws:iam::111122223333:role/x", "arn:aws:iam::<account>:policy/<name>"),
    ],
)
def test_what_is_no_policy_arn_is_refused(arn: str, remedy: str):
    """WK-IAM-015."""
    mistake = only(check_external_policies([CUSTOM, arn]), "WK-IAM-015")
    assert (mistake.path, mistake.got) == (("external_policies", 1), arn)
    assert remedy in mistake.remedy


def test_a_policy_of_another_partition_is_refused():
    """WK-IAM-016."""
    mistake = only(check_external_policies([CUSTOM], partition="aws-us-gov"), "WK-IAM-016")
    assert mistake.got == CUSTOM
    assert "arn:aws-us-gov:iam::111122223333:policy/team/nodes" in mistake.remedy


def test_a_policy_is_attached_once():
    """WK-IAM-017, also when the role has it anyway."""
    assert only(check_external_policies([CUSTOM, CUSTOM]), "WK-IAM-017").path == ("external_policies", 1)
    own = "arn:aws:iam::aws:policy/AmazonEKSWorkerNodePolicy"
    found = check_node_role(NodeRoleArgs(kind="eks-linux", external_policies=[own]))
    assert only(found, "WK-IAM-017").message == "winkube attaches this policy already"


def test_a_role_has_room_for_twenty_managed_policies():
    """WK-IAM-018 counts those that the role gets anyway."""
    arns = [f"{CUSTOM}{n}" for n in range(18)]
    assert not check_node_role(NodeRoleArgs(kind="eks-windows", external_policies=arns[:17]))
    mistake = only(check_node_role(NodeRoleArgs(kind="eks-windows", external_policies=arns)), "WK-IAM-018")
    assert (mistake.path, mistake.got) == (("external_policies",), 18)
    assert "at most 20 managed policies (10 until the account's quota is raised), 3 of them its own" in mistake.message
    assert "name 17 at most" in mistake.remedy


@pytest.mark.parametrize(
    "arn", ["boundary", "arn:aws:iam::111122223333:role/x", "arn:aws-cn:iam::111122223333:policy/x"]
)
def test_a_wrong_boundary_is_refused(arn: str):
    """WK-IAM-019."""
    mistake = only(check_boundary(arn, partition="aws"), "WK-IAM-019")
    assert (mistake.path, mistake.got) == (("permissions_boundary",), arn)
    assert "arn:aws:iam::" in mistake.remedy
    assert not check_boundary(None)


@pytest.mark.parametrize(
    ("path", "remedy"), [("team", 'write "/team/"'), ("", '"/team/"'), ("/a b/", '"/team/"'), ("/x", 'write "/x/"')]
)
def test_a_wrong_path_is_refused(path: str, remedy: str):
    """WK-IAM-020."""
    mistake = only(check_path(path), "WK-IAM-020")
    assert (mistake.path, mistake.got) == (("path",), path)
    assert remedy in mistake.remedy
    assert not check_path("/team/k8s/")


@pytest.mark.parametrize("length", [50, 56, 57, 64, 200])
def test_long_names_become_prefixes_that_fit(length: int):
    """Pulumi's suffix takes 8 of IAM's 64 characters, the provider's 26: each way must fit."""
    prefix = name_prefix("n" * length)
    if length <= 56:
        assert prefix is None
    else:
        assert prefix is not None
        assert len(prefix) <= 38
        assert name_prefix("n" * length + "x") != prefix


def test_a_long_name_reaches_the_role_as_prefix(record):
    plan = record(lambda: NodeRole("n" * 60, NodeRoleArgs(kind="eks-linux", instance_profile=True)))
    (role,) = of_type(plan, "Role")
    assert len(role.inputs["namePrefix"]) <= 38
    (profile,) = of_type(plan, "InstanceProfile")
    assert "namePrefix" not in profile.inputs


def test_the_role_of_a_control_plane_has_what_the_cluster_computes(record):
    """Inline policies of three origins, an instance profile, and no managed policy that reads parameters."""
    statement = {"Effect": "Allow", "Action": "ec2:DescribeTags", "Resource": "*"}
    args = ControlPlaneRoleArgs(
        policy_documents={"state": '{"Version":"2012-10-17","Statement":[]}'}, additional_policies=[statement],
        external_policies=[CUSTOM], permissions_boundary=CUSTOM, path="/k8s/", tags=TAGS,
    )  # fmt: skip
    plan = record(lambda: ControlPlaneRole("cp", args), preview=False)
    (role,) = of_type(plan, "Role")
    assert (role.inputs["path"], role.inputs["permissionsBoundary"]) == ("/k8s/", CUSTOM)
    assert [policy.name for policy in of_type(plan, "RolePolicy")] == [
        "cp-additional-0", "cp-describe-self", "cp-session-manager", "cp-state",
    ]  # fmt: skip
    assert {attachment.inputs["policyArn"].rpartition("/")[2] for attachment in of_type(plan, "RolePolicyAttachment")} \
        == {"AmazonEC2ContainerRegistryPullOnly", "nodes"}  # fmt: skip
    (component,) = of_type(plan, "ControlPlaneRole")
    assert component.outputs["instanceProfileName"] is not None


def test_mistakes_in_the_role_of_a_control_plane_are_found_at_once():
    found = check_control_plane_role(
        ControlPlaneRoleArgs(path="k8s", permissions_boundary="b", external_policies=["x"])
    )
    assert [mistake.rule.code for mistake in found] == ["WK-IAM-015", "WK-IAM-019", "WK-IAM-020"]
