"""Admission of Windows pods by the API server itself, without webhooks.

- pods for Windows get the RuntimeClass of their build, and pods with such a class the field ``os``; the templates of
  DaemonSets get the selector and the toleration that their controller looks at;
- pods that say Linux in ``os`` get the selector that the scheduler looks at, and so do those that say nothing, if that
  is asked for;
- what Windows cannot do is written into the audit log, said to the caller or refused, by rule.

The mutating policies need MutatingAdmissionPolicy v1, which is on from Kubernetes 1.36. Before, the RuntimeClasses do
what they can, and a pod that only says ``os: windows`` is spoken about instead of placed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pulumi

from ..core.mistakes import Mistakes, Rule, nearest, one_of
from ..kubernetes.component import KubernetesComponent
from ..kubernetes.manifests import NAMESPACE
from ..scheduling.runtime_class_manifests import RELEASES, check_releases
from ..system_services.cloud_controller_manager import KUBERNETES_MINOR
from ..tables.kubernetes import EKS_KNOWN_MINORS, at_least
from ..tables.releases import SELF_MANAGED_MINORS
from .admission_manifests import MODES, AdmissionSettings, admission_manifests
from .admission_rules import REFUSALS

POLICY_PAGE = "https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/"
ADMISSION_MODE = Rule("WK-K8S-040", "The mode of an admission rule is audit, warn, deny or off.", POLICY_PAGE)
ADMISSION_RULE = Rule("WK-K8S-041", "Modes can be set only for admission rules that exist.", POLICY_PAGE)
ADMISSION_EXEMPT = Rule("WK-K8S-042", "The namespace kube-system must be exempt from admission rules.", POLICY_PAGE)
ADMISSION_FAILURE = Rule("WK-K8S-043", "The failure policy of an admission rule is Fail or Ignore.", POLICY_PAGE)

MUTATING_SINCE = "1.36"
"""The first minor with MutatingAdmissionPolicy v1; before it is off by default."""
EXEMPT_NAMESPACES = ("kube-node-lease", "kube-public", "kube-system")


@dataclass(frozen=True, kw_only=True)
class WindowsAdmissionArgs:
    """The arguments of the admission policies for Windows pods."""

    kubernetes_version: str
    """Kubernetes minor of the cluster, such as ``1.36``."""
    releases: Sequence[str] = ("2022",)
    """The Windows releases that have a RuntimeClass, as in :class:`WindowsRuntimeClassesArgs`."""
    default_release: str | None = None
    """The release of Windows pods that set no build; the first of ``releases`` by default."""
    mode: str = "warn"
    """What happens to violations: ``audit``, ``warn`` (default; in the audit log too), ``deny`` or ``off``."""
    rules: Mapping[str, str] = field(default_factory=dict[str, str])
    """Modes of individual rules, such as ``{"memory_limit": "deny"}``; others use ``mode``."""
    linux_default: bool = False
    """Whether pods and DaemonSets that do not set an operating system get Linux."""
    exempt_namespaces: Sequence[str] = EXEMPT_NAMESPACES
    """Exempt namespaces; they must include ``kube-system``."""
    failure_policy: str = "Fail"
    """What happens when a policy cannot be evaluated: ``Fail`` (default) refuses the request, ``Ignore`` lets it by."""


class AdmissionLike(AdmissionSettings, Protocol):
    """What is judged, in the arguments and in the settings."""

    @property
    def kubernetes_version(self) -> str: ...  # noqa: D102


def mutating_policies(kubernetes_version: str) -> bool:
    """Whether a minor has MutatingAdmissionPolicy v1.

    >>> mutating_policies("1.35"), mutating_policies("1.36")
    (False, True)
    """
    return at_least(kubernetes_version, MUTATING_SINCE)


def check_windows_admission(args: AdmissionLike) -> Mistakes:
    """Everything that is wrong with the arguments (``WK-K8S-001``, ``-031``, ``-040`` to ``-043``)."""
    found = Mistakes()
    minors = tuple(dict.fromkeys([*EKS_KNOWN_MINORS, *SELF_MANAGED_MINORS]))
    if args.kubernetes_version not in minors:
        found.add(KUBERNETES_MINOR, ("kubernetes_version",), f"the Kubernetes minor is {one_of(minors)}",
                  f'write "{nearest(args.kubernetes_version, minors) or minors[-1]}"',
                  args.kubernetes_version)  # fmt: skip
    found.take(check_releases(args.releases))
    if not args.releases:
        found.add(
            RELEASES, ("releases",), "no Windows release is listed, so there is no RuntimeClass", 'write ["2022"]'
        )
    elif args.default_release is not None and args.default_release not in args.releases:
        found.add(RELEASES, ("default_release",), f"the default release must be {one_of(args.releases)}",
                  f'write "{args.releases[0]}", or leave it out', args.default_release)  # fmt: skip
    _check_modes(args, found)
    for index, namespace in enumerate(args.exempt_namespaces):
        if not NAMESPACE.fullmatch(namespace):
            found.add(ADMISSION_EXEMPT, ("exempt_namespaces", index), "is not the name of a namespace",
                      "write its exact name, without patterns", namespace)  # fmt: skip
    if "kube-system" not in args.exempt_namespaces:
        found.add(ADMISSION_EXEMPT, ("exempt_namespaces",), "if kube-system is not exempt, a mistake in a policy "
                  "could stop system pods", "add kube-system", list(args.exempt_namespaces))  # fmt: skip
    if args.failure_policy not in ("Fail", "Ignore"):
        found.add(ADMISSION_FAILURE, ("failure_policy",), f"the failure policy is "
                  f"{one_of(('Fail', 'Ignore'))}", 'write "Fail"', args.failure_policy)  # fmt: skip
    return found


def _check_modes(args: AdmissionLike, found: Mistakes) -> None:
    for path, mode in ((("mode",), args.mode), *((("rules", name), it) for name, it in args.rules.items())):
        if mode not in MODES:
            near = nearest(mode, tuple(MODES))
            found.add(ADMISSION_MODE, path, f"the mode is {one_of(MODES)}",
                      f'write "{near}"' if near else 'write "warn"', mode)  # fmt: skip
    for name in args.rules:
        if name not in REFUSALS:
            near = nearest(name, REFUSALS)
            found.add(ADMISSION_RULE, ("rules", name), f"the rules are {one_of(REFUSALS)}",
                      f'write "{near}"' if near else "remove it", name)  # fmt: skip


class WindowsAdmission(KubernetesComponent):
    """Windows pods on Windows nodes, and nothing that Windows cannot do.

    Make :class:`WindowsRuntimeClasses` of the same releases first and name them in ``opts.depends_on``: a pod is given
    a class that has to exist.

    :raises WinkubeError: ``WK-K8S-001``, ``WK-K8S-031``, ``WK-K8S-040`` to ``WK-K8S-043``.
    """

    mutating: bool
    """Whether pods are also changed, not only checked."""

    def __init__(self, name: str, args: WindowsAdmissionArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_windows_admission(args))
        self.mutating = mutating_policies(args.kubernetes_version)
        if not self.mutating:
            pulumi.log.warn(
                f"Kubernetes {args.kubernetes_version} has no MutatingAdmissionPolicy v1 (it came with "
                f"{MUTATING_SINCE}): pods have to name their RuntimeClass, and DaemonSets their selector, themselves",
                resource=self,
            )
        made = self.apply_manifests(name, admission_manifests(args, mutating=self.mutating))
        self.register_outputs({"mutating": self.mutating, "policies": sorted(made)})
