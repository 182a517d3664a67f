"""Security groups."""

from collections.abc import Iterator

from ...frameworks import cis_aws, controls_page, fsbp
from ...model import Option, Planned, Settings, Undecided, Value, every, resource_rule
from ...resource_types import DEFAULT_SECURITY_GROUP, SECURITY_GROUP, SECURITY_GROUP_INGRESS, SECURITY_GROUP_RULE
from .openings import ADMIN_PORTS, PORTS, WORLD, Opening, described

RISKY_PORTS = Option(
    [20, 21, 23, 25, 110, 135, 143, 445, 1433, 1434, 2379, 2380, 3000, 3306, 4333, 5000, 5432, 5500, 5601, 8080, 8088,
     8888, 9200, 9300, 10250],
    "ports of frequently attacked services: those of EC2.19, etcd and the kubelet", PORTS,
)  # fmt: skip
PUBLIC_PORTS = Option([80, 443], "ports that may be open to everyone", PORTS)
INGRESS_TYPES = (SECURITY_GROUP, SECURITY_GROUP_RULE, SECURITY_GROUP_INGRESS)


def _openings(resource: Planned) -> Iterator[Opening]:
    """What a security group, or a rule of one, opens to everyone."""
    if resource.type == SECURITY_GROUP:
        yield from every(resource["ingress"].items(), lambda rule: _opening(rule, "cidrBlocks", "ipv6CidrBlocks"))
    elif resource.type == SECURITY_GROUP_RULE:
        if resource["type"].text == "ingress":
            yield from _opening(Value(resource.props, ""), "cidrBlocks", "ipv6CidrBlocks")
    else:
        yield from _opening(Value(resource.props, ""), "cidrIpv4", "cidrIpv6")


def _opening(rule: Value, *sources: str) -> Iterator[Opening]:
    blocks = [block for name in sources for block in (rule[name].items() or [rule[name]])]
    if not any(block.raw in WORLD for block in blocks):
        unknown = next((block for block in blocks if block.unknown), None)
        if unknown is not None:
            raise Undecided(unknown.path)
        return
    protocol = rule["protocol"] if rule["protocol"].given else rule["ipProtocol"]
    name = str(protocol.known()).lower()
    if name in ("icmp", "icmpv6", "1", "58"):
        return
    if name in ("-1", "all"):
        yield Opening(0, 65535, rule.path)
        return
    first, last = rule["fromPort"].number, rule["toPort"].number
    if first is not None:
        yield Opening(max(first, 0), 65535 if first < 0 else first if last is None else last, rule.path)


@resource_rule(
    "no-world-to-admin-ports",
    "Administration ports are not open to the internet",
    types=INGRESS_TYPES,
    severity="critical",
    level="mandatory",
    references=[fsbp("EC2.13"), fsbp("EC2.14"), fsbp("EC2.53"), fsbp("EC2.54"), cis_aws("5.2"), cis_aws("5.3")],
    steps="allow only the networks of your administrators, or use Systems Manager sessions, which need no open port",
    url=controls_page("ec2"),
    options={"ports": ADMIN_PORTS},
)
def no_world_to_admin_ports(resource: Planned, settings: Settings) -> Iterator[str]:
    """Attackers find open SSH, RDP and WinRM ports within minutes."""
    for opening in _openings(resource):
        found = opening.has(settings["ports"])
        if found:
            yield described(opening, found, "administration")


@resource_rule(
    "no-world-to-risky-ports",
    "Ports of frequently attacked services are not open to the internet",
    types=INGRESS_TYPES,
    severity="high",
    references=[fsbp("EC2.19")],
    steps="allow only the networks that need the service, or put it behind a load balancer",
    url=controls_page("ec2"),
    options={"ports": RISKY_PORTS, "adminPorts": ADMIN_PORTS},
)
def no_world_to_risky_ports(resource: Planned, settings: Settings) -> Iterator[str]:
    """Each opening is reported once, by the strictest rule that it breaks."""
    for opening in _openings(resource):
        found = opening.has(settings["ports"])
        if found and not opening.has(settings["adminPorts"]):
            yield described(opening, found, "frequently attacked")


@resource_rule(
    "only-public-ports-to-world",
    "Only the ports of public services are open to the internet",
    types=INGRESS_TYPES,
    severity="medium",
    references=[fsbp("EC2.18")],
    steps="allow only the networks that need the port, or list it in the option `ports` if it is public by design",
    url=controls_page("ec2"),
    options={"ports": PUBLIC_PORTS, "riskyPorts": RISKY_PORTS, "adminPorts": ADMIN_PORTS},
)
def only_public_ports_to_world(resource: Planned, settings: Settings) -> Iterator[str]:
    """Reports openings that the two rules above do not report and that the option `ports` does not allow."""
    public = set(settings["ports"])
    for opening in _openings(resource):
        if opening.has(settings["adminPorts"]) or opening.has(settings["riskyPorts"]):
            continue
        if not set(range(opening.first, opening.last + 1)) <= public:
            yield str(opening)


@resource_rule(
    "default-security-group-closed",
    "The default security group of a VPC allows no traffic",
    types=[DEFAULT_SECURITY_GROUP],
    severity="high",
    references=[fsbp("EC2.2"), cis_aws("5.4")],
    steps="set ingress and egress to empty lists",
    url=controls_page("ec2"),
)
def default_security_group_closed(resource: Planned, settings: Settings) -> Iterator[str]:
    """A resource gets this group when it names no other."""
    for name in ("ingress", "egress"):
        rules = resource[name]
        rules.known()
        if rules.items():
            yield f"the default security group has {name} rules"
