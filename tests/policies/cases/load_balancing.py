"""Cases of the rules in ``rules/load_balancing.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import CLASSIC_LOAD_BALANCER

from .base import Case, one, planned

LOAD_BALANCER, LISTENER = "aws:lb/loadBalancer:LoadBalancer", "aws:alb/listener:Listener"

CASES = {
    "listeners-use-tls": Case(
        [
            [planned(LISTENER, {"protocol": "HTTPS", "defaultActions": [{"type": "forward"}]})],
            [planned(LISTENER, {"protocol": "HTTP", "defaultActions": [{"type": "redirect"}]})],
            [planned(LISTENER, {"protocol": "TCP", "defaultActions": [{"type": "forward"}]})],
            [planned(CLASSIC_LOAD_BALANCER, {"listeners": [{"lbProtocol": "https", "lbPort": 443}]})],
        ],
        [
            [planned(LISTENER, {"protocol": "HTTP", "defaultActions": [{"type": "forward"}]})],
            [planned(LISTENER, {"port": 80, "defaultActions": [{"type": "forward"}]})],
            [planned(CLASSIC_LOAD_BALANCER, {"listeners": [{"lbProtocol": "http", "lbPort": 80}]})],
        ],
        [
            [planned(LISTENER, {"protocol": UNKNOWN, "defaultActions": [{"type": "forward"}]})],
            [planned(LISTENER, {"protocol": "HTTP", "defaultActions": UNKNOWN})],
        ],
        "serves plain text",
    ),
    "listeners-tls-policy": one(
        LISTENER,
        [{"protocol": "HTTPS", "sslPolicy": "ELBSecurityPolicy-TLS13-1-2-Res-2021-06"}, {"protocol": "HTTP"}],
        [{"protocol": "HTTPS"}, {"protocol": "TLS", "sslPolicy": "ELBSecurityPolicy-2016-08"}],
        [{"protocol": "HTTPS", "sslPolicy": UNKNOWN}],
        "TLS",
    ),
    "load-balancer-logs": one(
        LOAD_BALANCER,
        [{"accessLogs": {"bucket": UNKNOWN, "enabled": True}}, {"loadBalancerType": "gateway"}],
        [{}, {"accessLogs": {"bucket": "b"}}, {"accessLogs": {"bucket": "b", "enabled": False}}],
        [{"accessLogs": UNKNOWN}],
        "writes no access log",
        {"when": "always"},
    ),
    "load-balancer-deletion-protection": one(
        LOAD_BALANCER,
        [{"enableDeletionProtection": True}],
        [{}],
        [{"enableDeletionProtection": UNKNOWN}],
        "can be deleted in one step",
        stack="prod",
    ),
    "load-balancer-invalid-headers": one(
        LOAD_BALANCER,
        [{"dropInvalidHeaderFields": True}, {"loadBalancerType": "network"}],
        [{}],
        [{"dropInvalidHeaderFields": UNKNOWN}, {"loadBalancerType": UNKNOWN}],
        "are passed on",
    ),
    "load-balancer-desync": one(
        LOAD_BALANCER,
        [{}, {"desyncMitigationMode": "strictest"}],
        [{"desyncMitigationMode": "monitor"}],
        [{"desyncMitigationMode": UNKNOWN}],
        "counted, not blocked",
    ),
    "load-balancer-zones": one(
        LOAD_BALANCER,
        [{"subnets": [UNKNOWN, UNKNOWN]}, {}],
        [{"subnets": [UNKNOWN]}],
        [{"subnets": UNKNOWN}],
        "one zone only",
    ),
}
