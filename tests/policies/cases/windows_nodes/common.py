"""What several of these cases are made of."""

import json
from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import ADDON, INSTANCE_PROFILE, LAUNCH_TEMPLATE

from ..base import MAIN, PROVIDER, Case, cluster, one, planned, powershell, urn, windows_group

WINDOWS = "WINDOWS_CORE_2022_x86_64"


def addon(values: Any, name: str = "vpc-cni") -> Any:
    text = values if values is UNKNOWN or isinstance(values, str) else json.dumps(values)
    props = {"addonName": name, "configurationValues": text, "clusterName": UNKNOWN}
    return planned(ADDON, props, name, clusterName=MAIN)


def template(**props: Any) -> Any:
    return planned(LAUNCH_TEMPLATE, props, "w", iamInstanceProfile=urn(INSTANCE_PROFILE, "w"))


IN_TEMPLATE = {"launchTemplate": {"id": UNKNOWN, "version": "1"}}
ON, OFF = addon({"enableWindowsIpam": "true"}), addon({"enableWindowsIpam": "false"})
NODES = [cluster(), windows_group(), PROVIDER]


def user_data(good: list[str], bad: list[str], says: str, **more: Any) -> Case:
    return one(
        LAUNCH_TEMPLATE,
        [{}, *({"userData": powershell(text)} for text in good)],
        [{"userData": powershell(text)} for text in bad],
        [{"userData": UNKNOWN}],
        says,
        **more,
    )
