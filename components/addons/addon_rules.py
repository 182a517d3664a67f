"""What must hold for the add-ons of a cluster with Windows nodes, as pure checks over plain attributes.

The same function judges settings, component arguments and policies.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from ..tables.kubernetes import AUTOSCALER_IMAGES
from ..tables.windows import BUILD_LABEL
from .addon_table import ADDONS, ELSEWHERE, OS_LABEL, Addon, Keys, Slot
from .chart_values import MISSING, at, walked
from .identity import check_identity

ADDONS_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/workloads-add-ons-available-eks.html"
WINDOWS_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/windows-support.html"

ADDON_KNOWN = Rule("WK-ADD-001", "An add-on must be one that winkube supports.", ADDONS_PAGE)
ADDON_TWICE = Rule("WK-ADD-002", "An add-on can be chosen only once per cluster.", ADDONS_PAGE)
WINDOWS_NODES = Rule("WK-ADD-003", "The Windows part of an add-on needs Windows nodes.", WINDOWS_PAGE)
LINUX_ONLY = Rule("WK-ADD-004", "Software that runs only on Linux must be kept off Windows nodes.", WINDOWS_PAGE)
POD_IDENTITY_ON_WINDOWS = Rule(
    "WK-ADD-005",
    "Pods on Windows nodes must get their role through IRSA; EKS Pod Identity does not support them.",
    "https://docs.aws.amazon.com/eks/latest/userguide/pod-identities.html",
)
VERSION_FORMAT = Rule(
    "WK-ADD-006",
    "An add-on version must be written in full, in its publisher's format.",
    "https://docs.aws.amazon.com/eks/latest/userguide/updating-an-add-on.html",
)
VERSION_FOR_WINDOWS = Rule(
    "WK-ADD-007",
    "An add-on with a Windows part needs a version that supports Windows.",
    "https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Container-Insights-setup-EKS-addon.html",
)
VERSION_OF_CHART = Rule(
    "WK-ADD-008", "A chart must keep the major version that its values were written for.", "https://semver.org"
)
LINUX_SELECTOR = Rule(
    "WK-ADD-009",
    "Values must not schedule Linux pods on Windows nodes or remove a Linux node selector.",
    "https://docs.aws.amazon.com/eks/latest/best-practices/windows-scheduling.html",
)
CLOSED_SELECTOR = Rule(
    "WK-ADD-010",
    "Values must not set the operating system where the add-on's templates set it.",
    "https://github.com/kubernetes-csi/csi-driver-smb/tree/master/charts",
)
WINDOWS_SWITCH = Rule(
    "WK-ADD-011", "The Windows part of an add-on is turned on by the windows argument, not by a value.", WINDOWS_PAGE
)
NEEDS = Rule(
    "WK-ADD-012",
    "An add-on needs the add-ons that it depends on.",
    "https://github.com/kubernetes-sigs/windows-gmsa/blob/master/charts/README.md",
)
NEEDS_INPUT = Rule(
    "WK-ADD-013",
    "An add-on needs the inputs that it cannot discover.",
    "https://docs.aws.amazon.com/eks/latest/userguide/lbc-helm.html",
)
NEEDS_POLICY = Rule(
    "WK-ADD-014",
    "An add-on that uses your own resources needs a policy for them.",
    "https://docs.aws.amazon.com/eks/latest/userguide/s3-csi-create.html",
)
NO_SERVICE_ACCOUNT = Rule("WK-ADD-015", "Only an add-on that calls AWS can have a role.", ADDONS_PAGE)
ROLE_TWICE = Rule("WK-ADD-016", "A role that you provide brings its own policies.", ADDONS_PAGE)
AUTOSCALER_RELEASE = Rule(
    "WK-ADD-018",
    "The cluster autoscaler must match the cluster's Kubernetes minor.",
    "https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/README.md#releases",
)
ROLE_VALUE = Rule("WK-ADD-017", "The role of a service account is set by role_arn, not by a value.", ADDONS_PAGE)

_MANAGED_VERSION = re.compile(r"v(\d+)\.(\d+)\.(\d+)-eksbuild\.\d+")
_CHART_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)")
AGENT = "eks-pod-identity-agent"
SLOT_FIELDS: Mapping[Slot, str] = {Slot.VPC_ID: "vpc_id", Slot.NODE_ROLES: "karpenter_node_role_arns"}
"""The fields of a cluster's add-ons that fill slots."""


class AddonChoiceLike(Protocol):
    """What the checks need of a choice."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def version(self) -> str | None: ...  # noqa: D102
    @property
    def windows(self) -> bool | None: ...  # noqa: D102
    @property
    def values(self) -> Mapping[str, Any]: ...  # noqa: D102
    @property
    def identity(self) -> str: ...  # noqa: D102
    @property
    def role_arn(self) -> Any: ...  # noqa: D102
    @property
    def additional_policies(self) -> Sequence[Any]: ...  # noqa: D102


def check_addons(
    choices: Sequence[AddonChoiceLike],
    windows: bool,
    kubernetes_version: str,
    *,
    windows_releases: Sequence[str] = (),
    filled_slots: Sequence[Slot] = tuple(SLOT_FIELDS),
    path: Path = ("addons",),
) -> Mistakes:
    """Every mistake in the add-ons of one cluster (``WK-ADD-001`` to ``WK-ADD-018``, ``WK-ADD-022``).

    :param windows: whether the cluster has Windows nodes.
    :param kubernetes_version: its minor, such as ``1.36``.
    :param windows_releases: the releases of these nodes, such as ``2025``: some need newer add-ons.
    :param filled_slots: what the caller fills in; all by default, for settings where it is made on the way.
    """
    found = Mistakes()
    seen: dict[str, int] = {}
    chosen = {choice.name for choice in choices}
    for index, choice in enumerate(choices):
        here: Path = (*path, index)
        if seen.setdefault(choice.name, index) != index:
            found.add(ADDON_TWICE, (*here, "name"), f"the add-on at [{seen[choice.name]}] is the same add-on",
                      "merge the two choices", choice.name)  # fmt: skip
        addon = ADDONS.get(choice.name)
        if addon is None:
            _unknown(choice.name, here, found)
            continue
        with_windows = windows if choice.windows is None else choice.windows
        found.take(_check_windows(addon, choice, windows, windows_releases), *here)
        found.take(_check_version(addon, choice.version), *here)
        found.take(_check_role(addon, choice, chosen, with_windows=with_windows and addon.windows), *here)
        found.take(check_values(addon, choice.values), *here, "values")
        found.take(_check_needs(addon, choice.values, chosen, filled_slots), *here)
        found.take(_check_image(addon, choice.values, kubernetes_version), *here)
    return found


def _unknown(name: str, here: Path, found: Mistakes) -> None:
    if name in ELSEWHERE:
        found.add(ADDON_KNOWN, (*here, "name"), "winkube does not install this add-on", ELSEWHERE[name], name)
        return
    guess = nearest(name, (*ADDONS, *ELSEWHERE))
    found.add(ADDON_KNOWN, (*here, "name"), f"the add-ons are {one_of(ADDONS)}",
              f'write "{guess}"' if guess else "write one of these, or install the chart yourself", name)  # fmt: skip


def _check_windows(addon: Addon, choice: AddonChoiceLike, windows: bool, releases: Sequence[str]) -> Mistakes:
    found = Mistakes()
    if choice.windows and not addon.windows:
        found.add(LINUX_ONLY, ("windows",), f"{addon.name} runs only on Linux: {addon.not_on_windows}",
                  "remove windows", choice.windows)  # fmt: skip
        return found
    if choice.windows and not windows:
        found.add(WINDOWS_NODES, ("windows",), f"the cluster has no Windows nodes for the Windows part of {addon.name}",
                  "add a Windows node group, or remove windows", choice.windows)  # fmt: skip
    version = _numbers(addon, choice.version)
    if version is None or not addon.windows or not (windows if choice.windows is None else choice.windows):
        return found
    needed = {addon.windows_since: "Windows nodes"}
    needed |= {since: f"Windows Server {release}" for release, since in addon.releases_since.items()
               if release in releases}  # fmt: skip
    least = max(needed, key=_triple)
    if version < _triple(least):
        found.add(VERSION_FOR_WINDOWS, ("version",), f"{addon.name} runs on {needed[least]} from {least} on",
                  f'set version to "{_written(addon, least)}" or newer, or leave it out', choice.version)  # fmt: skip
    return found


def _check_version(addon: Addon, version: str | None) -> Mistakes:
    found = Mistakes()
    if version is None:
        return found
    numbers = _numbers(addon, version)
    if numbers is None:
        example = _written(addon, addon.windows_since or "1.0.0") if addon.chart is None else addon.chart.version
        found.add(VERSION_FORMAT, ("version",), f"the version of {addon.name} must be written in full",
                  f'write it as "{example}", or leave it out', version)  # fmt: skip
    elif addon.chart is not None and numbers[0] != _triple(addon.chart.version)[0]:
        major = _triple(addon.chart.version)[0]
        found.add(VERSION_OF_CHART, ("version",), f"the values of {addon.name} were written for version {major} of its "
                  "chart", f'set version to "{addon.chart.version}" or another of {major}', version)  # fmt: skip
    return found


def _numbers(addon: Addon, version: str | None) -> tuple[int, ...] | None:
    form = _MANAGED_VERSION if addon.chart is None else _CHART_VERSION
    parts = form.fullmatch(version) if version is not None else None
    return None if parts is None else tuple(int(part) for part in parts.groups())


def _triple(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.removeprefix("v").split("."))


def _written(addon: Addon, version: str) -> str:
    return f"v{version}-eksbuild.1" if addon.chart is None else version


def _check_role(addon: Addon, choice: AddonChoiceLike, chosen: set[str], *, with_windows: bool) -> Mistakes:
    found = check_identity(choice.identity)
    if addon.service_account is None:
        for field in ("role_arn", "additional_policies"):
            if getattr(choice, field):
                found.add(NO_SERVICE_ACCOUNT, (field,), f"{addon.name} calls no AWS service", f"remove {field}")
        return found
    if choice.identity == "pod_identity":
        if with_windows and addon.windows_needs_role:
            found.add(POD_IDENTITY_ON_WINDOWS, ("identity",),
                      f"the pods of {addon.name} on Windows nodes cannot get a role through EKS Pod Identity",
                      'set identity to "irsa"', choice.identity)  # fmt: skip
        elif AGENT not in chosen:
            found.add(NEEDS, ("identity",), f"EKS Pod Identity needs the add-on {AGENT}",
                      f'add "{AGENT}", or set identity to "irsa"', choice.identity)  # fmt: skip
    if choice.role_arn is not None and choice.additional_policies:
        found.add(ROLE_TWICE, ("additional_policies",), "a role that you provide brings its own policies",
                  "remove additional_policies, or remove role_arn to create a role")  # fmt: skip
    if addon.policy_for and choice.role_arn is None and not choice.additional_policies:
        found.add(NEEDS_POLICY, ("additional_policies",), f"{addon.name} needs a policy for {addon.policy_for}",
                  "add it to additional_policies, or set role_arn to your own role")  # fmt: skip
    return found


def check_values(addon: Addon, values: Mapping[str, Any]) -> Mistakes:
    """Whether the user's values leave each part of an add-on on its operating system (WK-ADD-009 to 011, 017)."""
    found = Mistakes()
    for keys in addon.linux_selectors:
        for length in range(1, len(keys) + 1):
            if at(values, keys[:length]) is None:
                found.add(LINUX_SELECTOR, keys[:length], f"without it {addon.name} could run on Windows nodes",
                          f'remove the value, or keep "{OS_LABEL}": "linux" in {".".join(keys)}')  # fmt: skip
    for way, inner in walked(values):
        closed = next((keys for keys in addon.closed_selectors if way == keys), None)
        if isinstance(inner, Mapping):
            _check_selector(addon, way, cast(Mapping[str, Any], inner), closed, found)
    if addon.windows_switch and at(values, addon.windows_switch) is not MISSING:
        found.add(WINDOWS_SWITCH, addon.windows_switch, f"the Windows part of {addon.name} is turned on by windows",
                  "remove the value, and set windows instead", at(values, addon.windows_switch))  # fmt: skip
    annotations = at(values, addon.role_annotations) if addon.role_annotations else MISSING
    if isinstance(annotations, Mapping) and "eks.amazonaws.com/role-arn" in annotations:
        found.add(ROLE_VALUE, (*addon.role_annotations, "eks.amazonaws.com/role-arn"),
                  "winkube writes the annotation", "set role_arn to the ARN")  # fmt: skip
    return found


def _check_selector(
    addon: Addon, way: tuple[str | int, ...], inner: Mapping[str, Any], closed: Keys | None, found: Mistakes
) -> None:
    if OS_LABEL in inner and closed is not None:
        found.add(CLOSED_SELECTOR, (*way, OS_LABEL), f"the templates of {addon.name} set the operating system "
                  "separately for Linux and Windows pods", "remove the label", inner[OS_LABEL])  # fmt: skip
    elif OS_LABEL in inner and inner[OS_LABEL] != "linux":
        found.add(LINUX_SELECTOR, (*way, OS_LABEL), f"this part of {addon.name} runs on Linux",
                  'write "linux", or remove the label', inner[OS_LABEL])  # fmt: skip
    if BUILD_LABEL in inner:
        found.add(LINUX_SELECTOR, (*way, BUILD_LABEL), "only Windows nodes have this label",
                  "remove the label", inner[BUILD_LABEL])  # fmt: skip
    named = inner.get("values")
    if inner.get("key") == OS_LABEL and isinstance(named, list | tuple):
        wrong = {"In": "windows", "NotIn": "linux"}.get(str(inner.get("operator")))
        if wrong in cast(Sequence[Any], named):
            found.add(LINUX_SELECTOR, way, f"this affinity schedules {addon.name} on Windows nodes",
                      f'select "{OS_LABEL}" In ["linux"], or remove the expression', named)  # fmt: skip


def _check_needs(addon: Addon, values: Mapping[str, Any], chosen: set[str], filled_slots: Sequence[Slot]) -> Mistakes:
    found = Mistakes()
    done_without = bool(addon.needs_unless) and at(values, addon.needs_unless) is False
    for needed in addon.needs:
        if needed not in chosen and not done_without:
            way_out = f", or set {'.'.join(addon.needs_unless)} to false and bring certificates of your own"
            found.add(NEEDS, ("name",), f"{addon.name} needs {needed}",
                      f'add "{needed}"{way_out if addon.needs_unless else ""}', addon.name)  # fmt: skip
    for slot in addon.needs_slots:
        if slot not in filled_slots:
            found.add(NEEDS_INPUT, ("name",), f"{addon.name} needs {slot.value}", f"set {SLOT_FIELDS[slot]}",
                      addon.name)  # fmt: skip
    return found


def _check_image(addon: Addon, values: Mapping[str, Any], kubernetes_version: str) -> Mistakes:
    found = Mistakes()
    if addon.image_of_minor and kubernetes_version not in AUTOSCALER_IMAGES:
        given = at(values, addon.image_of_minor)
        if given is MISSING:
            keys = ".".join(addon.image_of_minor)
            found.add(AUTOSCALER_RELEASE, ("values", *addon.image_of_minor),
                      f"winkube knows releases of {addon.name} for Kubernetes {one_of(AUTOSCALER_IMAGES)}, the cluster "
                      f"runs {kubernetes_version}",
                      f'set {keys} to its release of that minor, such as "v{kubernetes_version}.0"')  # fmt: skip
    return found
