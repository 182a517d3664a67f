"""Groups of nodes of an EKS cluster: Linux and Windows, managed by EKS or by their own Auto Scaling group.

For every group:

- a node role of its own (an access entry has one type, so Linux and Windows never share one);
- a launch template: metadata by session tokens, one hop, encrypted gp3 disks, tags for what is launched;
- the managed node group, or the Auto Scaling group of a self-managed one;
- an access entry, made before the nodes, where EKS cannot know the system by itself;
- the tags from which the autoscaler knows a node before there is one.

There is one path for all of them; ``group_plan`` decides the differences from the tables.
"""

from collections.abc import Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.order import ordered_after
from ..core.tags import named
from ..ec2.instance_rules import CAPACITY_TYPES
from ..ec2.launch_template import block_device_mappings, metadata_options, tag_specifications
from ..ec2.warm_pool import POOL_STATES, WarmPool
from ..roles.role import NodeRole
from ..scheduling.autoscaler import AUTOSCALER, autoscaler_discovery_tags
from ..scheduling.labels import eks_taints
from .bootstrap import PRIORITY_FLAG, USER_DATA, encoded
from .density import windows_pods, windows_reservations
from .group_options import UPDATE_STRATEGIES, bootstrap_of, managed_user_data, starts_itself
from .group_plan import NodeGroupPlan, plan_node_group
from .node_group_args import (
    EksLinuxNodeGroupArgs,
    EksWindowsNodeGroupArgs,
    NodeGroupArgs,
    check_node_group_args,
    role_args,
)
from .node_group_rules import advise_node_group

__all__ = ["EksLinuxNodeGroup", "EksLinuxNodeGroupArgs", "EksWindowsNodeGroup", "EksWindowsNodeGroupArgs"]


class _NodeGroup(Component):
    """Arguments that Linux and Windows groups share."""

    node_group_name: pulumi.Output[str] | None
    """The managed node group's name; None for a self-managed group."""
    autoscaling_group_name: pulumi.Output[str]
    """The name of the Auto Scaling group behind it."""
    role_arn: pulumi.Output[str]
    """ARN of the node role."""
    role_name: pulumi.Output[str]
    """Name of the node role, to attach further policies to."""
    launch_template_id: pulumi.Output[str]
    """ID of the launch template."""
    ami_parameter: str
    """The SSM parameter that holds the id of the newest image of EKS."""

    def __init__(self, name: str, args: NodeGroupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_node_group_args(args))
        self.advise(advise_node_group(args))
        self._name, self._args, self._opts = name, args, opts
        self._plan = plan_node_group(args, args.cluster.kubernetes_version)
        role = role_args(args, self._plan.role_kind)
        self._role = NodeRole(f"{name}-nodes", role, self.child())
        self.role_arn, self.role_name = self._role.role_arn, self._role.role_name
        self.ami_parameter = self._plan.ami_parameter
        self._entry = self._create_access_entry()
        self._template = self._create_launch_template()
        self.launch_template_id = self._template.id
        if args.management == "self_managed":
            self.node_group_name = None
            self.autoscaling_group_name = self._create_autoscaling_group().name
        else:
            group = self._create_node_group()
            self.node_group_name = group.node_group_name
            self.autoscaling_group_name = group.resources[0].autoscaling_groups[0].name
            self._tag_autoscaling_group()
        self.register_outputs(self._outputs(self._plan))

    def _outputs(self, plan: NodeGroupPlan) -> dict[str, Any]:
        windows = {
            "windowsRelease": plan.image,
            "windowsEdition": plan.edition,
            "podsPerNode": windows_pods(
                self._args.instance_types,
                prefix_delegation=self._args.prefix_delegation,
                max_pods=self._args.max_pods,
            ),
        }
        return {
            "nodeGroupName": self.node_group_name,
            "autoscalingGroupName": self.autoscaling_group_name,
            "roleArn": self.role_arn,
            "launchTemplateId": self.launch_template_id,
            "amiType": None if starts_itself(self._args) else plan.ami_type,
            "amiParameter": plan.ami_parameter,
            **(windows if plan.system == "windows" else {"linux": plan.image}),
        }

    def _create_access_entry(self) -> aws.eks.AccessEntry | None:
        # EKS makes the entry of a managed group from the type of its image. From another image it guesses Linux, unless
        # there is an entry already; for self-managed nodes it makes none (aws/containers-roadmap#2327).
        managed_linux = self._args.management == "managed" and self._plan.system == "linux"
        if managed_linux or not starts_itself(self._args):
            return None
        return aws.eks.AccessEntry(
            f"{self._name}-entry",
            cluster_name=self._args.cluster.name,
            principal_arn=self.role_arn,
            type=self._plan.access_entry_type,
            tags=named(self._args.tags, f"{self._name}-entry"),
            opts=self.child(),
        )

    def _create_launch_template(self) -> aws.ec2.LaunchTemplate:
        args, plan = self._args, self._plan
        own_profile = args.management == "self_managed"
        return aws.ec2.LaunchTemplate(
            f"{self._name}-template",
            description=f"Nodes of the group {args.name}",
            update_default_version=True,
            image_id=self._image_id(),
            user_data=self._user_data(),
            metadata_options=metadata_options(),
            block_device_mappings=block_device_mappings(plan.volumes, args.volume_kms_key_arn),
            cpu_options=_cpu_options(args),
            iam_instance_profile={"name": self._role.instance_profile_name} if own_profile else None,
            vpc_security_group_ids=self._security_group_ids(),
            tag_specifications=tag_specifications(named(args.tags, self._name)),
            tags=named(args.tags, f"{self._name}-template"),
            opts=self.child(),
        )

    def _image_id(self) -> pulumi.Input[str] | None:
        if self._args.image_id is not None or self._args.management == "managed":
            return self._args.image_id
        options = pulumi.InvokeOutputOptions(parent=self)
        return aws.ssm.get_parameter_output(name=self._plan.ami_parameter, opts=options).insecure_value

    def _security_group_ids(self) -> list[pulumi.Input[str]] | None:
        # A template that names groups does not get the cluster's own by itself.
        args = self._args
        if not (args.security_group_ids or args.management == "self_managed"):
            return None
        own = args.cluster.security_group_id
        return [*([own] if own is not None and args.cluster_security_group else []), *args.security_group_ids]

    def _user_data(self) -> pulumi.Input[str] | None:
        args, plan = self._args, self._plan
        if not starts_itself(args):
            text = managed_user_data(args, args.cluster)
            return encoded(text) if text else None
        defaults = {**windows_reservations(args.instance_types), **PRIORITY_FLAG} if plan.system == "windows" else {}
        write = USER_DATA[plan.system if plan.system == "windows" else plan.image]

        def render(facts: Sequence[str]) -> str:
            name, endpoint, authority = facts
            known = {"cluster_name": name, "endpoint": endpoint, "certificate_authority": authority}
            return encoded(write(bootstrap_of(args, args.cluster, plan.taints, **known), defaults))

        target = args.cluster
        return pulumi.Output.all(target.name, target.endpoint, target.certificate_authority).apply(render)

    def _create_node_group(self) -> aws.eks.NodeGroup:
        args, plan = self._args, self._plan
        own_image = args.image_id is not None
        pool = args.warm_pool
        return aws.eks.NodeGroup(
            f"{self._name}-group",
            cluster_name=args.cluster.name,
            # A prefix: some changes replace the group, and then both exist for a while.
            node_group_name_prefix=f"{args.name}-",
            node_role_arn=self.role_arn,
            subnet_ids=list(args.subnet_ids),
            ami_type=None if own_image else plan.ami_type,
            release_version=args.release_version,
            version=None if own_image else args.cluster.kubernetes_version,
            capacity_type=CAPACITY_TYPES[args.capacity_type],
            instance_types=list(args.instance_types),
            launch_template={"id": self._template.id, "version": self._template.latest_version.apply(str)},
            scaling_config={
                "min_size": args.min_size,
                "max_size": args.max_size,
                "desired_size": self._desired_size(),
            },
            update_config=self._update_config(),
            warm_pool_config=None if pool is None else _warm_pool_config(pool),
            labels=dict(args.labels) or None,
            taints=eks_taints(plan.taints) or None,
            tags=named(args.tags, self._name),
            opts=self._node_options("scalingConfig.desiredSize"),
        )

    def _desired_size(self) -> int:
        return self._args.min_size if self._args.desired_size is None else self._args.desired_size

    def _update_config(self) -> Any:
        args = self._args
        portion = (
            {"max_unavailable": args.max_unavailable}
            if args.max_unavailable is not None
            else {"max_unavailable_percentage": args.max_unavailable_percentage}
        )
        strategy = (
            {} if args.update_strategy == "default" else {"update_strategy": UPDATE_STRATEGIES[args.update_strategy]}
        )
        return {**portion, **strategy}

    def _node_options(self, autoscaler_owns: str) -> pulumi.ResourceOptions:
        # Nodes start when their role has its policies, their entry is there, and what the caller wants first is done.
        before = [self._role, *([self._entry] if self._entry else [])]
        return self.child(depends_on=ordered_after(self._opts, *before), ignore_changes=[autoscaler_owns])

    def _tag_autoscaling_group(self) -> None:
        # A node group's own tags do not reach its Auto Scaling group.
        if not self._args.autoscaler_tags:
            return
        for key, value in self._plan.autoscaler_tags.items():
            aws.autoscaling.Tag(
                f"{self._name}-{key.removeprefix(f'{AUTOSCALER}/node-template/').replace('/', '-')}",
                autoscaling_group_name=self.autoscaling_group_name,
                tag={"key": key, "value": value, "propagate_at_launch": False},
                opts=self.child(),
            )

    def _create_autoscaling_group(self) -> aws.autoscaling.Group:
        args, plan = self._args, self._plan
        version = self._template.latest_version.apply(str)
        return aws.autoscaling.Group(
            f"{self._name}-group",
            min_size=args.min_size,
            max_size=args.max_size,
            desired_capacity=self._desired_size(),
            vpc_zone_identifiers=list(args.subnet_ids),
            mixed_instances_policy={
                "launch_template": {
                    "launch_template_specification": {"launch_template_id": self._template.id, "version": version},
                    "overrides": [{"instance_type": name} for name in args.instance_types],
                },
                "instances_distribution": {
                    "on_demand_percentage_above_base_capacity": 0 if args.capacity_type == "spot" else 100,
                    "spot_allocation_strategy": "price-capacity-optimized",
                },
            },
            instance_refresh={
                "strategy": "Rolling",
                "preferences": {"min_healthy_percentage": self._healthy_percentage()},
            },
            tags=self._autoscaling_tags(plan),
            opts=self._node_options("desiredCapacity"),
        )

    def _healthy_percentage(self) -> int:
        args = self._args
        if args.max_unavailable_percentage is not None:
            return 100 - args.max_unavailable_percentage
        return max(0, 100 - -(-100 * (args.max_unavailable or 1) // max(self._desired_size(), 1)))

    def _autoscaling_tags(self, plan: NodeGroupPlan) -> list[Any]:
        cluster = self._args.cluster.name
        tags: list[dict[str, Any]] = [
            {"key": key, "value": value, "propagate_at_launch": True}
            for key, value in named(self._args.tags, self._name).items()
        ]
        # The cloud controller finds a cluster's instances by this tag.
        key = pulumi.Output.format("kubernetes.io/cluster/{0}", cluster)
        tags.append({"key": key, "value": "owned", "propagate_at_launch": True})
        if self._args.autoscaler_tags:
            discovery = autoscaler_discovery_tags("{0}")
            tags += [
                {"key": pulumi.Output.format(key, cluster), "value": value, "propagate_at_launch": False}
                for key, value in discovery.items()
            ]
            tags += [
                {"key": key, "value": value, "propagate_at_launch": False}
                for key, value in plan.autoscaler_tags.items()
            ]
        return tags


def _cpu_options(args: NodeGroupArgs) -> Any:
    if args.cpu_cores is None:
        return None
    return {"core_count": args.cpu_cores, "threads_per_core": args.threads_per_core}


def _warm_pool_config(pool: WarmPool) -> Any:
    return {
        "min_size": pool.min_size,
        **({} if pool.max_prepared is None else {"max_group_prepared_capacity": pool.max_prepared}),
        "pool_state": POOL_STATES[pool.state],
        "reuse_on_scale_in": pool.reuse_on_scale_in,
    }


class EksLinuxNodeGroup(_NodeGroup):
    """Linux nodes of an EKS cluster. A cluster with Windows nodes needs two of them for CoreDNS and its like.

    Pass the CNI (``WindowsIpam`` in mode ``addon``) and kube-proxy in ``opts.depends_on``: without them no node
    becomes ready.

    :raises WinkubeError: ``WK-EKS-013`` to ``-031``, ``-070`` to ``-088``, ``WK-SCH``, ``WK-IAM``, ``WK-TAG``.
    """

    def __init__(self, name: str, args: EksLinuxNodeGroupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)


class EksWindowsNodeGroup(_NodeGroup):
    """Windows nodes of an EKS cluster.

    Pass ``WindowsIpam`` and the Linux groups in ``opts.depends_on``: nodes that come up before IPAM is on never get
    addresses for pods. CoreDNS may come up beside them: it serves pods, and a node becomes ready without it.

    :raises WinkubeError: ``WK-EKS-010`` to ``-031``, ``-070`` to ``-088``, ``WK-SCH``, ``WK-IAM``, ``WK-TAG``.
    """

    windows_release: str
    """The release of Windows Server."""

    def __init__(self, name: str, args: EksWindowsNodeGroupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        self.windows_release = args.windows
