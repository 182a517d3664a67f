"""Resources of the tests that look at single rules in depth."""

import base64
from collections.abc import Mapping
from typing import Any

from winkube.policies.model import UNKNOWN, Planned
from winkube.policies.resource_types import CLUSTER, NODE_GROUP, ROLE

from .cases import base
from .cases.base import urn

WINDOWS = {"amiType": "WINDOWS_CORE_2022_x86_64", "clusterName": UNKNOWN, "nodeRoleArn": UNKNOWN}
LINUX = {"amiType": "AL2023_x86_64_STANDARD", "clusterName": UNKNOWN, "nodeRoleArn": UNKNOWN}
POWERSHELL = base64.b64encode(b"<powershell>\nexit\n</powershell>").decode()
SHELL = base64.b64encode(b"#!/bin/bash\nexit\n").decode()


def planned(
    kind: str, name: str, props: Mapping[str, Any] | None = None, provider: str = "", **references: str
) -> Planned:
    """A resource whose name says which one it is."""
    return base.planned(kind, props, name, provider, **references)


def group(name: str, props: Mapping[str, Any], role: str, cluster: str = "main") -> Planned:
    return planned(NODE_GROUP, name, props, nodeRoleArn=urn(ROLE, role), clusterName=urn(CLUSTER, cluster))
