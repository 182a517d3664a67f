"""Inventories as text: a fixed one in the form of Kubespray, and one that asks EC2 for the machines of groups."""

from collections.abc import Iterator, Sequence

import yaml

from .machines import ROLES, Groups, Machine

WHY_LINUX = (
    "Linux machines alone: Kubespray has no playbooks for Windows, and Ansible speaks to Windows by WinRM, which no",
    "node of winkube opens. Windows nodes join by themselves when they boot.",
)
WRITTEN_FOR = "For Kubespray 2.31, which needs ansible-core 2.18 and Python 3.11 to 3.13."


def fixed_inventory(machines: Sequence[Machine]) -> str:
    """``inventory.ini`` of Kubespray.

    Machines with the role ``etcd`` are its members; without any, those of the control plane are.
    """
    linux = [machine for machine in machines if machine.system == "linux"]
    left_out = [machine.name for machine in machines if machine.system != "linux"]
    lines = [*_comment(left_out), "[all]"]
    lines += [f"{machine.name} ansible_host={machine.address} ip={machine.address}" for machine in linux]
    for role, group in ROLES.items():
        members = [machine.name for machine in linux if role in machine.roles]
        if role == "etcd" and not members:
            lines += ["", "[etcd:children]", ROLES["control_plane"]]
        else:
            lines += ["", f"[{group}]", *members]
    return "\n".join([*lines, ""])


def asking_inventory(groups: Groups) -> str:
    """An inventory for the plug-in ``amazon.aws.aws_ec2``: machines of Auto Scaling groups come and go.

    Its file must end in ``aws_ec2.yml``.
    """
    cluster = groups.cluster_name
    linux = [name for name in groups.instance_groups if name not in groups.windows]
    # An instance of the control plane has a slot; a worker has its group. EC2 names the platform of Windows alone.
    plane = f"tags['winkube.io/cluster'] | default('') == '{cluster}' and 'winkube.io/slot' in tags"
    group = "tags['winkube.io/instance-group'] | default('')"
    content = {
        "plugin": "amazon.aws.aws_ec2",
        "regions": [groups.region],
        "filters": {f"tag:kubernetes.io/cluster/{cluster}": "owned", "instance-state-name": "running"},
        "exclude_filters": [{"platform": "windows"}],
        "hostnames": ["instance-id"],
        "compose": {"ansible_host": "private_ip_address", "ip": "private_ip_address"},
        "groups": {
            ROLES["control_plane"]: plane,
            ROLES["etcd"]: plane,
            ROLES["node"]: f"{group}.startswith('{cluster}/')",
            **{f"group_{name.replace('-', '_')}": f"{group} == '{cluster}/{name}'" for name in linux},
        },
    }
    text = yaml.safe_dump(content, sort_keys=False, width=200)
    return "\n".join([*_comment(groups.windows), text])


def _comment(left_out: Sequence[str]) -> Iterator[str]:
    yield f"# {WRITTEN_FOR}"
    yield from (f"# {line}" for line in WHY_LINUX)
    if left_out:
        yield f"# Left out: {', '.join(left_out)}."
