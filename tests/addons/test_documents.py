"""The IAM documents of the add-ons, held against the field's own validators."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from policy_sentry.querying.actions import get_actions_for_service
from winkube.addons.addon_policies import (
    cluster_autoscaler,
    group_credentials,
    irsa_trust,
    issuer_host,
    karpenter_controller,
    load_balancer_controller,
    log_writer,
    mounted_buckets,
    pod_identity_trust,
    volume_keys,
)
from winkube.roles.policy_documents import allow, document, rendered
from winkube.roles.validation import INLINE_LIMIT, check_policy_documents
from winkube.tables.regions import PARTITIONS

ACCOUNT = "111122223333"
KEY = f"arn:aws:kms:eu-central-1:{ACCOUNT}:key/1234abcd-12ab-34cd-56ef-1234567890ab"
SECRET = f"arn:aws:secretsmanager:eu-central-1:{ACCOUNT}:secret:gmsa-AbCdEf"
PARAMETER = f"arn:aws:ssm:eu-central-1:{ACCOUNT}:parameter/gmsa"
ROLES = [f"arn:aws:iam::{ACCOUNT}:role/linux", f"arn:aws:iam::{ACCOUNT}:role/windows"]
QUEUE = f"arn:aws:sqs:eu-central-1:{ACCOUNT}:dev"
DOCUMENTS = {
    "autoscaler": cluster_autoscaler("dev"),
    "balancers": load_balancer_controller("dev"),
    "karpenter": karpenter_controller("dev", "eu-central-1", ROLES, QUEUE),
    "volume keys": volume_keys([KEY]),
    "buckets": mounted_buckets(["arn:aws:s3:::data"]),
    "gmsa secret": group_credentials(SECRET, KEY),
    "gmsa parameter": group_credentials(PARAMETER),
    "logs": log_writer(f"arn:aws:logs:eu-central-1:{ACCOUNT}:log-group:/aws/eks/dev/windows"),
}
EXPLAINED = {
    # Reads that upstream allows everywhere; their resources are the account's balancers and certificates.
    "balancers": ("RESOURCE_STAR", "Unknown condition elasticloadbalancing:CreateAction",
                  "Unknown action elasticloadbalancing:ModifyIpPools"),
    # A launch touches many kinds of resources, and each statement allows some of them under its own condition;
    # public parameters have no account.
    "karpenter": ("RESOURCE_MISMATCH",),
}  # fmt: skip
"""Findings that stand: parliament's table is older than two names of ELB, which policy_sentry and AWS' own have."""


@pytest.fixture(scope="module")
def linted() -> Callable[[str], list[str]]:
    """What parliament finds in a policy. It still asks for pkg_resources, which setuptools no longer has."""
    with pytest.MonkeyPatch.context() as patch:
        resources = ModuleType("pkg_resources")
        resources.resource_filename = lambda package, name: str(Path(sys.modules[package].__path__[0]) / name)
        patch.setitem(sys.modules, "pkg_resources", resources)
        import parliament

    return lambda text: [str(finding) for finding in parliament.analyze_policy_string(text).findings]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_parliament_finds_nothing_unexplained(name, linted):
    findings = linted(rendered(DOCUMENTS[name]))
    explained = EXPLAINED.get(name, ())
    assert [finding for finding in findings if not any(word in finding for word in explained)] == []


@pytest.mark.parametrize("name", EXPLAINED)
def test_every_explanation_is_still_needed(name, linted):
    findings = linted(rendered(DOCUMENTS[name]))
    assert all(any(word in finding for finding in findings) for word in EXPLAINED[name])


def test_parliament_would_find_something(linted):
    """The linter is alive: an action that does not exist is reported."""
    assert linted(rendered(document(allow("elasticloadbalancing:Create", "*"))))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_action_is_written_out_and_known_to_policy_sentry(name):
    for statement in DOCUMENTS[name]["Statement"]:
        for action in statement["Action"]:
            assert "*" not in action
            assert action in get_actions_for_service(action.partition(":")[0])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_library_accepts_its_own_documents(name):
    assert not check_policy_documents([DOCUMENTS[name]], partition="aws")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_leaves_room_for_the_users_own_policies(name):
    """IAM counts all inline policies of a role together."""
    assert len(rendered(DOCUMENTS[name])) < INLINE_LIMIT - 3_000


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_changes_something_is_limited_to_resources_or_a_condition(name):
    """A statement on every resource only reads, or is one whose actions know no resources."""
    reading = re.compile(r"[a-z0-9-]+:(Describe|Get|List)")
    without_resources = {"elasticloadbalancing:SetWebAcl", "shield:CreateProtection"}
    for statement in DOCUMENTS[name]["Statement"]:
        if statement["Resource"] == ["*"]:
            writing = {action for action in statement["Action"] if not reading.match(action)}
            assert writing <= without_resources


@pytest.mark.parametrize("partition", PARTITIONS)
def test_arns_are_of_the_partition(partition: str):
    role = f"arn:{partition}:iam::{ACCOUNT}:role/nodes"
    for policy in (
        cluster_autoscaler("dev", partition),
        load_balancer_controller("dev", partition),
        karpenter_controller("dev", "eu-central-1", [role], None, partition),
    ):
        assert set(re.findall(r"arn:(aws[a-z-]*):", rendered(policy))) == {partition}


def test_the_autoscaler_scales_groups_of_its_own_cluster_only():
    scaling = next(it for it in DOCUMENTS["autoscaler"]["Statement"] if it["Sid"] == "ScaleOwnGroups")
    assert scaling["Condition"] == {"StringEquals": {"aws:ResourceTag/k8s.io/cluster-autoscaler/dev": "owned"}}


def test_the_balancer_controller_changes_balancers_of_its_own_cluster_only():
    """Deleting asks for the cluster's name, not for any value of the tag."""
    deleting = next(it for it in DOCUMENTS["balancers"]["Statement"]
                    if "elasticloadbalancing:DeleteLoadBalancer" in it["Action"])  # fmt: skip
    assert deleting["Condition"] == {"StringEquals": {"aws:ResourceTag/elbv2.k8s.aws/cluster": "dev"}}


def test_karpenter_passes_the_node_roles_and_no_others():
    passing = next(it for it in DOCUMENTS["karpenter"]["Statement"] if "iam:PassRole" in it["Action"])
    assert passing["Resource"] == ROLES
    assert not any("sqs:" in action for it in karpenter_controller("dev", "eu-central-1", ROLES)["Statement"]
                   for action in it["Action"])  # fmt: skip


def test_trust_is_for_one_service_account():
    """Audience and subject are compared as a whole, and nothing in the document is a pattern."""
    issuer = "https://oidc.eks.eu-central-1.amazonaws.com/id/EXAMPLE"
    host = issuer_host(issuer)
    (statement,) = irsa_trust(f"arn:aws:iam::{ACCOUNT}:oidc-provider/{host}", issuer, "kube-system", "driver")[
        "Statement"
    ]
    assert statement["Action"] == ["sts:AssumeRoleWithWebIdentity"]
    assert statement["Condition"] == {
        "StringEquals": {f"{host}:aud": "sts.amazonaws.com", f"{host}:sub": "system:serviceaccount:kube-system:driver"}
    }
    assert "*" not in rendered({"Statement": statement})


def test_trust_in_pod_identity_names_its_service():
    (statement,) = pod_identity_trust()["Statement"]
    assert statement["Principal"] == {"Service": ["pods.eks.amazonaws.com"]}
    assert statement["Action"] == ["sts:AssumeRole", "sts:TagSession"]


def test_a_portable_identity_is_read_where_it_lies():
    assert DOCUMENTS["gmsa secret"]["Statement"][0]["Action"] == ["secretsmanager:GetSecretValue"]
    assert DOCUMENTS["gmsa parameter"]["Statement"][0]["Action"] == ["ssm:GetParameter"]
    assert [it["Sid"] for it in DOCUMENTS["gmsa parameter"]["Statement"]] == ["ReadPortableIdentity"]
