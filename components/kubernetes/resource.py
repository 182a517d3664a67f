"""Kubernetes objects in a program: a manifest goes in as it is."""

from collections.abc import Mapping
from typing import Any

import pulumi


def kubernetes_object(name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions) -> pulumi.CustomResource:
    """Make the object that a manifest describes, of any kind, built in or custom.

    The type token is the one of the SDK's class for the kind, so a program may move from one to the other. The class
    itself would translate every key into Python's spelling and back, and bring all kinds of its group along. What the
    manifest says is checked against the schema of its kind when the program is previewed.
    """
    version = str(manifest["apiVersion"])
    group = version if "/" in version else f"core/{version}"
    return pulumi.CustomResource(f"kubernetes:{group}:{manifest['kind']}", name, dict(manifest), opts)
