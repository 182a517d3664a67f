"""An own image of Windows nodes, as EC2 Image Builder makes it.

- build components: updates of Windows, and what a flavour adds;
- the recipe on top of the newest image of its maker, and the instances that build it, with a role of their own;
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
from ..core.tags import named
from ..roles.role import NodeRole, NodeRoleArgs
from ..tables.regions import partition
from ..tables.windows import WINDOWS_ROOT_DEVICE
from .plan import FastLaunch, fast_launch_configuration, update_component_arn

RECIPE_VERSION = "1.0.0"
"""Of recipe and components: a change of what they hold makes new ones, under a new name."""


@dataclass(frozen=True, kw_only=True)
class ImageArgs:
    """What images of both flavours are made from."""

    windows: str = "2022"
    """``2022`` (default), or another release that the cluster runs."""
    edition: str = "core"
    """``core`` (default) or ``full``."""
    cached_images: Sequence[str] = ()
    """Container images to have on the node from the start, with registry and tag or digest; of the node's build."""
    update_windows: bool = True
    """Whether to install the newest updates of Windows. Yes by default."""
    fast_launch: FastLaunch | None = None
    """Snapshots from which nodes start faster; none by default."""
    root_volume_size_gib: int = 100
    """Size of the image's disk in GiB; 100 by default."""
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
    """ARN of the role's permissions boundary; none by default."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of every resource, and of the image."""


class NodeImage(Component):
    """What images of both flavours have in common; a flavour says what lies below and what goes on top."""

    image_id: pulumi.Output[str] | None
    """Id of the image that was built with the deployment; None where a schedule builds."""
    pipeline_arn: pulumi.Output[str] | None
    """The pipeline that builds by a schedule, if there is one."""
    recipe_arn: pulumi.Output[str]
    """The recipe."""
    role_arn: pulumi.Output[str]
    """Role of the instances that build."""

    def __init__(
        self, name: str, args: ImageArgs, region: str, opts: pulumi.ResourceOptions | None, found: Mistakes
    ) -> None:
        super().__init__(name, opts, found)
        self._name, self._image, self._region = name, args, region
        self._partition = partition(region)
        self._role = NodeRole(f"{name}-builder", self._role_args(), self.child())
        recipe, infrastructure = self._create_recipe(), self._create_infrastructure(self._role)
        distribution = self._create_distribution()
        self.recipe_arn, self.role_arn = recipe.arn, self._role.role_arn
        self.image_id = self.pipeline_arn = None
        parts: Mapping[str, Any] = {
            "image_recipe_arn": recipe.arn,
            "infrastructure_configuration_arn": infrastructure.arn,
            "distribution_configuration_arn": distribution.arn,
        }
        before = self._create_before()
        if args.schedule is None:
            self.image_id = self._create_image(parts, before)
        else:
            self.pipeline_arn = self._create_pipeline(parts, args.schedule, before)
        self.register_outputs({
            "imageId": self.image_id,
            "pipelineArn": self.pipeline_arn,
            "recipeArn": self.recipe_arn,
            "roleArn": self.role_arn,
        })  # fmt: skip

    def _parent_parameter(self) -> str:
        """The SSM parameter of the image below."""
        raise NotImplementedError

    def _create_components(self) -> list[pulumi.Input[str]]:
        """ARNs of the build components that the flavour adds."""
        raise NotImplementedError

    def _create_before(self) -> list[pulumi.Resource]:
        """What the instances that build need beside their role, before they start."""
        return []

    def _create_image(self, parts: Mapping[str, Any], before: list[pulumi.Resource]) -> Any:
        name = self._name
        image = aws.imagebuilder.Image(
            f"{name}-image",
            **parts,
            tags=named(self._image.tags, f"{name}-image"),
            # Windows updates alone can take an hour.
            opts=self.child(custom_timeouts=pulumi.CustomTimeouts(create="180m"), depends_on=before or None),
        )
        return image.output_resources[0].amis[0].image

    def _create_pipeline(self, parts: Mapping[str, Any], schedule: str, before: list[pulumi.Resource]) -> Any:
        name = self._name
        pipeline = aws.imagebuilder.ImagePipeline(
            f"{name}-pipeline",
            **parts,
            schedule={
                "schedule_expression": schedule,
                "pipeline_execution_start_condition": "EXPRESSION_MATCH_ONLY",
            },
            tags=named(self._image.tags, f"{name}-pipeline"),
            opts=self.child(depends_on=before or None),
        )
        return pipeline.arn

    def _role_args(self) -> NodeRoleArgs:
        return NodeRoleArgs(
            kind="image-builder",
            permissions_boundary=self._image.permissions_boundary,
            partition=self._partition,
            instance_profile=True,
            tags=self._image.tags,
        )

    def _create_component(self, word: str, data: pulumi.Input[str]) -> pulumi.Output[str]:
        component = aws.imagebuilder.Component(
            f"{self._name}-{word}",
            platform="Windows",
            version=RECIPE_VERSION,
            data=data,
            tags=named(self._image.tags, f"{self._name}-{word}"),
            opts=self.child(),
        )
        return component.arn

    def _create_recipe(self) -> aws.imagebuilder.ImageRecipe:
        args, name = self._image, self._name
        updates = [update_component_arn(self._region, self._partition)] if args.update_windows else []
        components: list[pulumi.Input[str]] = [*updates, *self._create_components()]
        options = pulumi.InvokeOutputOptions(parent=self)
        parent = aws.ssm.get_parameter_output(name=self._parent_parameter(), opts=options)
        ebs: dict[str, Any] = {"volume_size": args.root_volume_size_gib, "volume_type": "gp3", "encrypted": "true"}
        key: dict[str, Any] = {"kms_key_id": args.kms_key_arn} if args.kms_key_arn is not None else {}
        disk: Any = {"device_name": WINDOWS_ROOT_DEVICE, "ebs": {**ebs, **key}}
        return aws.imagebuilder.ImageRecipe(
            f"{name}-recipe",
            version=RECIPE_VERSION,
            parent_image=parent.insecure_value,
            components=[{"component_arn": arn} for arn in components],
            block_device_mappings=[disk],
            tags=named(args.tags, f"{name}-recipe"),
            opts=self.child(),
        )

    def _create_infrastructure(self, role: NodeRole) -> aws.imagebuilder.InfrastructureConfiguration:
        args, name = self._image, self._name
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
        args, name = self._image, self._name
        fast = {"fast_launch_configurations": [fast_launch_configuration(args.fast_launch)]} if args.fast_launch else {}
        images = {"name": f"{name}-{{{{ imagebuilder:buildDate }}}}", "ami_tags": named(args.tags, name)}
        distribution: Any = {"region": self._region, "ami_distribution_configuration": images, **fast}
        return aws.imagebuilder.DistributionConfiguration(
            f"{name}-distribution",
            distributions=[distribution],
            tags=named(args.tags, f"{name}-distribution"),
            opts=self.child(),
        )
