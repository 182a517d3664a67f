"""Auto Scaling groups, and what they start instances from."""

from collections.abc import Iterator

from ...frameworks import best_practices, controls_page, fsbp
from ...model import Option, Planned, Settings, resource_rule
from ...resource_types import AUTO_SCALING_GROUP, LAUNCH_CONFIGURATION, NODE_GROUP


@resource_rule(
    "launch-templates-only",
    "Instances are started from launch templates",
    types=[LAUNCH_CONFIGURATION, AUTO_SCALING_GROUP],
    severity="low",
    references=[fsbp("AutoScaling.9")],
    steps="use a launch template",
    url="https://docs.aws.amazon.com/autoscaling/ec2/userguide/launch-configurations.html",
)
def launch_templates_only(resource: Planned, settings: Settings) -> Iterator[str]:
    """AWS adds no features to launch configurations, and new accounts cannot create them."""
    if resource.type == LAUNCH_CONFIGURATION:
        yield "launch configurations are superseded by launch templates"
    elif resource["launchConfiguration"].given:
        if resource["launchTemplate"].given:  # one of the two is nothing: which, the deployment knows
            resource["launchConfiguration"].known()
        yield "the Auto Scaling group starts from a launch configuration"


@resource_rule(
    "auto-scaling-zones",
    "Auto Scaling groups span several zones",
    types=[AUTO_SCALING_GROUP],
    references=[fsbp("AutoScaling.2")],
    steps="list subnets of at least two zones in vpc_zone_identifiers; use one group per zone only for workloads that "
    "depend on a volume",
    url=controls_page("autoscaling"),
)
def auto_scaling_zones(resource: Planned, settings: Settings) -> Iterator[str]:
    """An outage of one zone must not stop the whole group. A group of exactly one machine is exempt."""
    if _one_machine(resource):
        return
    places = resource["vpcZoneIdentifiers"] if resource["vpcZoneIdentifiers"].given else resource["availabilityZones"]
    places.known()
    if len(places.items()) == 1:
        yield "the Auto Scaling group starts instances in one zone only"


@resource_rule(
    "auto-scaling-health",
    "Auto Scaling groups behind a load balancer use its health checks",
    types=[AUTO_SCALING_GROUP],
    severity="low",
    references=[fsbp("AutoScaling.1")],
    steps='set health_check_type to "ELB"',
    url=controls_page("autoscaling"),
)
def auto_scaling_health(resource: Planned, settings: Settings) -> Iterator[str]:
    """The default checks only that the machine runs. A group of exactly one machine, such as a member of etcd, is
    exempt: its replacement would start with an empty disk.
    """
    if _one_machine(resource):
        return
    balanced = any(resource[name].items() for name in ("targetGroupArns", "loadBalancers", "trafficSources"))
    if balanced and resource["healthCheckType"].text not in ("ELB", "VPC_LATTICE"):
        yield "the group is behind a load balancer but does not use its health checks"


def _one_machine(resource: Planned) -> bool:
    """Whether an Auto Scaling group keeps exactly one machine alive."""
    return resource["minSize"].number == resource["maxSize"].number == 1


@resource_rule(
    "spot-several-types",
    "Spot groups list several instance types",
    types=[NODE_GROUP],
    severity="low",
    references=[fsbp("AutoScaling.6"), best_practices("Cost optimization")],
    steps="list at least three instance types of the same size",
    url="https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html#managed-node-group-capacity-types",
    options={"minimum": Option(2, "minimum number of instance types", {"type": "integer", "minimum": 1})},
)
def spot_several_types(resource: Planned, settings: Settings) -> Iterator[str]:
    """If the only type has no spare capacity, the group stays empty."""
    types = resource["instanceTypes"]
    if resource["capacityType"].text != "SPOT":
        return
    types.known()
    if types.given and len(types.items()) < settings["minimum"]:
        yield f"the spot group names {len(types.items())} instance type: without spare capacity of it there is no node"
