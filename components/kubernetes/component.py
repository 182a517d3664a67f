"""Components whose children are Kubernetes objects, each from its manifest."""

from collections.abc import Mapping
from typing import Any

import pulumi

from ..core.component import Component
from .resource import kubernetes_object


class KubernetesComponent(Component):
    """A component of Kubernetes objects. Needs a Kubernetes provider in ``opts.providers``."""

    def apply_manifests(
        self, name: str, manifests: Mapping[str, Mapping[str, Any]], **options: Any
    ) -> dict[str, pulumi.CustomResource]:
        """Make every object as ``<name>-<part>``; one called ``namespace`` comes before the others."""
        made: dict[str, pulumi.CustomResource] = {}
        for part, manifest in manifests.items():
            first = {"depends_on": [made["namespace"]]} if "namespace" in made else {}
            made[part] = kubernetes_object(f"{name}-{part}", manifest, self.child(**{**first, **options}))
        return made
