"""One RuntimeClass per Windows release: where a Windows pod belongs, said in one word.

``runtimeClassName: windows-2022`` in a pod gives it the node selector (system and build: container images must be of
the host's build) and the toleration of the Windows taint. DaemonSets must repeat both in their template, for their
controller does not read the RuntimeClass. Source: EKS best practices guide, "Windows workload scheduling".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pulumi

from ..core.component import Component
from ..core.mistakes import Mistakes
from ..kubernetes.resource import kubernetes_object
from .runtime_class_manifests import check_releases, runtime_class_manifest, runtime_class_name


@dataclass(frozen=True, kw_only=True)
class WindowsRuntimeClassesArgs:
    """The arguments of the RuntimeClasses."""

    releases: Sequence[str] = ("2022",)
    """The Windows releases of the cluster's nodes."""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    """Labels of the objects."""


class WindowsRuntimeClasses(Component):
    """A RuntimeClass ``windows-<release>`` for each release. Needs a Kubernetes provider in ``opts.providers``.

    :raises WinkubeError: ``WK-K8S-001``.
    """

    names: list[str]
    """The names of the RuntimeClasses."""

    def __init__(self, name: str, args: WindowsRuntimeClassesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_runtime_classes(args))
        for release in args.releases:
            manifest = runtime_class_manifest(release, args.labels)
            kubernetes_object(f"{name}-{runtime_class_name(release)}", manifest, self.child())
        self.names = [runtime_class_name(release) for release in args.releases]
        self.register_outputs({"names": self.names})


def check_runtime_classes(args: WindowsRuntimeClassesArgs) -> Mistakes:
    """Every mistake in the arguments."""
    return check_releases(args.releases)
