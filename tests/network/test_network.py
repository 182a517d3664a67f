"""The network component: what it registers."""

from collections import Counter
from dataclasses import fields

import pytest
from winkube.core.errors import WinkubeError
from winkube.network.network import Network, NetworkArgs
from winkube.network.plan import NetworkLike
from winkube.preview.model import UNKNOWN, Plan

BOUNDARY = "arn:aws:iam::111122223333:policy/boundary"
Defaults = {"region": "eu-central-1", "tags": {"team": "platform"}}


def built(record, *, preview: bool = True, **args) -> Plan:
    return record(lambda: Network("net", NetworkArgs(**(Defaults | args))), preview=preview)


def of_type(plan: Plan, kind: str) -> list:
    return [resource for resource in plan.resources if resource.type.endswith(f":{kind}")]


def named(plan: Plan, kind: str, name: str):
    (resource,) = [resource for resource in of_type(plan, kind) if resource.name == name]
    return resource


def test_the_settings_and_the_arguments_are_judged_by_the_same_fields():
    """Every property of the shape is a field of the arguments."""
    properties = {name for name, value in vars(NetworkLike).items() if isinstance(value, property)}
    assert properties <= {field.name for field in fields(NetworkArgs)}


def test_mistakes_are_raised_before_anything_is_registered(record):
    """One error with every mistake and its path."""

    def build():
        with pytest.raises(WinkubeError) as raised:
            Network("net", NetworkArgs(region="eu-central-1", cidr="10.0.0.0/28", nat="yes", permissions_boundary="b"))
        assert "Network(net).cidr: is too small" in str(raised.value)
        assert [mistake.rule.code for mistake in raised.value.mistakes] == ["WK-NET-005", "WK-NET-010", "WK-IAM-019"]

    assert record(build).resources == []


@pytest.mark.parametrize("preview", [True, False])
def test_subnets_lie_in_their_zone_and_give_no_public_address(record, preview: bool):
    plan = built(record, preview=preview, zones=3, intra_subnets=True)
    subnets = of_type(plan, "Subnet")
    assert len(subnets) == 9
    assert {subnet.inputs["availabilityZone"] for subnet in subnets} == {
        "eu-central-1a",
        "eu-central-1b",
        "eu-central-1c",
    }
    assert all(subnet.inputs["mapPublicIpOnLaunch"] is False for subnet in subnets)
    assert named(plan, "Subnet", "net-private-b").inputs["cidrBlock"] == "10.0.64.0/18"


def test_the_vpc_resolves_names_and_its_default_group_is_closed(record):
    """Private endpoints and zones need both DNS switches; the default group has no rule."""
    plan = built(record)
    vpc = named(plan, "Vpc", "net-vpc").inputs
    assert vpc["enableDnsHostnames"] is True
    assert vpc["enableDnsSupport"] is True
    group = named(plan, "DefaultSecurityGroup", "net-default-closed").inputs
    assert group["ingress"] == []
    assert group["egress"] == []


@pytest.mark.parametrize(("nat", "gateways", "routes"), [("none", 0, 0), ("single", 1, 3), ("per_zone", 3, 3)])
def test_nat_modes(record, nat: str, gateways: int, routes: int):
    """Gateways by mode; every private table has its way out, and the tables are the same in each mode."""
    plan = built(record, preview=False, zones=3, nat=nat)
    assert len(of_type(plan, "NatGateway")) == len(of_type(plan, "Eip")) == gateways
    out = [route for route in of_type(plan, "Route") if "natGatewayId" in route.inputs]
    assert len(out) == routes
    expected = {"none": [], "single": ["net-nat-a-id"] * 3, "per_zone": [f"net-nat-{x}-id" for x in "abc"]}[nat]
    assert [route.inputs["natGatewayId"] for route in out] == expected
    assert {table.name for table in of_type(plan, "RouteTable")} == {
        "net-private-a",
        "net-private-b",
        "net-private-c",
        "net-public",
    }


def test_nat_gateways_wait_for_the_way_to_the_internet(record):
    plan = built(record)
    gateway = named(plan, "NatGateway", "net-nat-a")
    assert any(urn.endswith("::net-public-internet") for urn in gateway.options.dependencies)


def test_intra_subnets_have_no_way_out(record):
    """Their table has no route but those that gateway endpoints add."""
    plan = built(record, preview=False, intra_subnets=True)
    tables = {route.inputs["routeTableId"] for route in of_type(plan, "Route")}
    assert "net-intra-id" not in tables
    associations = [x.inputs for x in of_type(plan, "RouteTableAssociation") if x.name.startswith("net-intra")]
    assert {association["routeTableId"] for association in associations} == {"net-intra-id"}
    assert "net-intra-id" in named(plan, "VpcEndpoint", "net-endpoint-s3").inputs["routeTableIds"]


def test_a_network_without_public_subnets_has_no_way_to_the_internet(record):
    plan = built(record, public_subnets=False, nat="none")
    kinds = Counter(resource.type.rpartition(":")[2] for resource in plan.resources)
    assert not kinds.keys() & {"InternetGateway", "NatGateway", "Eip", "Route"}


def test_interface_endpoints_stand_behind_a_group_that_lets_the_vpc_in(record):
    plan = built(record, preview=False, interface_endpoints=("ecr.api", "sts"))
    endpoint = named(plan, "VpcEndpoint", "net-endpoint-ecr-api").inputs
    assert endpoint["serviceName"] == "com.amazonaws.eu-central-1.ecr.api"
    assert endpoint["privateDnsEnabled"] is True
    assert endpoint["subnetIds"] == ["net-private-a-id", "net-private-b-id"]
    assert endpoint["securityGroupIds"] == ["net-endpoints-id"]
    rule = named(plan, "SecurityGroupIngressRule", "net-endpoints-https").inputs
    assert (rule["cidrIpv4"], rule["fromPort"], rule["toPort"], rule["ipProtocol"]) == ("10.0.0.0/16", 443, 443, "tcp")


def test_load_balancers_find_the_subnets_of_their_kind(record):
    """Role tags on public and private subnets, the tag of every cluster, nothing on intra subnets."""
    plan = built(record, intra_subnets=True, cluster_names=("dev", "test"))
    public, private, intra = (named(plan, "Subnet", f"net-{role}-a").inputs["tags"] for role in
                              ("public", "private", "intra"))  # fmt: skip
    shared = {"kubernetes.io/cluster/dev": "shared", "kubernetes.io/cluster/test": "shared"}
    own = {"team": "platform"}
    assert public == {"Name": "net-public-a", "kubernetes.io/role/elb": "1"} | shared | own
    assert private == {"Name": "net-private-a", "kubernetes.io/role/internal-elb": "1"} | shared | own
    assert intra == {"Name": "net-intra-a"} | own


def test_windows_prefixes_are_reserved_in_every_private_subnet(record):
    plan = built(record, windows_prefix_reservations=5)
    found = of_type(plan, "SubnetCidrReservation")
    assert [(x.name, x.inputs["cidrBlock"], x.inputs["reservationType"]) for x in found] == [
        ("net-private-a-prefixes-0", "10.0.63.128/26", "prefix"),
        ("net-private-a-prefixes-1", "10.0.63.112/28", "prefix"),
        ("net-private-b-prefixes-0", "10.0.127.128/26", "prefix"),
        ("net-private-b-prefixes-1", "10.0.127.112/28", "prefix"),
    ]
    assert all(x.options.delete_before_replace for x in found), "an overlapping block cannot be made before"


def test_flow_logs_may_write_into_their_own_log_group_only(record):
    plan = built(record, preview=False, flow_log_retention_days=30, permissions_boundary=BOUNDARY)
    name = "net-flow-logs"
    assert named(plan, "LogGroup", name).inputs["retentionInDays"] == 30
    role = named(plan, "Role", name).inputs
    assert "vpc-flow-logs.amazonaws.com" in role["assumeRolePolicy"]
    assert role["permissionsBoundary"] == BOUNDARY
    policy = named(plan, "RolePolicy", name).inputs["policy"]
    assert '"Resource":["arn:aws:placeholder:::placeholder/net-flow-logs.arn","arn:' in policy
    log = named(plan, "FlowLog", name)
    assert log.inputs["trafficType"] == "ALL"
    assert any(urn.endswith(f"rolePolicy:RolePolicy::{name}") for urn in log.options.dependencies)


def test_flow_logs_can_be_left_out(record):
    plan = built(record, flow_log_retention_days=None)
    assert not of_type(plan, "FlowLog")
    assert not of_type(plan, "Role")


@pytest.mark.parametrize("preview", [True, False])
def test_ids_are_outputs_and_the_plan_is_plain(record, preview: bool):
    """What the address plan decides is known in a preview; what the cloud gives is not."""
    plan = built(record, preview=preview, zones=("eu-central-1c", "eu-central-1a"))
    outputs = named(plan, "Network", "net").outputs
    assert outputs["zoneNames"] == ["eu-central-1c", "eu-central-1a"]
    assert outputs["cidr"] == "10.0.0.0/16"
    assert outputs["vpcId"] == (UNKNOWN if preview else "net-vpc-id")
    assert len(outputs["privateSubnetIds"]) == len(outputs["publicSubnetIds"]) == 2
    assert outputs["intraSubnetIds"] == []


def test_no_check_of_the_preview_finds_anything(record):
    plan = built(record, zones=3, intra_subnets=True, interface_endpoints=("sts",), windows_prefix_reservations=3)
    assert plan.findings == []
