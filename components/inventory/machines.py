"""What a stack says of its machines, checked: fixed ones by the output ``machines``, groups by the names of the stack.

Plain data in, plain data out; the pages of Kubespray say which groups it knows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, TypeGuard

from ..core.mistakes import Mistakes, Rule, nearest, one_of

PAGE = "https://kubespray.io/#/docs/ansible/inventory"
NO_MACHINES = Rule("WK-INV-001", "An inventory needs a stack that exports its machines.", PAGE)
MACHINE = Rule("WK-INV-002", "A machine needs a unique name, an address, and roles that Kubespray supports.", PAGE)
CONTROL_PLANE = Rule("WK-INV-003", "A cluster needs a control plane and an odd number of etcd members.", PAGE)
ROLES: Mapping[str, str] = {"control_plane": "kube_control_plane", "etcd": "etcd", "node": "kube_node"}
"""Role to the group of Kubespray's inventory."""
SYSTEMS = ("linux", "windows")
FIELDS = ("name", "address", "roles", "system")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine that stays: not one of an Auto Scaling group."""

    name: str
    address: str
    roles: Sequence[str]
    system: str = "linux"


@dataclass(frozen=True, kw_only=True)
class Groups:
    """A self-managed cluster whose machines come and go."""

    cluster_name: str
    region: str
    instance_groups: Sequence[str]
    windows: Sequence[str] = ()
    """Which of them are Windows, as far as that is known."""


def read_machines(outputs: Mapping[str, Any]) -> tuple[list[Machine], Mistakes]:
    """The fixed machines that a stack exports as ``machines``."""
    found = Mistakes()
    given = outputs.get("machines")
    if not _is_list(given) or not given:
        found.add(NO_MACHINES, ("machines",), "the stack exports no machines",
                  'export "machines": a list of {name, address, roles, system}')  # fmt: skip
        return [], found
    machines = [machine for index, item in enumerate(given) if (machine := _machine(item, index, found))]
    for index, machine in enumerate(machines):
        if machine.name in {other.name for other in machines[:index]}:
            found.add(MACHINE, ("machines", index, "name"), "two machines have this name", "rename one", machine.name)
    if not found:
        _check_control_plane(machines, found)
    return machines, found


def read_groups(document: Mapping[str, Any], region: str | None) -> tuple[Groups | None, Mistakes]:
    """The groups of a self-managed cluster, from a stack's outputs or a plan of ``winkube preview --format json``."""
    found = Mistakes()
    outputs = outputs_of(document)
    names, cluster = outputs.get("instanceGroups"), outputs.get("clusterName")
    if not is_object(names) or not isinstance(cluster, str) or "controlPlaneGroups" not in outputs:
        found.add(NO_MACHINES, ("instanceGroups",), "these are not outputs of a self-managed cluster",
                  "export machines, or use a stack of flavour kubeadm; EKS manages its own machines")  # fmt: skip
    windows = tuple(sorted(_windows_groups(document)))
    where = region or next(_regions(document), None)
    if where is None:
        found.add(NO_MACHINES, ("region",), "the outputs do not contain the Region", "add --region")
    if found or not is_object(names):
        return None, found
    return Groups(cluster_name=str(cluster), region=str(where), instance_groups=sorted(names), windows=windows), found


def outputs_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The outputs, of a plan or as they are."""
    inner = document.get("outputs")
    return inner if "schemaVersion" in document and is_object(inner) else document


def _machine(item: Any, index: int, found: Mistakes) -> Machine | None:
    path, before = ("machines", index), len(found)
    if not is_object(item):
        found.add(MACHINE, path, "a machine must be an object", "write {name, address, roles, system}", item)
        return None
    for key in item.keys() - set(FIELDS):
        guess = nearest(key, FIELDS)
        found.add(MACHINE, (*path, key), "a machine has no such field", f'write "{guess}"' if guess else "leave it out")
    name, address, roles = item.get("name"), item.get("address"), item.get("roles", ["node"])
    system = item.get("system", "linux")
    if not isinstance(name, str) or not name or any(mark in name for mark in " \t\n[]=#;"):
        found.add(MACHINE, (*path, "name"), "a machine needs a name without spaces and brackets", "name it", name)
    if not _is_address(address):
        found.add(MACHINE, (*path, "address"), "a machine needs an IP address", "write its private address", address)
    if not _is_list(roles) or not roles:
        found.add(MACHINE, (*path, "roles"), "roles must be a list", f"write some of [{', '.join(ROLES)}]", roles)
    for place, role in enumerate(roles if _is_list(roles) else []):
        if role not in ROLES:
            guess = nearest(str(role), tuple(ROLES))
            found.add(
                MACHINE, (*path, "roles", place), f"a role is {one_of(ROLES)}", f'write "{guess or "node"}"', role
            )
    if system not in SYSTEMS:
        guess = nearest(str(system), SYSTEMS)
        found.add(MACHINE, (*path, "system"), f"a system is {one_of(SYSTEMS)}", f'write "{guess or "linux"}"', system)
    if len(found) > before:
        return None
    return Machine(name=str(name), address=str(address), roles=list(roles), system=str(system))


def _check_control_plane(machines: Sequence[Machine], found: Mistakes) -> None:
    linux = [machine for machine in machines if machine.system == "linux"]
    planes = [machine for machine in linux if "control_plane" in machine.roles]
    members = [machine for machine in linux if "etcd" in machine.roles] or planes
    if not planes:
        found.add(CONTROL_PLANE, ("machines",), "no Linux machine has the role control_plane",
                  'add "control_plane" to the roles of one, three or five')  # fmt: skip
    elif len(members) % 2 == 0:
        found.add(CONTROL_PLANE, ("machines",), "etcd needs an odd number of members",
                  f"use {len(members) - 1} or {len(members) + 1}", len(members))  # fmt: skip


def _windows_groups(document: Mapping[str, Any]) -> Iterator[str]:
    resources = document.get("resources", [])
    for resource in resources if _is_list(resources) else []:
        tags = resource.get("inputs", {}).get("tags") if resource.get("type") == "aws:autoscaling/group:Group" else None
        pairs = {tag.get("key"): tag.get("value") for tag in tags} if _is_list(tags) else {}
        if pairs.get("k8s.io/cluster-autoscaler/node-template/label/kubernetes.io/os") == "windows":
            yield str(pairs.get("winkube.io/instance-group")).rpartition("/")[2]


def _regions(document: Mapping[str, Any]) -> Iterator[str]:
    resources = document.get("resources", [])
    for resource in resources if _is_list(resources) else []:
        if resource.get("type") == "pulumi:providers:aws" and resource.get("inputs", {}).get("region"):
            yield str(resource["inputs"]["region"])


def _is_address(value: Any) -> bool:
    try:
        ip_address(value)
    except ValueError:
        return False
    return isinstance(value, str)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether a part of a JSON document is an object."""
    return isinstance(value, dict)
