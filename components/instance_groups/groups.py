"""Groups of workers of a self-managed cluster: Linux and Windows, each an Auto Scaling group of its own.

For every group:

- a node role that reads its own boot files and the join token, and answers its own lifecycle hooks;
- the boot code and the group's document in the cluster's bucket, under their digests;
- a launch template: metadata by session tokens, one hop, encrypted gp3 disks, no key pair, user data below 4 KiB;
- the Auto Scaling group: types, spot, warm pool, hooks, rolling replacement with a canary, tags for the autoscaler;
- a security group with the rows of the port matrix, where the cluster gives none.

There is one path for all of them; the spec and the tables decide the differences.
"""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.mistakes import Mistakes, Rule
from ..core.order import ordered_after
from ..core.tags import named
from ..ec2.launch_template import Volume, block_device_mappings, metadata_options, tag_specifications
from ..roles.policy_documents import rendered
from ..roles.role import NodeRole
from ..tables.artefacts import artefacts_for
from .access import node_access
from .between_rules import LOG_RUNNER, wants_kubelet_log
from .boot import Boot, BootFacts, boot_of, check_boot
from .boot_code import KEPT, BootCode, BootCodeArgs, boot_key, object_tags
from .group_args import (
    InstanceGroupArgs,
    LinuxInstanceGroupArgs,
    WindowsInstanceGroupArgs,
    check_instance_group_args,
    role_args,
)
from .scaling import instance_refresh, instances, lifecycle_hooks, warm_pool
from .spec import auto_scaling_group_name, group_spec
from .worker_security import WorkerSecurityGroup, WorkerSecurityGroupArgs

__all__ = ["LinuxInstanceGroup", "LinuxInstanceGroupArgs", "WindowsInstanceGroup", "WindowsInstanceGroupArgs"]

LOST_LOG = Rule(
    "WK-IG-042",
    "Without kube-log-runner, the log of a Windows kubelet is lost.",
    "https://kubernetes.io/docs/concepts/cluster-administration/system-logs/",
)

BOOT_WAIT: Mapping[str, str] = {"windows": "40m", "linux": "15m"}
"""How long a deployment waits for the first nodes: Windows restarts once for its feature."""


class _InstanceGroup(Component):
    """Arguments that Linux and Windows groups share."""

    autoscaling_group_name: str
    """Name of the Auto Scaling group."""
    autoscaling_group_arn: pulumi.Output[str]
    """ARN of the Auto Scaling group."""
    role_arn: pulumi.Output[str]
    """ARN of the node role."""
    role_name: pulumi.Output[str]
    """Name of the node role, to attach further policies to."""
    launch_template_id: pulumi.Output[str]
    """ID of the launch template."""
    security_group_id: pulumi.Output[str] | None
    """ID of the group's own security group; None if the target gives security groups."""
    image_id: pulumi.Output[str]
    """AMI ID of new nodes."""
    document_key: pulumi.Output[str]
    """Object key of the node document in the bucket."""

    def __init__(self, name: str, args: InstanceGroupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, _check(args))
        self._name, self._args, self._opts = name, args, opts
        self._spec = group_spec(args, args.target.cluster_name)
        self._hooks = lifecycle_hooks(self._spec.system, args.drain_seconds)
        self.advise(advise_instance_group(args))
        self.autoscaling_group_name = auto_scaling_group_name(args.name, args.target.cluster_name)
        self._role = NodeRole(f"{name}-nodes", role_args(args), self.child())
        self.role_arn, self.role_name = self._role.role_arn, self._role.role_name
        access = self._create_access()
        before: list[pulumi.Resource] = [self._role, access, *self._create_boot_files(), *self._create_security()]
        self.image_id = pulumi.Output.from_input(self._image_id())
        self._template = self._create_launch_template()
        self.launch_template_id = self._template.id
        group = self._create_autoscaling_group(before)
        self.autoscaling_group_arn = group.arn
        self._create_hooks(group)
        self.register_outputs(self._outputs())

    def _outputs(self) -> dict[str, Any]:
        spec = self._spec
        windows = {"windowsRelease": spec.image.name, "windowsBuild": spec.build, "runtimeClass": spec.runtime_class}
        return {
            "autoscalingGroupName": self.autoscaling_group_name,
            "autoscalingGroupArn": self.autoscaling_group_arn,
            "roleArn": self.role_arn,
            "launchTemplateId": self.launch_template_id,
            "securityGroupId": self.security_group_id,
            "imageId": self.image_id,
            "amiParameter": spec.ami_parameter,
            "instanceTypes": list(self._args.instance_types),
            "documentKey": self.document_key,
            "labels": dict(spec.labels),
            "taints": [str(taint) for taint in spec.taints],
            **(windows if spec.system == "windows" else {"linux": spec.image.name}),
        }

    def _create_access(self) -> aws.iam.RolePolicy:
        target = self._args.target

        def render(facts: Sequence[Any]) -> str:
            arn, key, token_key = facts
            return rendered(
                node_access(target, self._args.name, bucket_arn=arn, bucket_key_arn=key, token_key_arn=token_key)
            )

        facts = pulumi.Output.all(target.bucket_arn, target.bucket_key_arn, target.token_key_arn)
        return aws.iam.RolePolicy(
            f"{self._name}-join", role=self.role_name, policy=facts.apply(render), opts=self.child()
        )

    def _create_boot_files(self) -> list[pulumi.Resource]:
        args, spec, target, name = self._args, self._spec, self._args.target, self._name
        code = args.boot_code or BootCode(
            f"{name}-code",
            BootCodeArgs(
                cluster_name=target.cluster_name, bucket=target.bucket, systems=(spec.system,), tags=args.tags
            ),
            self.child(),
        )
        code_key = boot_key(spec.system, target.cluster_name)

        def render(facts: Sequence[Any]) -> Boot:
            authority, bucket, token_key = facts
            return boot_of(
                args,
                spec,
                code_key,
                BootFacts(certificate_authority=authority, bucket=bucket, token_key_arn=token_key),
            )

        facts = pulumi.Output.all(target.certificate_authority, target.bucket, target.token_key_arn)
        boot = facts.apply(render)
        self.document_key = boot.apply(lambda made: made.document_key)
        self._user_data = boot.apply(lambda made: base64.b64encode(made.user_data.encode()).decode())
        document = aws.s3.BucketObjectv2(
            f"{name}-document",
            bucket=target.bucket,
            key=self.document_key,
            content=boot.apply(lambda made: made.document),
            content_type="application/json",
            tags=object_tags(args.tags, f"{name}-document"),
            opts=self.child(**KEPT),
        )
        return [code, document]

    def _create_security(self) -> list[pulumi.Resource]:
        args, target, system = self._args, self._args.target, self._spec.system
        given = target.windows_security_group_ids if system == "windows" else target.linux_security_group_ids
        self.security_group_id = None
        self._security_group_ids: list[pulumi.Input[str]] = [*given, *args.security_group_ids]
        if given:
            return []
        own = WorkerSecurityGroup(
            f"{self._name}-security",
            WorkerSecurityGroupArgs(group=args.name, system=system, target=target, tags=args.tags),
            self.child(),
        )
        self.security_group_id = own.security_group_id
        self._security_group_ids.insert(0, own.security_group_id)
        return [own]

    def _image_id(self) -> pulumi.Input[str]:
        if self._args.image_id is not None:
            return self._args.image_id
        options = pulumi.InvokeOutputOptions(parent=self)
        return aws.ssm.get_parameter_output(name=self._spec.ami_parameter, opts=options).insecure_value

    def _create_launch_template(self) -> aws.ec2.LaunchTemplate:
        args, spec, name = self._args, self._spec, self._name
        volumes = [Volume(spec.image.root_device, spec.root_volume_size_gib)]
        tags = named(args.tags, self.autoscaling_group_name, **spec.instance_tags)
        return aws.ec2.LaunchTemplate(
            f"{name}-template",
            description=f"Nodes of the group {args.name}",
            update_default_version=True,
            image_id=self.image_id,
            instance_type=args.instance_types[0],
            user_data=self._user_data,
            metadata_options=metadata_options(),
            # The cloud controller writes this name into the node, and the kubelet's serving certificate bears it.
            private_dns_name_options={"hostname_type": "resource-name", "enable_resource_name_dns_a_record": True},
            block_device_mappings=block_device_mappings(volumes, args.volume_kms_key_arn),
            iam_instance_profile={"name": self._role.instance_profile_name},
            vpc_security_group_ids=self._security_group_ids,
            tag_specifications=tag_specifications(tags),
            tags=named(args.tags, f"{name}-template"),
            opts=self.child(),
        )

    def _create_autoscaling_group(self, before: Sequence[pulumi.Resource]) -> aws.autoscaling.Group:
        args = self._args
        days = args.max_instance_lifetime_days
        pool = args.warm_pool
        hooks: list[Any] = [{"name": name, **hook} for name, hook in self._hooks.items()]
        return aws.autoscaling.Group(
            f"{self._name}-group",
            # Its nodes are told this name, so it has to be known before.
            name=self.autoscaling_group_name,
            min_size=args.min_size,
            max_size=args.max_size,
            desired_capacity=args.min_size if args.desired_size is None else args.desired_size,
            vpc_zone_identifiers=list(args.subnet_ids),
            **instances(args, self._template.id, self._template.latest_version.apply(str)),
            capacity_rebalance=args.capacity_type == "spot",
            health_check_type="EC2",
            max_instance_lifetime=None if days is None else days * 86400,
            wait_for_capacity_timeout=BOOT_WAIT[self._spec.system],
            instance_refresh=instance_refresh(args.rollout),
            initial_lifecycle_hooks=hooks,
            warm_pool=None if pool is None else warm_pool(pool),
            tags=self._autoscaling_tags(),
            opts=self.child(depends_on=ordered_after(self._opts, *before), ignore_changes=["desiredCapacity"]),
        )

    def _create_hooks(self, group: aws.autoscaling.Group) -> None:
        # The group itself brings them for its first instances, but never changes them again; these do.
        for name, hook in self._hooks.items():
            aws.autoscaling.LifecycleHook(
                f"{self._name}-{name}",
                name=name,
                autoscaling_group_name=group.name,
                lifecycle_transition=hook["lifecycle_transition"],
                default_result=hook["default_result"],
                heartbeat_timeout=hook["heartbeat_timeout"],
                opts=self.child(),
            )

    def _autoscaling_tags(self) -> list[Any]:
        spec = self._spec
        launched = named(self._args.tags, self.autoscaling_group_name, **spec.instance_tags)
        return [
            *({"key": key, "value": value, "propagate_at_launch": True} for key, value in launched.items()),
            *({"key": key, "value": value, "propagate_at_launch": False}
              for key, value in spec.autoscaler_tags.items()),
        ]  # fmt: skip


def _check(args: InstanceGroupArgs) -> Mistakes:
    found = check_instance_group_args(args)
    if not found:
        spec = group_spec(args, args.target.cluster_name)
        found.take(check_boot(args, spec, boot_key(spec.system, args.target.cluster_name)))
    return found


def advise_instance_group(args: InstanceGroupArgs) -> Mistakes:
    """What would come up, but is not advised."""
    found = Mistakes()
    if args.windows is not None and args.kubelet_log is None and not wants_kubelet_log(args, args.target):
        key = _log_runner(args.target.kubernetes_version)
        found.add(LOST_LOG, ("target", "artefact_digests"), "upstream publishes no digest of kube-log-runner, and so "
                  "the kubelet's log is not kept", f'add "{key}", or set kubelet_log to false')  # fmt: skip
    return found


def _log_runner(minor: str) -> str:
    """What the digest of the program stands under."""
    rows = artefacts_for(minor, os="windows", optional=(LOG_RUNNER,))
    return next(row.key for row in rows if row.name == LOG_RUNNER)


class LinuxInstanceGroup(_InstanceGroup):
    """Linux workers of a self-managed cluster; they join with kubeadm and file discovery.

    :raises WinkubeError: ``WK-IG``, ``WK-EKS-014`` to ``-019``, ``WK-SCH``, ``WK-KAD``, ``WK-ART``, ``WK-IAM``,
        ``WK-TAG``.
    """

    def __init__(self, name: str, args: LinuxInstanceGroupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)


class WindowsInstanceGroup(_InstanceGroup):
    """Windows workers of any self-managed cluster; they join through kubelet TLS bootstrap.

    :raises WinkubeError: ``WK-IG``, ``WK-EKS-014`` to ``-019``, ``WK-SCH``, ``WK-KAD``, ``WK-ART``, ``WK-WIN``,
        ``WK-IAM``, ``WK-TAG``.
    """

    windows_release: str
    """The release of Windows Server."""
    windows_build: str
    """The Windows build, as in the nodes' label; container images must match it."""
    runtime_class: str
    """The RuntimeClass with which pods select these nodes."""

    def __init__(self, name: str, args: WindowsInstanceGroupArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        self.windows_release = args.windows
        self.windows_build, self.runtime_class = self._spec.build or "", self._spec.runtime_class or ""
