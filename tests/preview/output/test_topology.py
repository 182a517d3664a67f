"""What a plan's topology says, and of which resources."""

import pulumi
import pulumi_aws as aws
import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import SECRET_SIGNATURE, SIGNATURE_KEY, UNKNOWN_TEXT, Plan
from winkube.preview.output.topology.groups import Group
from winkube.preview.output.topology.model import Item, Region, Tier, Topology, Vpc, shown_topology
from winkube.preview.output.topology.topology import MOST_GROUPS, MOST_SIBLINGS, MOST_VPCS, build_topology

from ...conftest import Record
from ..landscapes import POWERSHELL, ROLE, eks, group, landscape, network


def region_of(topology: Topology) -> Region:
    (region,) = topology.regions
    return region


def vpc_of(topology: Topology) -> Vpc:
    (vpc,) = region_of(topology).vpcs
    return vpc


def tiers(topology: Topology) -> dict[str, Tier]:
    return {tier.role: tier for tier in vpc_of(topology).tiers}


def spanning(topology: Topology) -> dict[str, Item]:
    return {
        item.title: item
        for region in topology.regions
        for vpc in region.vpcs
        for tier in vpc.tiers
        for item in tier.items
    }


def the_group(plan: Plan) -> Group:
    (found,) = build_topology(plan).groups
    return found


@pytest.mark.parametrize("preview", [True, False])
def test_the_whole_of_a_network_is_found_though_ids_are_unknown(record: Record, *, preview: bool) -> None:
    topology = build_topology(record(landscape, preview=preview))
    assert region_of(topology).name == "eu-central-1"
    vpc = vpc_of(topology)
    assert (vpc.title, vpc.cidr, vpc.zones) == ("net-vpc", "10.0.0.0/16", ("eu-central-1a", "eu-central-1b"))
    assert [tier.role for tier in vpc.tiers] == ["public", "private", "intra"]
    first = tiers(topology)["public"].subnets[0]
    assert first is not None
    assert (first.title, first.cidr, [item.title for item in first.items]) == (
        "net-public-a",
        "10.0.0.0/24",
        ["net-nat"],
    )
    assert [(item.label, item.title, item.details) for item in vpc.items] == [
        ("Internet gateway", "net-internet", ()),
        ("VPC endpoints", "1 endpoint", ("gateway: s3",)),
    ]


def test_control_plane_and_groups_stand_in_their_subnets_the_control_plane_first(record: Record) -> None:
    topology = build_topology(record(landscape))
    private = tiers(topology)["private"]
    assert [(item.kind, item.title, item.zones) for item in private.items] == [
        ("cluster", "prod", (0, 1)),
        ("linux", "linux", (0, 1)),
        ("windows", "own", (0,)),
        ("windows", "win", (0, 1)),
    ]
    items = spanning(topology)
    assert items["prod"].details == ("Kubernetes 1.35", "endpoint private", "1 Kubernetes object")
    assert items["win"].label == "Windows Server 2022"
    assert items["win"].details == ("m6i.large", "1–3 nodes", "spot", "WINDOWS_CORE_2022_x86_64")
    assert items["own"].label == "Windows"
    assert items["own"].details == ("c5.large", "0–2 nodes", "ami-0abc")
    assert items["ingress"].details == ("internet-facing",)


def test_every_resource_is_drawn_counted_with_its_owner_or_counted_as_more(record: Record) -> None:
    plan = record(landscape)
    topology = build_topology(plan)
    assert topology.more == {"aws:sqs/queue:Queue": 1}
    real = [r for r in plan.resources if not r.type.startswith("pulumi:providers:")]
    assert topology.drawn + topology.folded + sum(topology.more.values()) == len(real)


def test_rules_roles_and_templates_are_counted_with_their_owners(record: Record) -> None:
    topology = build_topology(record(landscape))
    items = spanning(topology)
    assert items["win"].folded == 1  # its launch template
    assert items["prod"].folded == 3  # role, attachment, add-on
    kinds = {item.kind: item for item in region_of(topology).items}
    assert kinds["bucket"].folded == 1  # its versioning
    assert kinds["zone"].folded == 1  # the record, though that is made from the load balancer too
    assert items["ingress"].folded == 0


def test_an_empty_plan_has_an_empty_topology(record: Record) -> None:
    assert build_topology(record(lambda: None)) == Topology()


def test_a_plan_without_a_network_only_counts(record: Record) -> None:
    topology = build_topology(record(lambda: [aws.sqs.Queue(f"q{i}") for i in range(3)]))
    assert topology.regions == ()
    assert topology.more == {"aws:sqs/queue:Queue": 3}


def test_groups_in_existing_subnets_of_an_existing_cluster_stand_as_such(record: Record) -> None:
    plan = record(lambda: group("win", "old", ["subnet-1", "subnet-2"], "WINDOWS_FULL_2019_x86_64"))
    vpc = vpc_of(build_topology(plan, "eu-west-1"))
    assert (vpc.title, vpc.existing, vpc.urn) == ("Existing network", True, "")
    (tier,) = vpc.tiers
    assert tier.subnets[0] is not None
    assert tier.subnets[0].title == "subnet-1, subnet-2"
    assert [(item.title, item.existing) for item in tier.items] == [("old", True), ("win", False)]
    assert region_of(build_topology(plan, "eu-west-1")).name == "eu-west-1"


def test_subnets_that_only_the_deployment_knows_have_a_place(record: Record) -> None:
    def build() -> None:
        ids = pulumi.StackReference("org/network/prod").get_output("subnets")
        group("g", "c", ids)

    (tier,) = vpc_of(build_topology(record(build))).tiers
    assert tier.subnets[0] is not None
    assert tier.subnets[0].title == "subnets known after the deployment"


def test_several_vpcs_and_clusters_are_kept_apart(record: Record) -> None:
    def build() -> None:
        for name in ("blue", "green"):
            subnets = network(name)["private"]
            cluster = eks(name, subnets)
            group(f"{name}-nodes", cluster.name, [subnet.id for subnet in subnets])

    region = region_of(build_topology(record(build)))
    held = {vpc.title: [item.title for tier in vpc.tiers for item in tier.items] for vpc in region.vpcs}
    assert held == {"blue-vpc": ["blue", "blue-nodes"], "green-vpc": ["green", "green-nodes"]}
    items = spanning(build_topology(record(build)))
    assert items["blue-nodes"].details[-1] == "cluster blue"


def test_vpcs_of_several_regions_stand_in_theirs(record: Record) -> None:
    def build() -> None:
        network("a", "eu-central-1")
        network("b", "us-east-1")
        there = aws.Provider("there", region="ap-south-1")
        aws.s3.Bucket("far", opts=pulumi.ResourceOptions(provider=there))
        aws.s3.Bucket("further", region="ca-central-1")

    topology = build_topology(record(build))
    assert [(r.name, len(r.vpcs), len(r.items)) for r in topology.regions] == [
        ("ap-south-1", 0, 1), ("ca-central-1", 0, 1), ("eu-central-1", 1, 0), ("us-east-1", 1, 0),
    ]  # fmt: skip


def test_many_groups_share_boxes_and_stay_in_the_table(record: Record) -> None:
    def build() -> None:
        for index in range(MOST_GROUPS + 1):
            group(f"g{index}", "c", ["subnet-1"], "WINDOWS_CORE_2025_x86_64" if index % 2 else "BOTTLEROCKET_x86_64")

    topology = build_topology(record(build))
    (tier,) = vpc_of(topology).tiers
    assert [(item.title, item.label, item.details) for item in tier.items] == [
        ("c", "Existing control plane", ()),
        ("16 groups", "Bottlerocket", ("16–48 nodes together", "m6i.large")),
        ("15 groups", "Windows Server 2025", ("15–45 nodes together", "m6i.large")),
    ]
    assert len(topology.groups) == MOST_GROUPS + 1


def test_many_buckets_share_a_box(record: Record) -> None:
    region = region_of(build_topology(record(lambda: [aws.s3.Bucket(f"b{i}") for i in range(MOST_SIBLINGS + 1)])))
    (item,) = region.items
    assert (item.title, item.details) == ("7 S3 buckets", ("b0, b1, b2, b3 …",))


def test_many_vpcs_are_counted(record: Record) -> None:
    count = MOST_VPCS + 4
    region = region_of(
        build_topology(record(lambda: [aws.ec2.Vpc(f"v{i}", cidr_block="10.0.0.0/16") for i in range(count)]))
    )
    assert (len(region.vpcs), region.more_vpcs) == (MOST_VPCS, 4)


def test_subnets_without_a_known_zone_are_numbered(record: Record) -> None:
    def build() -> None:
        vpc = aws.ec2.Vpc("v", cidr_block="10.0.0.0/16")
        zones = aws.get_availability_zones_output(state="available")
        for index in range(2):
            aws.ec2.Subnet(f"s{index}", vpc_id=vpc.id, cidr_block=f"10.0.{index}.0/24",
                           availability_zone=zones.names.apply(lambda names, i=index: names[i]))  # fmt: skip

    zones = vpc_of(build_topology(record(build))).zones
    assert len(zones) == 2


# -- roles of subnets ------------------------------------------------------------------------------------------


def role_with(record: Record, *, own_table: bool, **route: str) -> str:
    """The role of a subnet whose route table has one route."""

    def build() -> None:
        vpc = aws.ec2.Vpc("v", cidr_block="10.0.0.0/16")
        subnet = aws.ec2.Subnet("s", vpc_id=vpc.id, cidr_block="10.0.0.0/24", availability_zone="eu-central-1a")
        targets = {
            "internet": lambda: {"gateway_id": aws.ec2.InternetGateway("i", vpc_id=vpc.id).id},
            "vpn": lambda: {"gateway_id": aws.ec2.VpnGateway("v", vpc_id=vpc.id).id},
            "nat": lambda: {"nat_gateway_id": aws.ec2.NatGateway("n", subnet_id=subnet.id).id},
            "transit": lambda: {"transit_gateway_id": "tgw-1"},
            "local": lambda: {"gateway_id": "local"},
        }
        way = targets[route["to"]]()
        if own_table:
            table = aws.ec2.RouteTable("t", vpc_id=vpc.id, routes=[{"cidr_block": route["end"], **way}])
            aws.ec2.RouteTableAssociation("a", route_table_id=table.id, subnet_id=subnet.id)
        else:
            aws.ec2.Route("r", route_table_id=vpc.main_route_table_id, destination_cidr_block=route["end"], **way)

    (tier,) = vpc_of(build_topology(record(build))).tiers
    return tier.role


@pytest.mark.parametrize("own_table", [True, False])
@pytest.mark.parametrize(
    ("to", "end", "role"),
    [
        ("internet", "0.0.0.0/0", "public"),
        ("vpn", "192.168.0.0/16", "private"),
        ("nat", "0.0.0.0/0", "private"),
        ("transit", "0.0.0.0/0", "private"),
        ("transit", "10.8.0.0/16", "intra"),
        ("local", "10.0.0.0/16", "intra"),
    ],
)
def test_a_subnet_has_the_role_of_its_routes(record: Record, to: str, end: str, role: str, *, own_table: bool) -> None:
    """Routes inside a table, and routes added to the VPC's main table."""
    assert role_with(record, own_table=own_table, to=to, end=end) == role


def test_subnets_of_a_foreign_vpc_have_the_role_of_their_tags_or_none(record: Record) -> None:
    def build() -> None:
        tags = {"public": {"kubernetes.io/role/elb": "1"}, "plain": {}}
        for index, (name, tag) in enumerate(tags.items()):
            aws.ec2.Subnet(name, vpc_id="vpc-1", cidr_block=f"10.0.{index}.0/24", tags=tag,
                           availability_zone="eu-central-1a")  # fmt: skip

    vpc = vpc_of(build_topology(record(build)))
    assert (vpc.title, vpc.existing) == ("vpc-1", True)
    assert {tier.role: tier.subnets[0].title for tier in vpc.tiers if tier.subnets[0]} == {
        "public": "public",
        "": "plain",
    }


# -- groups ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ami_type", "kind", "system"),
    [
        ("WINDOWS_CORE_2019_x86_64", "windows", "Windows Server 2019"),
        ("WINDOWS_FULL_2025_x86_64", "windows", "Windows Server 2025"),
        ("AL2023_ARM_64_STANDARD", "linux", "Amazon Linux 2023"),
        ("BOTTLEROCKET_x86_64", "linux", "Bottlerocket"),
        ("AL2_x86_64", "linux", "Amazon Linux 2"),
        (None, "linux", "Amazon Linux"),
        ("CUSTOM", "nodes", ""),
    ],
)
def test_a_managed_group_runs_what_its_ami_type_says(
    record: Record, ami_type: str | None, kind: str, system: str
) -> None:
    found = the_group(record(lambda: group("g", "c", ["s"], ami_type)))
    assert (found.kind, found.system) == (kind, system)


def test_a_component_speaks_for_its_group(record: Record) -> None:
    class Windows(pulumi.ComponentResource):
        def __init__(self) -> None:
            super().__init__("demo:index:Windows", "w")
            aws.autoscaling.Group("g", min_size=1, max_size=1, vpc_zone_identifiers=["s"],
                                  opts=pulumi.ResourceOptions(parent=self))  # fmt: skip
            self.register_outputs({"windowsRelease": "2025", "amiParameter": "/aws/service/x/image_id"})

    found = the_group(record(Windows))
    assert (found.system, found.image, found.size) == ("Windows Server 2025", "/aws/service/x/image_id", "1")


@pytest.mark.parametrize(
    ("template", "kind", "system"),
    [
        ({"user_data": POWERSHELL}, "windows", "Windows"),
        ({"user_data": "IyEvYmluL2Jhc2gKZWNobyBoaQo="}, "linux", "Linux"),
        ({"image_id": "resolve:ssm:/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS/image_id"},
         "windows", "Windows Server 2022"),
        ({"image_id": "resolve:ssm:/aws/service/bottlerocket/latest/image_id"}, "linux", "Bottlerocket"),
        ({}, "nodes", ""),
    ],
)  # fmt: skip
def test_a_self_managed_group_runs_what_its_template_says(
    record: Record, template: dict[str, str], kind: str, system: str
) -> None:
    def build() -> None:
        made = aws.ec2.LaunchTemplate("t", instance_type="m5.large", **template)
        aws.autoscaling.Group("g", min_size=1, max_size=2, vpc_zone_identifiers=["s"], launch_template={"id": made.id})

    found = the_group(record(build))
    assert (found.kind, found.system, found.instance_types) == (kind, system, ("m5.large",))


def test_taints_tell_windows_where_nothing_else_does(record: Record) -> None:
    taints = [{"key": "os", "value": "windows", "effect": "NO_SCHEDULE"}]
    assert the_group(record(lambda: group("g", "c", ["s"], None, taints=taints))).kind == "windows"


def test_a_control_plane_on_ec2_makes_its_cluster_no_stranger(record: Record) -> None:
    def build() -> None:
        for name in ("control-plane", "workers"):
            tags = [{"key": "kubernetes.io/cluster/kubeadm", "value": "owned", "propagate_at_launch": True}]
            aws.autoscaling.Group(name, min_size=3, max_size=3, vpc_zone_identifiers=["s"], tags=tags)

    (tier,) = vpc_of(build_topology(record(build))).tiers
    assert [(item.kind, item.title, item.existing) for item in tier.items] == [
        ("control-plane", "control-plane", False),
        ("nodes", "workers", False),
    ]


def test_types_and_sizes_of_a_mixed_group_are_told(record: Record) -> None:
    overrides = [{"instance_type": kind} for kind in ("m5.large", "m6i.large", "m6a.large", "m7i.large")]
    policy = {
        "launch_template": {"launch_template_specification": {"launch_template_id": "lt-1"}, "overrides": overrides}
    }
    plan = record(lambda: aws.autoscaling.Group(
        "g", min_size=1, max_size=9, vpc_zone_identifiers=["s"], mixed_instances_policy=policy
    ))  # fmt: skip
    assert the_group(plan).facts == ("m5.large, m6i.large, m6a.large …", "1–9 nodes")


def test_single_instances_and_fargate_profiles_are_groups(record: Record) -> None:
    def build() -> None:
        aws.ec2.Instance("bastion", subnet_id="subnet-1", instance_type="t3.micro", ami="ami-1")
        aws.eks.FargateProfile("f", cluster_name="c", pod_execution_role_arn=ROLE, subnet_ids=["subnet-1"],
                               selectors=[{"namespace": "x"}])  # fmt: skip

    found = {g.name: (g.kind, g.facts) for g in build_topology(record(build)).groups}
    assert found == {"bastion": ("nodes", ("t3.micro", "1 node", "ami-1")), "f": ("fargate", ())}


# -- secrets, order, strangeness -------------------------------------------------------------------------------


def test_no_secret_gets_into_a_topology(record: Record) -> None:
    def build() -> None:
        hidden = pulumi.Output.secret("hidden-word")
        aws.s3.Bucket("b", bucket=hidden)
        aws.route53.Zone("z", name=hidden)
        aws.kms.Key("k", description=hidden)
        group("g", hidden, [hidden], None, instance_types=[hidden])
        aws.ec2.Vpc("v", cidr_block=hidden)

    assert "hidden-word" not in repr(build_topology(record(build)))


def test_shown_topology_changes_every_text_but_what_steers(record: Record) -> None:
    topology = shown_topology(build_topology(record(landscape)), lambda text: text.replace("o", "0"))
    item = spanning(topology)["pr0d"]
    assert (item.kind, item.label) == ("cluster", "EKS c0ntr0l plane")


def test_equal_plans_give_equal_topologies(record: Record) -> None:
    assert build_topology(record(landscape)) == build_topology(record(landscape))


STRANGE = (UNKNOWN_TEXT, {SIGNATURE_KEY: SECRET_SIGNATURE, "value": "x"})
"""An unknown value and a secret, as the protocol spells them."""
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8) | st.sampled_from(STRANGE),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.sampled_from([
        "aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet", "aws:ec2/route:Route", "aws:ec2/routeTable:RouteTable",
        "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup", "aws:autoscaling/group:Group",
        "aws:lb/loadBalancer:LoadBalancer", "aws:ec2/vpcEndpoint:VpcEndpoint", "aws:route53/zone:Zone",
    ]),
    st.dictionaries(
        st.sampled_from([
            "vpcId", "subnetId", "subnetIds", "routes", "cidrBlock", "availabilityZone", "vpcConfig", "scalingConfig",
            "instanceTypes", "tags", "taints", "labels", "userData", "clusterName", "amiType", "mixedInstancesPolicy",
            "vpcZoneIdentifiers", "subnets", "serviceName", "version", "internal", "region", "gatewayId", "name",
            "routeTableId",
        ]),
        _VALUES,
    ),
)  # fmt: skip
def test_inputs_of_any_shape_make_a_topology(token: str, inputs: dict[str, object]) -> None:
    """A program may pass anything: the checks say so, and the topology goes on."""

    class Anything(pulumi.CustomResource):
        def __init__(self) -> None:
            super().__init__(token, "x", dict(inputs))

    topology = build_topology(evaluate_function(Anything))
    assert topology.drawn + topology.folded + sum(topology.more.values()) == 1
