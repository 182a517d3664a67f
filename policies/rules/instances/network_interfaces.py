"""Addresses and traffic of instances."""

from collections.abc import Iterator

from ...frameworks import cis_eks, controls_page, fsbp
from ...model import Planned, Settings, Value, every, resource_rule
from ...resource_types import INSTANCE, LAUNCH_TEMPLATE, LAUNCHED, NETWORK_INTERFACE


@resource_rule(
    "no-public-address",
    "Instances have no public address",
    types=[*LAUNCHED],
    references=[fsbp("EC2.9"), fsbp("EC2.25"), fsbp("AutoScaling.5"), cis_eks("5.4.3")],
    steps="set associate_public_ip_address to false and start the instances in private subnets",
    url=controls_page("ec2"),
)
def no_public_address(resource: Planned, settings: Settings) -> Iterator[str]:
    """Checks what the instance itself sets; subnets-without-public-addresses checks the subnet's default."""

    def check(flag: Value) -> Iterator[str]:
        if flag.flag:
            yield f"{flag.path} gives the instances public addresses"

    flags = [resource["associatePublicIpAddress"]] if resource.type != LAUNCH_TEMPLATE else []
    if resource.type == LAUNCH_TEMPLATE:
        flags += [item["associatePublicIpAddress"] for item in resource["networkInterfaces"].items()]
    yield from every(flags, check)


@resource_rule(
    "source-destination-check",
    "Network interfaces drop traffic that is not addressed to them",
    types=[INSTANCE, NETWORK_INTERFACE],
    severity="low",
    references=[fsbp("EC2.180")],
    steps="leave source_dest_check on, except on instances that route traffic",
    url=controls_page("ec2"),
)
def source_destination_check(resource: Planned, settings: Settings) -> Iterator[str]:
    """Only NAT instances and routers need it off."""
    if resource["sourceDestCheck"].flag is False:
        yield "sourceDestCheck is off, so the instance can handle traffic that is not its own"
