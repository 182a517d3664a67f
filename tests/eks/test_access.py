"""Access entries of people and pipelines."""

import gzip
import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import pytest
from winkube.eks.access import (
    ACCESS_POLICIES,
    AccessPolicy,
    access_policy_arn,
    access_scope,
    check_access_entries,
)

ROLE = "arn:aws:iam::111122223333:role/platform"


@dataclass(frozen=True)
class Entry:
    """An entry as settings would give it."""

    name: str = "platform"
    principal_arn: Any = ROLE
    policies: tuple[AccessPolicy, ...] = (AccessPolicy(policy="admin"),)
    kubernetes_groups: tuple[str, ...] = ()


def only(found):
    """The one mistake found."""
    assert len(found) == 1, [mistake.text() for mistake in found]
    return found[0]


def test_good_entries_pass():
    """Roles, users, groups and namespaces as EKS takes them; a principal that is not known yet is not judged."""
    entries = [
        Entry(),
        Entry(
            name="ci", principal_arn="arn:aws-us-gov:iam::111122223333:user/ci", policies=(), kubernetes_groups=("ci",)
        ),
        Entry(
            name="later", principal_arn=object(), policies=(AccessPolicy(policy="view", namespaces=("web-*", "db")),)
        ),
    ]
    assert not check_access_entries(entries, "API")


def test_entries_need_the_api():
    """WK-EKS-043 in the mode of the ConfigMap alone."""
    mistake = only(check_access_entries([Entry()], "CONFIG_MAP"))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-043", ("access_entries",), "CONFIG_MAP")
    assert "API" in mistake.remedy
    assert not check_access_entries([], "CONFIG_MAP")


@pytest.mark.parametrize("name", ["", "Platform", "a_b", "-a"])
def test_names_are_small(name: str):
    """WK-EKS-040 for a name that makes no name of a resource."""
    mistake = only(check_access_entries([Entry(name=name)], "API"))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-040", ("access_entries", 0, "name"), name)


def test_names_are_not_given_twice():
    """WK-EKS-040 at the second of the two."""
    mistake = only(check_access_entries([Entry(), Entry(principal_arn=f"{ROLE}-2")], "API"))
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-040", ("access_entries", 1, "name"))


@pytest.mark.parametrize("arn", ["platform", "arn:aws:sts::111122223333:assumed-role/x/y", "arn:aws:iam::1:role/x", ""])
def test_a_principal_is_a_role_or_a_user(arn: str):
    """WK-EKS-041 for a name, a session or a wrong account."""
    mistake = only(check_access_entries([Entry(principal_arn=arn)], "API"))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-041", ("access_entries", 0, "principal_arn"), arn)


def test_a_principal_has_one_entry():
    """WK-EKS-041 for one principal in two entries."""
    mistake = only(check_access_entries([Entry(), Entry(name="other")], "API"))
    assert (mistake.rule.code, mistake.got) == ("WK-EKS-041", ROLE)


def test_an_unknown_policy_names_the_nearest():
    """WK-EKS-042 lists the policies."""
    mistake = only(check_access_entries([Entry(policies=(AccessPolicy(policy="clusteradmin"),))], "API"))
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-042", ("access_entries", 0, "policies", 0, "policy"))
    assert mistake.remedy == 'write "cluster_admin"'
    assert all(word in mistake.message for word in ACCESS_POLICIES)


def test_a_namespace_has_the_syntax_of_kubernetes():
    """WK-EKS-042 at the namespace."""
    mistake = only(check_access_entries([Entry(policies=(AccessPolicy(policy="view", namespaces=("a_b",)),))], "API"))
    assert mistake.path[-2:] == ("namespaces", 0)
    assert mistake.got == "a_b"


def test_an_entry_gives_something():
    """WK-EKS-044 for an entry that allows nothing."""
    assert only(check_access_entries([Entry(policies=())], "API")).rule.code == "WK-EKS-044"


def test_groups_of_kubernetes_are_refused():
    """WK-EKS-045 for system:masters, which people ask for and EKS refuses."""
    mistake = only(check_access_entries([Entry(kubernetes_groups=("system:masters",))], "API"))
    assert (mistake.rule.code, mistake.got) == ("WK-EKS-045", "system:masters")


def test_arn_and_scope():
    """A policy is AWS' own in any partition; without namespaces it holds in the cluster."""
    assert access_policy_arn("edit", "aws-cn") == "arn:aws-cn:eks::aws:cluster-access-policy/AmazonEKSEditPolicy"
    assert access_scope(()) == {"type": "cluster"}
    assert access_scope(("b", "a")) == {"type": "namespace", "namespaces": ["a", "b"]}
    model = json.loads(
        gzip.decompress(files("botocore").joinpath("data/eks/2017-11-01/service-2.json.gz").read_bytes())
    )
    assert {"cluster", "namespace"} == set(model["shapes"]["AccessScopeType"]["enum"])
