"""Public patterns: the pack says what is true of them, and nothing else."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from winkube.policies.pack import make_policies
from winkube.preview.checks.policy_runner import run_policies
from winkube.preview.evaluation.evaluate import evaluate_function

from .corpus import aws_programs, kubernetes_programs
from .servicer import verdicts, verdicts_of_servicer

HERE = Path(__file__).parent
PACK = HERE.parents[1] / "policies"
EXPECTED: Mapping[str, Mapping[str, Sequence[str]]] = yaml.safe_load(
    (HERE / "corpus" / "expected.yaml").read_text(encoding="utf-8")
)


def programs_of(module: ModuleType) -> list[Callable[[], None]]:
    """The functions that make resources and take nothing."""
    functions = [value for value in vars(module).values() if inspect.isfunction(value)]
    return [found for found in functions if not inspect.signature(found).parameters and found.__name__[0] != "_"]


PROGRAMS = [*programs_of(aws_programs), *programs_of(kubernetes_programs)]


@pytest.mark.parametrize("mode", ["preview", "update"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_pack_says_what_is_true(program: Callable[[], None], mode: str) -> None:
    plan = evaluate_function(program, mode=mode)
    found = verdicts(run_policies(plan, PACK))
    expected = EXPECTED.get(program.__name__, {})
    assert sorted((name, policy) for policy, _, name, _ in found) == sorted(
        (name, policy) for name, policies in expected.items() for policy in policies
    )
    assert found == verdicts_of_servicer(plan, make_policies())


def test_the_corpus_is_large_enough_and_holds_clean_programs() -> None:
    assert len(PROGRAMS) >= 20
    assert set(EXPECTED) < {program.__name__ for program in PROGRAMS}
    assert {"careful_eks", "windows_web"}.isdisjoint(EXPECTED)
