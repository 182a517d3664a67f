"""What several of these cases are made of."""

from typing import Any

from winkube.policies.resource_types import POD
from winkube.tables.windows import BUILD_LABEL

from ..base import linux, planned, windows

OS = "kubernetes.io/os"
CORE = "mcr.microsoft.com/windows/servercore"
SELECTED = {"nodeSelector": {OS: "windows"}}


def security(**fields: Any) -> Any:
    return windows(securityContext=fields)


def volumes(**source: Any) -> Any:
    return windows({"volumes": [{"name": "v", **source}]})


def build(number: str, **fields: Any) -> Any:
    return windows({"nodeSelector": {OS: "windows", BUILD_LABEL: f"10.0.{number}"}}, **fields)


def host_process(**fields: Any) -> Any:
    options = {"windowsOptions": {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\SYSTEM"}}
    return windows({"securityContext": options, "hostNetwork": True, **fields}, {"namespace": "kube-system"})


def labelled(props: Any, **labels: str) -> Any:
    return {**props, "metadata": {**props["metadata"], "labels": labels}}


def selecting(kind: str, labels: Any) -> Any:
    return planned(kind, {"metadata": {}, "spec": {"podSelector": {"matchLabels": labels}}})


SHOP = planned(POD, labelled(windows(), app="shop"))
LINUX_SHOP = planned(POD, labelled(linux(), app="shop"))
