"""Calls of the bootstrap script in user data."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ...eks_resources import release_of_group
from ...frameworks import BEST_PRACTICES, LAUNCH_TEMPLATES_PAGE, WINDOWS_AMI_PAGE, best_practices, eks_guide
from ...inventory import inventory
from ...model import Option, Planned, Settings, Stack, Violation, every, resource_rule, stack_rule
from ...resource_types import LAUNCHED, NODE_GROUP
from ...user_data import known_user_data


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of the bootstrap script."""

    text: str
    parameters: frozenset[str] = field(default_factory=frozenset[str])

    def has(self, *names: str) -> bool:
        return any(name.lower() in self.parameters for name in names)


def _bootstrap(resource: Planned) -> _Call | None:
    """The call of the Windows bootstrap script in user data, if there is one.

    :raises Undecided: when the user data is not known yet.
    """
    text = known_user_data(resource) or ""
    if not re.search(r"EKSBootstrap", text):
        return None
    at = max(text.find("-EKSClusterName"), 0)
    found = re.findall(r"(?:^|\s|`)-([A-Za-z][A-Za-z0-9]+)", text[at:] if at else text)
    return _Call(text, frozenset(name.lower() for name in found)) if at or "-EKSClusterName" in text else None


@resource_rule(
    "windows-bootstrap-addresses",
    "The Windows bootstrap script gets the service address range",
    types=LAUNCHED,
    severity="high",
    references=[eks_guide("Create nodes with optimized Windows AMIs")],
    steps="pass -ServiceCIDR and -DNSClusterIP, or set SERVICE_IPV4_CIDR for the machine",
    url=WINDOWS_AMI_PAGE,
    late=True,
)
def windows_bootstrap_addresses(resource: Planned, settings: Settings) -> Iterator[str]:
    """The script's own guess is right for two ranges only. If it is wrong, names do not resolve."""
    call = _bootstrap(resource)
    if call and not call.has("ServiceCIDR") and "SERVICE_IPV4_CIDR" not in call.text and "@" not in call.text:
        yield "Start-EKSBootstrap.ps1 gets no -ServiceCIDR: it guesses the range, and DNS fails if the guess is wrong"


@resource_rule(
    "windows-memory-reserved",
    "Windows nodes reserve memory for the system",
    types=LAUNCHED,
    references=[best_practices("Windows: avoid OOM errors")],
    steps='pass -KubeletExtraArgs "--kube-reserved=memory=512Mi --system-reserved=memory=1536Mi '
    '--eviction-hard=memory.available<200Mi" to the bootstrap script',
    url=f"{BEST_PRACTICES}/windows-oom.html",
    late=True,
    options={
        "minimumMib": Option(2048, "minimum of both reservations together, in MiB", {"type": "integer", "minimum": 0})
    },
)
def windows_memory_reserved(resource: Planned, settings: Settings) -> Iterator[str]:
    """Windows has no out-of-memory killer: an overloaded node pages until it is no longer ready."""
    call = _bootstrap(resource)
    if call is None or "config" in call.parameters:
        return
    reserved = sum(_reserved_mib(call.text, flag) for flag in ("kube-reserved", "system-reserved"))
    if reserved < settings["minimumMib"]:
        yield f"{reserved} MiB are reserved for the system, the recommended minimum is {settings['minimumMib']}"


def _reserved_mib(text: str, flag: str) -> int:
    found = re.search(rf"--{flag}[= ]+[\"']?\S*?memory=([\d.]+)(Ki|Mi|Gi|K|M|G)?", text)
    if found is None:
        return 0
    factor = {"Ki": 1 / 1024, "K": 1 / 1024, "Mi": 1, "M": 1, "Gi": 1024, "G": 1024}.get(found[2] or "", 1 / 1048576)
    return int(float(found[1]) * factor)


@stack_rule(
    "windows-managed-group-bootstrap",
    "Managed groups with an EKS image leave the bootstrap to EKS",
    types=[NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Customize managed nodes with launch templates")],
    steps="remove the call of Start-EKSBootstrap.ps1, or give the launch template your own image_id",
    url=LAUNCH_TEMPLATES_PAGE,
    late=True,
)
def windows_managed_group_bootstrap(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """EKS appends its own call to yours: the node bootstraps twice and does not join."""
    plan = inventory(stack)

    def check(group: Planned) -> Iterator[Violation]:
        for template in plan.templates(group) if release_of_group(group) else ():
            if not template["imageId"].given and _bootstrap(template):
                yield Violation("EKS calls the bootstrap script itself, and the user data calls it again", template.urn)

    yield from every(stack.of(NODE_GROUP), check)
