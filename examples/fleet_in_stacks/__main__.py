"""A part of a large fleet: Windows groups for the cluster of another stack, found by that stack's outputs.

One stack has the network, the cluster and what it needs (``examples/minimal_eks``, or the stacks of this repository);
each part of the fleet is a stack of this program, deployed and rolled by itself.
"""

import pulumi
import pulumi_aws as aws
from winkube import EksTarget, EksWindowsNodeGroup, EksWindowsNodeGroupArgs

config = pulumi.Config()
provider = aws.Provider("aws", region=pulumi.Config("aws").require("region"))
base = pulumi.StackReference(config.require("baseStack"))

# What decides which nodes can join is said here; names and ids come from the stack that made the cluster.
target = EksTarget(name=base.get_output("clusterName"), kubernetes_version="1.36")
part = pulumi.get_stack()
for number in range(1, config.require_int("groups") + 1):
    args = EksWindowsNodeGroupArgs(
        name=f"{part}-{number}",
        cluster=target,
        subnet_ids=config.require_object("subnetIds"),
        windows="2022",
        instance_types=["m6i.xlarge"],
        max_size=10,
    )
    EksWindowsNodeGroup(f"{part}-{number}", args, pulumi.ResourceOptions(providers=[provider]))
