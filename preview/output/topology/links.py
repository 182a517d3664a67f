"""Which resource of a plan belongs to which: read from what a property depends on, and from values that are known.

In a preview ids are unknown, so a subnet's ``vpcId`` says nothing; but the engine is told for every property which
resources it was made from, and that is enough.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...model import Plan, Reference, Resource, Secret, walk

FORWARD = (
    "aws:alb/", "aws:autoscaling/", "aws:ec2/default", "aws:ec2/eipAssociation", "aws:ec2/flowLog",
    "aws:ec2/mainRouteTable", "aws:ec2/network", "aws:ec2/route", "aws:ec2/securityGroup", "aws:ec2/subnet",
    "aws:ec2/tag", "aws:ec2/vpc", "aws:eks/", "aws:iam/openIdConnectProvider", "aws:kms/", "aws:lb/", "aws:elb/",
    "aws:route53/", "aws:s3/", "aws:vpc/", "aws:iam/rolePolic", "aws:iam/policyAttachment",
)  # fmt: skip
"""Types (by their beginning) that belong to what they are made from: a rule to its security group."""
BACKWARD = (
    "aws:ec2/eip:", "aws:ec2/keyPair", "aws:ec2/launch", "aws:ec2/placementGroup", "aws:iam/instanceProfile",
    "aws:iam/policy:", "aws:iam/role:", "aws:cloudwatch/logGroup",
)  # fmt: skip
"""Types that belong to what is made from them: a launch template to its group."""
_DECIDING = {"aws:route53/record:Record": "zoneId", "aws:kms/alias:Alias": "targetKeyId"}
"""The property that names the owner, where a type depends on several candidates."""


class Links:
    """Answers who belongs to whom in one plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._by_value: dict[tuple[str, str], Resource] = {}
        for resource in plan.resources:
            for value in (resource.id, resource.inputs.get("name"), resource.inputs.get("bucket")):
                if isinstance(value, str) and value:
                    self._by_value.setdefault((resource.type, value), resource)

    def made_from(self, resource: Resource, *properties: str) -> Iterator[Resource]:
        """The resources that the properties (all of them by default) were made from, by URN."""
        sources = resource.options.property_dependencies
        wanted = properties or tuple(sorted(sources))
        found = {urn for name in wanted for urn in sources.get(name, ())}
        for name in wanted:
            found |= {value.urn for _, value in walk(resource.inputs.get(name)) if isinstance(value, Reference)}
        yield from (self._plan.by_urn[urn] for urn in sorted(found) if urn in self._plan.by_urn)

    def find(self, resource: Resource, property_: str, types: Iterable[str]) -> list[Resource]:
        """The resources of these types that a property means: by known values if all are known, else by origin.

        The property may be a path, such as ``vpcConfig.subnetIds``; origins are told for its first part only.
        """
        types, path = tuple(types), property_.split(".")
        known = [self.named(types, value) for value in texts(part(resource.inputs, *path))]
        if known and all(known):
            return [found for found in known if found]
        return [found for found in self.made_from(resource, path[0]) if found.type in types]

    def named(self, types: Iterable[str], value: str) -> Resource | None:
        """The resource of one of these types with this id or name."""
        return next((self._by_value[kind, value] for kind in types if (kind, value) in self._by_value), None)

    def ancestors(self, resource: Resource) -> Iterator[Resource]:
        """The components around a resource, the nearest first."""
        parent = self._plan.by_urn.get(resource.parent)
        while parent is not None:
            yield parent
            parent = self._plan.by_urn.get(parent.parent)

    def provider(self, resource: Resource) -> Resource | None:
        """The explicit provider of a resource."""
        return self._plan.by_urn.get(resource.options.provider.rpartition("::")[0])


def texts(value: Any) -> list[str]:
    """The known texts inside a value; empty unless all of it is known, for half a list of subnets is misleading."""
    leaves = [leaf for _, leaf in walk(value)]
    if not all(isinstance(leaf, str) for leaf in leaves):
        return []
    return [str(leaf) for leaf in leaves]


def text(value: Any) -> str:
    """A known text or whole number as text, ``""`` for everything else: secrets and unknowns never get further."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return ""


def part(value: Any, *path: str | int) -> Any:
    """What stands in a nested value under a path; None where nothing does, or where it is secret or unknown."""
    for key in path:
        if isinstance(value, dict) and isinstance(key, str):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return None if isinstance(value, Secret) else value


def owners(plan: Plan, links: Links, drawn: Mapping[str, int]) -> dict[str, str]:
    """URN of each accessory (a rule, an association, a role, …) to the URN of the drawn resource it belongs to.

    ``drawn`` has the rank of everything that is drawn; where an accessory touches several, the lowest rank has it.
    """
    found: dict[str, str] = {}
    users = _users(plan)

    def best(candidates: Iterable[str]) -> str:
        reached = {found.get(urn, urn) for urn in candidates}
        return min((urn for urn in reached if urn in drawn), key=lambda urn: (drawn[urn], urn), default="")

    nearest = {parent: best(child.urn for child in children) for parent, children in plan.children.items()}

    def forward(resource: Resource) -> str:
        deciding = _DECIDING.get(resource.type)
        first = best(r.urn for r in links.made_from(resource, deciding)) if deciding else ""
        return first or best(r.urn for r in links.made_from(resource))

    def backward(resource: Resource) -> str:
        return best(users.get(resource.urn, ()))

    def around(resource: Resource) -> str:
        return next(filter(None, (nearest.get(component.urn, "") for component in links.ancestors(resource))), "")

    left = [r for r in plan.resources if r.custom and r.urn not in drawn and r.type.startswith(FORWARD + BACKWARD)]
    for ahead, behind in ((forward, backward), (backward, forward), (around, around)):
        settled = True
        while settled:  # an accessory of an accessory waits until that one has its owner
            settled = {}
            for resource in left:
                owner = (ahead if resource.type.startswith(FORWARD) else behind)(resource)
                if owner:
                    settled[resource.urn] = owner
            found |= settled
            left = [resource for resource in left if resource.urn not in settled]
    return found


def _users(plan: Plan) -> dict[str, set[str]]:
    """URN to the URNs of the resources that are made from it."""
    users: dict[str, set[str]] = {}
    for resource in plan.resources:
        for urns in resource.options.property_dependencies.values():
            for urn in urns:
                users.setdefault(urn, set()).add(resource.urn)
    return users
