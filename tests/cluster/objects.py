"""The Kubernetes objects of an evaluated program, as manifests that an API server takes."""

from collections.abc import Iterable, Mapping
from typing import Any, cast

from winkube.preview.model import UNKNOWN, Plan, Reference, Resource, Secret

from .client import ApiError, Client, Manifest

_FIRST = ("Namespace", "CustomResourceDefinition", "RuntimeClass", "ServiceAccount", "ConfigMap")
_HELM = "kubernetes:helm.sh/"


def objects_of(plan: Plan) -> list[Manifest]:
    """Every object that the program puts into a cluster, namespaces first; Helm releases are no objects."""
    found = [manifest_of(resource) for resource in plan.resources if _is_object(resource)]
    return sorted(found, key=lambda it: _FIRST.index(it["kind"]) if it["kind"] in _FIRST else len(_FIRST))


def releases_of(plan: Plan) -> list[str]:
    """The charts that the program installs: their objects are made by Helm, not by us."""
    return sorted(str(it.inputs["name"]) for it in plan.resources if it.type.startswith(_HELM))


def manifest_of(resource: Resource) -> Manifest:
    """The inputs as the provider would send them: without its own annotations, numbers as integers again."""
    manifest = _plain(resource.inputs)
    metadata = manifest.setdefault("metadata", {})
    metadata.setdefault("name", resource.name)
    annotations = {key: value for key, value in metadata.pop("annotations", {}).items() if "pulumi.com/" not in key}
    if annotations:
        metadata["annotations"] = annotations
    return manifest


def not_served(client: Client, manifests: Iterable[Mapping[str, Any]]) -> set[str]:
    """The kinds that the server does not know, as ``group/version/Kind``: custom ones, without their definition."""
    missing: set[str] = set()
    for manifest in manifests:
        try:
            client.path(manifest["apiVersion"], manifest["kind"])
        except ApiError:
            missing.add(f"{manifest['apiVersion']}/{manifest['kind']}")
    return missing


def _is_object(resource: Resource) -> bool:
    return resource.custom and resource.type.startswith("kubernetes:") and not resource.type.startswith(_HELM)


def _plain(value: Any) -> Any:
    if isinstance(value, Secret):
        return _plain(value.value)
    if isinstance(value, Reference):
        return value.id
    if value is UNKNOWN:
        raise ValueError("the program was evaluated as a preview: evaluate it as an update")
    if isinstance(value, dict):
        known = cast(dict[str, Any], value)
        return {key: _plain(inner) for key, inner in known.items() if inner is not None}
    if isinstance(value, list):
        return [_plain(inner) for inner in cast(list[Any], value)]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
