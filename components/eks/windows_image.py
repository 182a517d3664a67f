"""An own image for Windows nodes: updated, with container images in it, and prepared to start fast.

- build components of EC2 Image Builder: Windows updates, and the images that pods need first;
- the recipe on top of the newest image of EKS, and the instances that build it, with a role of their own;
- the distribution, with EC2 Fast Launch on wish;
- the image itself, or a pipeline that builds one by a schedule.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.mistakes import Mistakes
from ..core.tags import check_tags, named
from ..roles.role import NodeRole, NodeRoleArgs
from ..tables.regions import check_region, partition
from ..tables.windows import WINDOWS_RELEASES, WINDOWS_ROOT_DEVICE
from .image_plan import (
    FastLaunch,
    cache_component,
    check_windows_image,
    fast_launch_configuration,
    update_component_arn,
)
from .node_group_rules import check_types

RECIPE_VERSION = "1.0.0"
"""Of recipe and components: a change of what they hold makes new ones, under a new name."""


@dataclass(frozen=True, kw_only=True)
class EksWindowsImageArgs:
    """What an image for Windows nodes is made from."""

    region: str
    """The region in which it is built and used: the one of the provider."""
    kubernetes_version: str
    """The Kubernetes minor of the cluster, such as ``1.36``."""
    windows: str = "2022"
    """``2022`` (default), ``2025`` (Kubernetes 1.35 or newer) or ``2019``."""
    edition: str = "core"
    """``core`` (default) or ``full``."""
    cached_images: Sequence[str] = ()
    """Container images to have on the node from the start, with registry and tag or digest; of the node's build."""
    update_windows: bool = True
    """Whether to install the newest updates of Windows. Yes by default."""
    fast_launch: FastLaunch | None = None
    """Snapshots from which nodes start faster; none by default."""
    root_volume_size_gib: int = 80
    """Size of the image's disk in GiB; 80 by default, at least 50."""
    instance_types: Sequence[str] = ("m6i.large",)
    """Instance types that build it."""
    subnet_id: pulumi.Input[str] | None = None
    """The subnet in which it is built, with a way out; the default VPC's by default."""
    security_group_ids: Sequence[pulumi.Input[str]] = ()
    """Security groups of the instances that build it; needed with ``subnet_id``."""
    kms_key_arn: pulumi.Input[str] | None = None
    """The key that encrypts the image's disk; AWS' own for EBS by default."""
    schedule: str | None = None
    """When a new one is built, as a cron expression of Image Builder; by default one is built with the deployment."""
    permissions_boundary: str | None = None
    """ARN of the policy that bounds the role; none by default."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of every resource, and of the image."""


def check_image_args(args: EksWindowsImageArgs) -> Mistakes:
    """Every mistake in the arguments."""
    found = check_windows_image(args)
    found.take(check_types(args))
    found.take(check_region(args.region))
    found.take(check_tags(args.tags))
    return found


class EksWindowsImage(Component):
    """An image for Windows nodes of EKS, for ``image_id`` of a node group.

    :raises WinkubeError: ``WK-EKS-010`` to ``-018``, ``-095`` to ``-098``, ``WK-NET-001``, ``WK-TAG``.
    """

    image_id: pulumi.Output[str] | None
    """Id of the image that was built with the deployment; None where a schedule builds."""
    pipeline_arn: pulumi.Output[str] | None
    """The pipeline that builds by a schedule, if there is one."""
    recipe_arn: pulumi.Output[str]
    """The recipe."""
    role_arn: pulumi.Output[str]
    """Role of the instances that build."""

    def __init__(self, name: str, args: EksWindowsImageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_image_args(args))
        self._name, self._args = name, args
        self._partition = partition(args.region)
        role = NodeRole(f"{name}-builder", self._role_args(), self.child())
        recipe, infrastructure = self._create_recipe(), self._create_infrastructure(role)
        distribution = self._create_distribution()
        self.recipe_arn, self.role_arn = recipe.arn, role.role_arn
        self.image_id = self.pipeline_arn = None
        if args.schedule is None:
            image = aws.imagebuilder.Image(
                f"{name}-image",
                image_recipe_arn=recipe.arn,
                infrastructure_configuration_arn=infrastructure.arn,
                distribution_configuration_arn=distribution.arn,
                tags=named(args.tags, f"{name}-image"),
                # Windows updates alone can take an hour.
                opts=self.child(custom_timeouts=pulumi.CustomTimeouts(create="180m")),
            )
            self.image_id = image.output_resources[0].amis[0].image
        else:
            pipeline = aws.imagebuilder.ImagePipeline(
                f"{name}-pipeline",
                image_recipe_arn=recipe.arn,
                infrastructure_configuration_arn=infrastructure.arn,
                distribution_configuration_arn=distribution.arn,
                schedule={
                    "schedule_expression": args.schedule,
                    "pipeline_execution_start_condition": "EXPRESSION_MATCH_ONLY",
                },
                tags=named(args.tags, f"{name}-pipeline"),
                opts=self.child(),
            )
            self.pipeline_arn = pipeline.arn
        self.register_outputs({
            "imageId": self.image_id,
            "pipelineArn": self.pipeline_arn,
            "recipeArn": self.recipe_arn,
            "roleArn": self.role_arn,
        })  # fmt: skip

    def _role_args(self) -> NodeRoleArgs:
        return NodeRoleArgs(
            kind="image-builder",
            permissions_boundary=self._args.permissions_boundary,
            partition=self._partition,
            instance_profile=True,
            tags=self._args.tags,
        )

    def _create_recipe(self) -> aws.imagebuilder.ImageRecipe:
        args, name = self._args, self._name
        components: list[pulumi.Input[str]] = []
        if args.update_windows:
            components.append(update_component_arn(args.region, self._partition))
        if args.cached_images:
            cache = aws.imagebuilder.Component(
                f"{name}-cache",
                platform="Windows",
                version=RECIPE_VERSION,
                data=cache_component(args.cached_images),
                tags=named(args.tags, f"{name}-cache"),
                opts=self.child(),
            )
            components.append(cache.arn)
        parameter = WINDOWS_RELEASES[args.windows].ami_parameter(args.edition, args.kubernetes_version)
        options = pulumi.InvokeOutputOptions(parent=self)
        ebs: dict[str, Any] = {"volume_size": args.root_volume_size_gib, "volume_type": "gp3", "encrypted": "true"}
        key: dict[str, Any] = {"kms_key_id": args.kms_key_arn} if args.kms_key_arn is not None else {}
        disk: Any = {"device_name": WINDOWS_ROOT_DEVICE, "ebs": {**ebs, **key}}
        return aws.imagebuilder.ImageRecipe(
            f"{name}-recipe",
            version=RECIPE_VERSION,
            parent_image=aws.ssm.get_parameter_output(name=parameter, opts=options).insecure_value,
            components=[{"component_arn": arn} for arn in components],
            block_device_mappings=[disk],
            tags=named(args.tags, f"{name}-recipe"),
            opts=self.child(),
        )

    def _create_infrastructure(self, role: NodeRole) -> aws.imagebuilder.InfrastructureConfiguration:
        args, name = self._args, self._name
        return aws.imagebuilder.InfrastructureConfiguration(
            f"{name}-builders",
            instance_profile_name=role.instance_profile_name,
            instance_types=list(args.instance_types),
            instance_metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 1},
            subnet_id=args.subnet_id,
            security_group_ids=list(args.security_group_ids) or None,
            terminate_instance_on_failure=True,
            resource_tags=dict(args.tags),
            tags=named(args.tags, f"{name}-builders"),
            opts=self.child(),
        )

    def _create_distribution(self) -> aws.imagebuilder.DistributionConfiguration:
        args, name = self._args, self._name
        fast = {"fast_launch_configurations": [fast_launch_configuration(args.fast_launch)]} if args.fast_launch else {}
        images = {"name": f"{name}-{{{{ imagebuilder:buildDate }}}}", "ami_tags": named(args.tags, name)}
        distribution: Any = {"region": args.region, "ami_distribution_configuration": images, **fast}
        return aws.imagebuilder.DistributionConfiguration(
            f"{name}-distribution",
            distributions=[distribution],
            tags=named(args.tags, f"{name}-distribution"),
            opts=self.child(),
        )
