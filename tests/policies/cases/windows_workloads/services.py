"""Cases of the rules in ``rules/windows_workloads/services.py``."""

from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import DEPLOYMENT, SERVICE

from ..base import Case, one, planned
from .common import LINUX_SHOP, SELECTED, SHOP


def service(**spec: Any) -> Any:
    return planned(SERVICE, {"metadata": {"name": "s"}, "spec": {"selector": {"app": "shop"}, **spec}})


CASES = {
    "windows-service-size": one(
        DEPLOYMENT,
        [
            {"spec": {"replicas": 3, "template": {"spec": SELECTED}}},
            {"spec": {"replicas": 2000, "template": {"spec": {}}}},
        ],
        [{"spec": {"replicas": 2000, "template": {"spec": SELECTED}}}],
        [{"spec": {"replicas": UNKNOWN, "template": {"spec": SELECTED}}}],
        "2000 pods are more than the 1024",
    ),
    "windows-service-affinity": Case(
        [[SHOP, service()], [LINUX_SHOP, service(sessionAffinityConfig={"clientIP": {"timeoutSeconds": 10}})]],
        [[SHOP, service(sessionAffinityConfig={"clientIP": {"timeoutSeconds": 10}})]],
        [[SHOP, service(sessionAffinityConfig=UNKNOWN)]],
        "timeoutSeconds",
    ),
    "windows-service-ipv4": Case(
        [[SHOP, service(ipFamilies=["IPv4"])], [LINUX_SHOP, service(ipFamilies=["IPv6"])]],
        [[SHOP, service(ipFamilies=["IPv6"])], [SHOP, service(ipFamilyPolicy="RequireDualStack")]],
        [[SHOP, service(ipFamilies=UNKNOWN)]],
        "no IPv6 addresses",
    ),
}
