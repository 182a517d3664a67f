"""Tests of Pulumi programs without engine, plug-ins or credentials; for programs with and without our components.

A test makes its resources in a function, and looks at the plan::

    from winkube.testing import UNKNOWN, problems, record, the

    def test_windows_nodes_start_in_the_private_subnets() -> None:
        plan = record(lambda: my_cluster("demo", size=3), config={"aws:region": "eu-central-1"})
        group = the(plan, "aws:eks/nodeGroup:NodeGroup", "demo-windows-group")
        assert group.inputs["scalingConfig"]["minSize"] == 3
        assert group.inputs["nodeRoleArn"] is UNKNOWN
        assert problems(plan) == []

Nothing has to be installed into the test runner: each call stands alone, also in parallel tests.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from winkube.preview.checks.plan import check_plan
from winkube.preview.evaluation.evaluate import evaluate, evaluate_function
from winkube.preview.evaluation.invokes import Answers, read_answers
from winkube.preview.model import UNKNOWN, Finding, Plan, Resource, Secret, Severity

__all__ = ["UNKNOWN", "Finding", "Plan", "Resource", "Secret", "of_type", "problems", "record", "record_program", "the"]


def record(
    build: Callable[[], Any],
    *,
    preview: bool = True,
    config: Mapping[str, str] | None = None,
    project: str = "project",
    stack: str = "stack",
    answers: Mapping[str, Mapping[str, Any]] | None = None,
) -> Plan:
    """What ``build`` asks the engine for. What it raises is raised here, as it is.

    :param preview: as in ``pulumi preview``, what the cloud computes is unknown; ``False``: it is a marked placeholder,
        so that every ``apply`` runs, as in ``pulumi up``.
    :param config: full key (``aws:region``) to value; objects as JSON, as the engine hands them over.
    :param answers: token of a provider function (``aws:ec2/getAmi:getAmi``) to its result.
    """
    given = Answers({token: (({}, result),) for token, result in (answers or {}).items()})
    return evaluate_function(build, mode=_mode(preview), config=config, project=project, stack=stack, answers=given)


def record_program(directory: str | Path, stack: str, *, preview: bool = True, answers: Path | None = None) -> Plan:
    """What a whole program asks the engine for, with the configuration of one of its stacks.

    :param directory: the folder of ``Pulumi.yaml``.
    :param answers: a file with the results of provider functions, as ``winkube preview --answers`` takes it.
    :raises winkube.preview.errors.PreviewError: the project, the stack, or what the program does is wrong.
    """
    return evaluate(directory, stack, mode=_mode(preview), answers=read_answers(answers) if answers else None)


def of_type(plan: Plan, type_token: str) -> list[Resource]:
    """The resources of a type, such as ``aws:eks/cluster:Cluster``."""
    return [resource for resource in plan.resources if resource.type == type_token]


def the(plan: Plan, type_token: str, name: str | None = None) -> Resource:
    """The one resource of a type, and of a name where there are several.

    :raises AssertionError: where there is none or more than one, with those that there are.
    """
    found = [resource for resource in of_type(plan, type_token) if name in (None, resource.name)]
    if len(found) == 1:
        return found[0]
    there = [resource.name for resource in of_type(plan, type_token)]
    kinds = sorted({resource.type for resource in plan.resources})
    wanted = f'{type_token} "{name}"' if name else type_token
    known = f"there are {', '.join(there)}" if there else f"the plan has {', '.join(kinds) or 'no resources'}"
    raise AssertionError(f"{'no' if not found else 'more than one'} {wanted}; {known}")


def problems(plan: Plan) -> list[Finding]:
    """What ``winkube preview`` would find: inputs that the SDK or Kubernetes does not take, secrets in plain text.

    Notes, of what only a deployment can tell, are left out.
    """
    return [item for item in [*plan.findings, *check_plan(plan)] if item.severity is not Severity.NOTE]


def _mode(preview: bool) -> str:
    return "preview" if preview else "update"
