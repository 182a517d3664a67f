"""A large fleet in several stacks: a part of it joins the cluster of another stack by that stack's outputs."""

from pathlib import Path

from winkube.preview.evaluation.evaluate import evaluate
from winkube.preview.pipeline.run_checks import run_checks

EXAMPLE = Path(__file__).parents[2] / "examples" / "fleet_in_stacks"


def test_a_part_of_a_fleet_makes_its_groups_and_nothing_else() -> None:
    plan = evaluate(EXAMPLE, "dev")
    run_checks(plan)
    groups = [resource for resource in plan.resources if resource.type == "aws:eks/nodeGroup:NodeGroup"]
    assert len(groups) == 20
    assert not [
        resource for resource in plan.resources if resource.type in ("aws:eks/cluster:Cluster", "aws:ec2/vpc:Vpc")
    ]
    assert not plan.blocking
    reference = "pulumi:pulumi:StackReference::organization/winkube/prod"
    assert all(any(urn.endswith(reference) for urn in group.options.dependencies) for group in groups)
