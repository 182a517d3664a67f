"""Network ACLs."""

from collections.abc import Iterator

from ...frameworks import cis_aws, controls_page, fsbp
from ...model import Planned, Settings, Value, every, resource_rule
from ...resource_types import NETWORK_ACL, NETWORK_ACL_RULE
from .openings import ADMIN_PORTS, WORLD, Opening, described


@resource_rule(
    "network-acl-admin-ports",
    "Network ACLs do not open administration ports to the internet",
    types=[NETWORK_ACL, NETWORK_ACL_RULE],
    references=[fsbp("EC2.21"), cis_aws("5.1")],
    steps="allow these ports only from the networks of your administrators",
    url=controls_page("ec2"),
    options={"ports": ADMIN_PORTS},
)
def network_acl_admin_ports(resource: Planned, settings: Settings) -> Iterator[str]:
    """A rule that allows all traffic counts too."""

    def check(rule: Value) -> Iterator[str]:
        action = rule["action"] if rule["action"].given else rule["ruleAction"]
        sources = (rule["cidrBlock"].raw, rule["ipv6CidrBlock"].raw)
        if str(action.known()).lower() != "allow" or not any(source in WORLD for source in sources):
            return
        first, last = rule["fromPort"].number or 0, rule["toPort"].number or 0
        if str(rule["protocol"].known()) in ("-1", "all") or (first, last) == (0, 0):
            first, last = 0, 65535
        elif str(rule["protocol"].raw).lower() not in ("tcp", "6"):
            return
        found = Opening(first, last, rule.path).has(settings["ports"])
        if found:
            opening = Opening(first, last, rule.path)
            yield described(opening, found, "administration")

    if resource.type == NETWORK_ACL:
        yield from every(resource["ingress"].items(), check)
    elif resource["egress"].flag is not True:
        yield from check(Value(resource.props, ""))
