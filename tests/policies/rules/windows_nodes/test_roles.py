"""``windows-node-role-not-shared`` in depth: where a role comes from, and whose nodes have it."""

from collections.abc import Iterator, Sequence

import pytest
from winkube.policies.model import UNKNOWN, Planned, Stack, Undecided, Violation
from winkube.policies.resource_types import (
    ACCESS_ENTRY,
    INSTANCE_PROFILE,
    LAUNCH_CONFIGURATION,
    LAUNCH_TEMPLATE,
    NODE_GROUP,
    ROLE,
)
from winkube.policies.rules.windows_nodes.roles import windows_node_role_not_shared as role_rule

from ...cases.base import urn
from ...nodes import LINUX, POWERSHELL, WINDOWS, group, planned


def windows_role_not_shared(resources: Sequence[Planned]) -> Iterator[Violation]:
    assert role_rule.stack is not None
    return iter(role_rule.stack(Stack(resources), {}))


ROLES = [planned(ROLE, "windows"), planned(ROLE, "linux")]


def roles(*resources: Planned) -> list[Violation]:
    return list(windows_role_not_shared([*ROLES, *resources]))


def test_separate_roles_keep_the_rule() -> None:
    assert roles(group("w", WINDOWS, "windows"), group("l", LINUX, "linux")) == []


def test_a_role_that_is_shared_breaks_it_though_its_arn_is_unknown() -> None:
    (violation,) = roles(group("w", WINDOWS, "linux"), group("l", LINUX, "linux"))
    assert violation == Violation(
        'the node role "linux" is shared by "w" (Windows) and "l" (Linux)', urn(NODE_GROUP, "w")
    )  # fmt: skip


def test_a_group_that_says_nothing_of_its_ami_is_a_linux_group() -> None:
    assert len(roles(group("w", WINDOWS, "linux"), group("l", {"nodeRoleArn": UNKNOWN}, "linux"))) == 1


def test_a_role_given_by_its_arn_is_recognised() -> None:
    arn = "arn:aws:iam::123456789012:role/path/shared"
    windows, linux = ({**props, "nodeRoleArn": arn} for props in (WINDOWS, LINUX))
    (violation,) = roles(planned(NODE_GROUP, "w", windows), planned(NODE_GROUP, "l", linux))
    assert '"shared"' in violation.message


def test_a_role_given_by_its_arn_and_one_made_here_are_the_same() -> None:
    made = planned(ROLE, "made", {"name": "nodes"})
    linux = planned(NODE_GROUP, "l", {**LINUX, "nodeRoleArn": "arn:aws:iam::123456789012:role/nodes"})
    assert len(roles(made, linux, group("w", WINDOWS, "made"))) == 1


def test_an_access_entry_says_what_a_role_is_for() -> None:
    entry = planned(ACCESS_ENTRY, "entry", {"type": "EC2_WINDOWS"}, principalArn=urn(ROLE, "linux"))
    assert len(roles(entry, group("l", LINUX, "linux"))) == 1
    assert roles(entry, group("w", WINDOWS, "linux")) == []
    person = planned(ACCESS_ENTRY, "person", {"type": "STANDARD"}, principalArn=urn(ROLE, "linux"))
    assert roles(person, group("w", WINDOWS, "linux")) == []


@pytest.mark.parametrize("kind", [LAUNCH_TEMPLATE, LAUNCH_CONFIGURATION])
def test_self_managed_nodes_count_through_their_instance_profile(kind: str) -> None:
    profile = planned(INSTANCE_PROFILE, "profile", {"role": UNKNOWN}, role=urn(ROLE, "linux"))
    source = urn(INSTANCE_PROFILE, "profile")
    windows = planned(
        kind, "w", {"userData": POWERSHELL, "iamInstanceProfile": {"arn": UNKNOWN}}, iamInstanceProfile=source
    )
    (violation,) = roles(profile, windows, group("l", LINUX, "linux"))
    assert violation.urn == windows.urn


def test_a_custom_image_is_known_by_its_user_data() -> None:
    template = planned(LAUNCH_TEMPLATE, "template", {"userData": POWERSHELL})
    props = {"amiType": "CUSTOM", "nodeRoleArn": UNKNOWN, "launchTemplate": {"id": UNKNOWN}}
    custom = planned(
        NODE_GROUP, "custom", props, launchTemplate=template.urn, nodeRoleArn=urn(ROLE, "linux")
    )  # fmt: skip
    assert len(roles(template, custom, group("l", LINUX, "linux"))) == 1


def test_a_role_that_cannot_be_known_cannot_be_decided() -> None:
    with pytest.raises(Undecided, match=r"l\.nodeRoleArn"):
        roles(group("w", WINDOWS, "windows"), planned(NODE_GROUP, "l", LINUX))


def test_what_is_certain_is_said_before_what_cannot_be_decided() -> None:
    verdict = windows_role_not_shared(
        [*ROLES, group("w", WINDOWS, "linux"), group("l", LINUX, "linux"), planned(NODE_GROUP, "x", LINUX)]
    )
    assert next(iter(verdict)).urn == urn(NODE_GROUP, "w")
    with pytest.raises(Undecided):
        list(verdict)


def test_without_windows_nothing_is_undecided() -> None:
    assert roles(planned(NODE_GROUP, "l", LINUX)) == []
