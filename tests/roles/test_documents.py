"""The documents that the library writes itself, held against the field's own validators."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from policy_sentry.querying.actions import get_actions_for_service
from winkube.roles.policy_documents import (
    EKS_CLUSTER_POLICIES,
    EKS_WINDOWS_POLICIES,
    NODE_POLICIES,
    account_key,
    allow,
    document,
    flow_log_writer,
    managed_policy_arn,
    rendered,
    self_managed_node,
    session_manager,
    trust,
)
from winkube.roles.role_rules import check_external_policies
from winkube.roles.validation import check_policy_documents
from winkube.state_bucket.bucket_policies import bucket_policy, key_policy
from winkube.state_bucket.layout import ClusterLayout, key_access, object_access, prefix_access
from winkube.tables.regions import PARTITIONS

BUCKET = "arn:aws:s3:::clusters-example-com"
LAYOUT = ClusterLayout("dev.example.com")
KEY = "arn:aws:kms:eu-central-1:111122223333:key/0c5f5a52-6f1a-4f0b-a2d4-2ad2fd1d2d3a"
OWN = {
    "one object of the state": document(
        object_access(BUCKET, LAYOUT.service_account_kubeconfig("flannel")), key_access(KEY, BUCKET)
    ),
    "a prefix of the state": document(
        *prefix_access(BUCKET, LAYOUT.etcd_backups("main"), "manage"), key_access(KEY, BUCKET, "manage")
    ),
    "session manager": session_manager(),
    "self-managed node": self_managed_node(),
    "self-managed node of a region": self_managed_node("eu-central-1"),
    "flow logs": flow_log_writer("arn:aws:logs:eu-central-1:111122223333:log-group:net-flow-logs"),
}


@pytest.fixture(scope="module")
def linted() -> Callable[[str], list[str]]:
    """What parliament finds in a policy. It still asks for pkg_resources, which setuptools no longer has."""
    with pytest.MonkeyPatch.context() as patch:
        resources = ModuleType("pkg_resources")
        resources.resource_filename = lambda package, name: str(  # pyright: ignore[reportAttributeAccessIssue]
            Path(sys.modules[package].__path__[0]) / name
        )
        patch.setitem(sys.modules, "pkg_resources", resources)
        import parliament

    return lambda text: [str(finding) for finding in parliament.analyze_policy_string(text).findings]


@pytest.mark.parametrize("policy", OWN.values(), ids=OWN.keys())
def test_parliament_finds_nothing(policy, linted):
    """Actions, resources and conditions fit together."""
    assert linted(rendered(policy)) == []


def test_parliament_would_find_something(linted):
    """The linter is alive: an action that does not exist is reported."""
    assert linted(rendered(document(allow("s3:GetObjekt", "*"))))


@pytest.mark.parametrize("policy", OWN.values(), ids=OWN.keys())
def test_policy_sentry_knows_every_action(policy):
    for statement in policy["Statement"]:
        for action in statement["Action"]:
            assert action in get_actions_for_service(action.partition(":")[0])


@pytest.mark.parametrize("policy", OWN.values(), ids=OWN.keys())
def test_our_own_checks_hold_for_ourselves(policy):
    assert not check_policy_documents([policy], partition="aws")


def test_a_rendered_document_is_json_without_white_space():
    """IAM counts characters; the text is stable, so that a preview does not move."""
    text = rendered(document(allow("ec2:DescribeTags", "*", sid="Tags", conditions={"Bool": {"aws:x": "true"}})))
    assert text == (
        '{"Version":"2012-10-17","Statement":[{"Sid":"Tags","Effect":"Allow","Action":["ec2:DescribeTags"],'
        '"Resource":["*"],"Condition":{"Bool":{"aws:x":"true"}}}]}'
    )
    assert json.loads(text)["Version"] == "2012-10-17"


@pytest.mark.parametrize(
    ("service", "partition", "principal"),
    [
        ("ec2", "aws", "ec2.amazonaws.com"),
        ("ec2", "aws-us-gov", "ec2.amazonaws.com"),
        ("ec2", "aws-cn", "ec2.amazonaws.com.cn"),
        ("eks", "aws-cn", "eks.amazonaws.com"),
    ],
)
def test_trust_names_the_service_of_the_partition(service: str, partition: str, principal: str):
    (statement,) = trust(service, partition)["Statement"]
    assert statement["Principal"] == {"Service": [principal]}
    assert statement["Action"] == ["sts:AssumeRole"]


def test_a_key_belongs_to_the_account_it_lies_in():
    statement = account_key("arn:aws-cn:kms:cn-north-1:111122223333:key/x")
    assert statement["Principal"] == {"AWS": ["arn:aws-cn:iam::111122223333:root"]}
    assert (statement["Action"], statement["Resource"]) == (["kms:*"], ["*"])


@pytest.mark.parametrize("partition", PARTITIONS)
def test_managed_policies_are_of_the_partition(partition: str):
    names = {name for names in (*NODE_POLICIES.values(), EKS_CLUSTER_POLICIES, EKS_WINDOWS_POLICIES) for name in names}
    arns = [managed_policy_arn(name, partition) for name in sorted(names)]
    assert not check_external_policies(arns, partition=partition)


def test_windows_nodes_have_no_cni_policy():
    """Their pods' addresses are managed from the control plane."""
    assert set(NODE_POLICIES["eks-linux"]) - set(NODE_POLICIES["eks-windows"]) == {"AmazonEKS_CNI_Policy"}


def test_self_managed_nodes_cannot_read_every_parameter():
    """AmazonSSMManagedInstanceCore allows ssm:GetParameter on all of them; the inline document does not."""
    assert "AmazonSSMManagedInstanceCore" not in NODE_POLICIES["self-managed"]
    assert "ssm:GetParameter" not in rendered(session_manager())


@pytest.mark.parametrize(
    ("policy", "left"),
    [
        (bucket_policy(BUCKET, KEY, readers=["r"], writers=["w"], allowed=["a"]), []),
        (key_policy(KEY, BUCKET, readers=["r"], writers=["w"]), [("WK-IAM-007", "kms:*")]),
    ],
    ids=["bucket", "key"],
)
def test_policies_of_resources_have_known_actions_operators_and_shapes(policy, left):
    """Judged like a user's policy; what a role may not have is left: principals, and kms:* for the account."""
    found = [mistake for mistake in check_policy_documents([policy]) if mistake.rule.code != "WK-IAM-010"]
    assert [(mistake.rule.code, mistake.got) for mistake in found] == left
