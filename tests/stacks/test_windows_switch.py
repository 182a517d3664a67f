"""Windows support follows from the groups: switched on before them, and off when they are gone."""

import json
from collections.abc import Callable
from typing import Any

from winkube.preview.model import Plan

from stacks.config.reading import read_settings
from stacks.eks.program import build

Record = Callable[..., Plan]
CONTROLLER = "AmazonEKSVPCResourceController"
GROUPS = "winkube:instanceGroups"


def planned(record: Record, config: dict[str, str]) -> Plan:
    """The plan of a stack file."""
    settings = read_settings(config, "dev")
    return record(lambda: build(settings))


def switch(plan: Plan) -> Any:
    """The values of the vpc-cni add-on."""
    (addon,) = [resource for resource in plan.resources if resource.inputs.get("addonName") == "vpc-cni"]
    return json.loads(addon.inputs["configurationValues"])["enableWindowsIpam"]


def before(plan: Plan, name: str) -> set[str]:
    """The names of all resources that one waits for, directly or through others."""
    (first,) = [resource for resource in plan.resources if resource.name == name and resource.custom]
    seen, queue = set[str](), [first.urn]
    while queue:
        resource = plan.by_urn.get(queue.pop())
        if resource is not None:
            options = resource.options
            waited = {*options.dependencies, *(urn for urns in options.property_dependencies.values() for urn in urns)}
            queue += waited - seen
            seen |= waited
    return {urn.rsplit("::", 1)[-1] for urn in seen}


def test_windows_groups_wait_for_policy_switch_and_linux(record: Record, stack_of: Any) -> None:
    """The policy of the cluster role, the switch and the Linux nodes are there before a Windows node starts."""
    plan = planned(record, stack_of())
    waited = before(plan, "dev-windows-group")
    assert f"dev-cluster-{CONTROLLER}" in waited
    assert "dev-ipam-vpc-cni" in waited
    assert "dev-system-group" in waited
    assert switch(plan) == "true"


def test_without_windows_groups_the_switch_is_off_and_the_policy_gone(record: Record, stack_of: Any) -> None:
    """Off is written out, the controller's policy is not attached, and no RuntimeClass is left."""
    data = stack_of()
    linux = [group for group in json.loads(data[GROUPS]) if "windows" not in group]
    plan = planned(record, {**data, GROUPS: json.dumps(linux)})
    assert switch(plan) == "false"
    assert not [resource for resource in plan.resources if CONTROLLER in resource.name]
    assert not [resource for resource in plan.resources if resource.type.endswith(":RuntimeClass")]


def test_nobody_can_switch_it_off_beside_windows_groups(lines_of: Any) -> None:
    """There is no setting for it, and the add-on's own value is refused."""
    (line,) = lines_of({"winkube:cluster.windowsIpam": {"enabled": False}})
    assert "WK-SET-001" in line
    (line,) = lines_of({"winkube:cluster.windowsIpam": {"addonValues": {"enableWindowsIpam": "false"}}})
    assert "WK-EKS-036" in line
