"""Labels and taints of nodes: syntax, reserved names, and the words of the kubelet and of EKS for them.

One pair of labels and taints per group; everything else (the node group's own fields, kubelet flags, autoscaler
tags) is written from it. Sources: Kubernetes "Labels and Selectors", "Taints and Tolerations"; EKS
``CreateNodegroup``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from ..tables import windows

LABELS_PAGE = "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set"
TAINTS_PAGE = "https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/"
NODE_GROUP_PAGE = "https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html"

KEY_SYNTAX = Rule(
    "WK-SCH-001",
    "A label or taint key is a name of at most 63 letters, digits, - _ or ., with an optional DNS prefix.",
    LABELS_PAGE,
)
VALUE_SYNTAX = Rule(
    "WK-SCH-002",
    "A label or taint value has at most 63 letters, digits, - _ or ., with a letter or digit at both ends.",
    LABELS_PAGE,
)
RESERVED_KEY = Rule(
    "WK-SCH-003",
    "Managed node groups reject label and taint keys under kubernetes.io, k8s.io and eks.amazonaws.com.",
    "https://github.com/aws/containers-roadmap/issues/1451",
)
TAINT_EFFECT = Rule("WK-SCH-004", "The effect of a taint is NoSchedule, PreferNoSchedule or NoExecute.", TAINTS_PAGE)
TAINT_TWICE = Rule("WK-SCH-005", "The taints of a group must differ in key or effect.", TAINTS_PAGE)
TOO_MANY = Rule("WK-SCH-006", "A managed node group can have at most 50 labels and 50 taints.", NODE_GROUP_PAGE)
EMPTY_VALUE = Rule("WK-SCH-007", "Managed node groups reject labels with an empty value.", NODE_GROUP_PAGE)

EKS_EFFECTS: Mapping[str, str] = {
    "NoSchedule": "NO_SCHEDULE",
    "PreferNoSchedule": "PREFER_NO_SCHEDULE",
    "NoExecute": "NO_EXECUTE",
}
"""Kubernetes' words for a taint's effect, with those of the EKS API."""

RESERVED_DOMAINS = ("kubernetes.io", "k8s.io", "eks.amazonaws.com")
KEY_LIMIT = 63  # EKS counts the whole key; Kubernetes only the part after the slash
PREFIX_LIMIT = 253
VALUE_LIMIT = 63
COUNT_LIMIT = 50
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")


@dataclass(frozen=True, kw_only=True)
class Taint:
    """A taint of every node of a group."""

    key: str
    """For example ``os``."""
    value: str = ""
    """For example ``windows``; may be empty."""
    effect: str = "NoSchedule"
    """``NoSchedule`` (default), ``PreferNoSchedule`` or ``NoExecute``."""

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}"


class TaintLike(Protocol):
    """What a check needs of a taint."""

    @property
    def key(self) -> str: ...  # noqa: D102
    @property
    def value(self) -> str: ...  # noqa: D102
    @property
    def effect(self) -> str: ...  # noqa: D102


WINDOWS_TAINT = Taint(**windows.WINDOWS_TAINT)
"""The taint of Windows nodes; their RuntimeClasses tolerate the same one."""


def check_labels(
    labels: Mapping[str, str], path: Path = ("labels",), *, managed: bool = True, eks: bool = True
) -> Mistakes:
    """What Kubernetes, or EKS for a managed group, would refuse of these node labels.

    :param managed: whether a managed node group sets them.
    :param eks: whether the nodes are of EKS; what a kubelet elsewhere may set, ``check_kubelet_labels`` says.
    """
    found = Mistakes()
    if managed and len(labels) > COUNT_LIMIT:
        found.add(TOO_MANY, path, f"a managed node group can have at most {COUNT_LIMIT} labels",
                  f"remove {len(labels) - COUNT_LIMIT} labels", len(labels))  # fmt: skip
    for key, value in labels.items():
        found.take(_check_key(key, (*path, key), "label", eks=eks))
        found.take(_check_value(value, (*path, key), "label"))
        if managed and value == "":
            found.add(EMPTY_VALUE, (*path, key), "managed node groups reject labels with an empty value",
                      'write a value such as "true"', value)  # fmt: skip
    return found


def check_taints(
    taints: Sequence[TaintLike], path: Path = ("taints",), *, managed: bool = True, eks: bool = True
) -> Mistakes:
    """What Kubernetes, or EKS for a managed group, would refuse of these taints; parameters as of ``check_labels``."""
    found = Mistakes()
    if managed and len(taints) > COUNT_LIMIT:
        found.add(TOO_MANY, path, f"a managed node group can have at most {COUNT_LIMIT} taints",
                  f"remove {len(taints) - COUNT_LIMIT} taints", len(taints))  # fmt: skip
    seen: dict[tuple[str, str], int] = {}
    for index, taint in enumerate(taints):
        here = (*path, index)
        found.take(_check_key(taint.key, (*here, "key"), "taint", eks=eks))
        found.take(_check_value(taint.value, (*here, "value"), "taint"))
        if taint.effect not in EKS_EFFECTS:
            guess = nearest(taint.effect.replace("_", ""), tuple(EKS_EFFECTS))
            found.add(TAINT_EFFECT, (*here, "effect"), f"a taint's effect is {one_of(EKS_EFFECTS)}",
                      f'write "{guess}"' if guess else "write one of these", taint.effect)  # fmt: skip
        first = seen.setdefault((taint.key, taint.effect), index)
        if first != index:
            found.add(TAINT_TWICE, here, f"the taint at [{first}] has the same key and effect",
                      "remove one of them", f"{taint.key}={taint.value}:{taint.effect}")  # fmt: skip
    return found


def _check_key(key: str, path: Path, kind: str, *, eks: bool) -> Mistakes:
    found = Mistakes()
    prefix, slash, name = key.rpartition("/")
    if not _NAME.fullmatch(name) or (slash and not _PREFIX.fullmatch(prefix)):
        found.add(KEY_SYNTAX, path, f"a {kind} key is a name of letters, digits, - _ or ., optionally after a DNS "
                  "prefix and one slash", "write a key such as \"team\" or \"example.com/team\"", key)  # fmt: skip
        return found
    counted, where = (key, " on EKS") if eks else (name, " after its prefix" if slash else "")
    if len(counted) > KEY_LIMIT:
        found.add(KEY_SYNTAX, path,
                  f"a {kind} key can have at most {KEY_LIMIT} characters{where}, and this has {len(counted)}",
                  f"shorten it by {len(counted) - KEY_LIMIT} characters", key)  # fmt: skip
    elif len(prefix) > PREFIX_LIMIT:
        found.add(KEY_SYNTAX, path, f"the prefix of a {kind} key can have at most {PREFIX_LIMIT} characters",
                  f"shorten it by {len(prefix) - PREFIX_LIMIT} characters", key)  # fmt: skip
    for domain in RESERVED_DOMAINS if eks else ():
        if slash and within(prefix, domain):
            found.add(RESERVED_KEY, path, f"only Kubernetes and EKS can set {kind} keys under {domain}",
                      f'use your own prefix, such as "example.com/{name}"', key)  # fmt: skip
    return found


def within(prefix: str, domain: str) -> bool:
    """Whether the prefix of a key is a domain, or lies below it.

    >>> within("apps.kubernetes.io", "kubernetes.io"), within("mykubernetes.io", "kubernetes.io")
    (True, False)
    """
    return prefix == domain or prefix.endswith(f".{domain}")


def _check_value(value: str, path: Path, kind: str) -> Mistakes:
    found = Mistakes()
    if value and not _NAME.fullmatch(value):
        found.add(VALUE_SYNTAX, path, f"a {kind} value has letters, digits, - _ or . and begins and ends with a letter "
                  "or digit", "remove the other characters", value)  # fmt: skip
    elif len(value) > VALUE_LIMIT:
        found.add(
            VALUE_SYNTAX,
            path,
            f"a {kind} value can have at most {VALUE_LIMIT} characters, and this has {len(value)}",
            f"shorten it by {len(value) - VALUE_LIMIT} characters",
            value,
        )
    return found


def with_windows_taint(taints: Sequence[TaintLike], *, wanted: bool) -> tuple[TaintLike, ...]:
    """The taints of a group's nodes: the one of Windows first where it is wanted, unless the group says it itself."""
    given = {(taint.key, taint.effect) for taint in taints}
    default = (WINDOWS_TAINT.key, WINDOWS_TAINT.effect)
    return (*((WINDOWS_TAINT,) if wanted and default not in given else ()), *taints)


def eks_taints(taints: Sequence[TaintLike]) -> list[Any]:
    """Taints as a managed node group takes them; an empty value is left out, as EKS does."""
    return [
        {"key": taint.key, **({"value": taint.value} if taint.value else {}), "effect": EKS_EFFECTS[taint.effect]}
        for taint in taints
    ]


def kubelet_flags(labels: Mapping[str, str], taints: Sequence[TaintLike]) -> dict[str, str]:
    """The flags by which a kubelet registers itself with labels and taints; empty ones are left out.

    >>> kubelet_flags({"b": "2", "a": "1"}, [WINDOWS_TAINT])
    {'node-labels': 'a=1,b=2', 'register-with-taints': 'os=windows:NoSchedule'}
    """
    flags = {
        "node-labels": ",".join(f"{key}={value}" for key, value in sorted(labels.items())),
        "register-with-taints": ",".join(f"{taint.key}={taint.value}:{taint.effect}" for taint in taints),
    }
    return {flag: value for flag, value in flags.items() if value}
