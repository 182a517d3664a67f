"""What the offline preview says of a stack, next to what an engine was asked for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from winkube.preview.evaluation.evaluate import evaluate
from winkube.preview.evaluation.invokes import Answers
from winkube.preview.model import Plan, decode, unwrap_secrets

from .engine import STACK_TYPE, Engine, Run, without_outputs
from .plugin import name_of, type_of


def offline(program: Path, stack: str, run: Run, engine: Engine | None = None) -> Plan:
    """The offline evaluation, with the same answers to functions; after an update, with what providers computed.

    Keys and certificates are different each time: those of the run stand in.
    """
    rows: dict[str, tuple[tuple[Mapping[str, Any], Mapping[str, Any]], ...]] = {}
    for token, arguments, result in run.invokes:
        rows[token] = (*rows.get(token, ()), (arguments, result))
    mocks = {kind: _remembered(engine, kind) for kind in _kinds(engine)} if engine else {}
    mode = "update" if engine else "preview"
    return evaluate(program, stack, mode=mode, answers=Answers(rows), mocks=mocks)


def _kinds(engine: Engine) -> set[str]:
    given = {key for key in engine.cloud.settings().get("outputs", {}) if ":" in key}
    return given | {kind for kind in map(type_of, engine.state) if kind.startswith("tls:")}


def _remembered(engine: Engine, kind: str) -> Any:
    outputs = {
        name_of(urn): unwrap_secrets(decode(kept.outputs)) for urn, kept in engine.state.items() if type_of(urn) == kind
    }

    def given(name: str, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        return {key: value for key, value in outputs[name].items() if key not in inputs}

    return given


def asked(run: Run) -> dict[str, dict[str, Any]]:
    """What the program asked the engine for: URN to inputs, outputs of components and options; and its own outputs."""
    found: dict[str, dict[str, Any]] = {"the stack": {"outputs": run.outputs}}
    for urn, request in run.requests.items():
        if request.type != STACK_TYPE:
            found[urn] = {
                "inputs": decode(without_outputs(request.object)) if request.custom else {},
                "outputs": decode(run.registered[urn]) if urn in run.registered else {},
                "custom": request.custom,
                "provider": request.provider,
                "protect": request.protect,
                "dependencies": sorted(request.dependencies),
                "propertyDependencies": {key: sorted(it.urns) for key, it in request.propertyDependencies.items()},
                "ignoreChanges": list(request.ignoreChanges),
                "retainOnDelete": request.retainOnDelete,
                "deletedWith": request.deletedWith,
                "deleteBeforeReplace": request.deleteBeforeReplace,
                "additionalSecretOutputs": sorted(request.additionalSecretOutputs),
            }
    return found


def planned(plan: Plan) -> dict[str, dict[str, Any]]:
    """The same of an offline plan."""
    found: dict[str, dict[str, Any]] = {"the stack": {"outputs": plan.outputs}}
    found |= {
        resource.urn: {
            "inputs": resource.inputs if resource.custom else {},
            "outputs": resource.outputs,
            "custom": resource.custom,
            "provider": resource.options.provider,
            "protect": resource.options.protect,
            "dependencies": sorted(resource.options.dependencies),
            "propertyDependencies": {key: sorted(urns) for key, urns in resource.options.property_dependencies.items()},
            "ignoreChanges": list(resource.options.ignore_changes),
            "retainOnDelete": resource.options.retain_on_delete,
            "deletedWith": resource.options.deleted_with,
            "deleteBeforeReplace": resource.options.delete_before_replace,
            "additionalSecretOutputs": sorted(resource.options.additional_secret_outputs),
        }
        for resource in plan.resources
    }
    return found


def differences(here: Mapping[str, Mapping[str, Any]], there: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Each thing that is not the same, with its place; values only where they are no secrets."""
    found = [f"{urn}: only offline" for urn in sorted(here.keys() - there.keys())]
    found += [f"{urn}: only under the engine" for urn in sorted(there.keys() - here.keys())]
    for urn in sorted(here.keys() & there.keys()):
        found += [f"{urn}: {text}" for key in here[urn] for text in _places(key, here[urn][key], there[urn][key])]
    return found


def _places(path: str, here: Any, there: Any) -> list[str]:
    if isinstance(here, dict) and isinstance(there, dict):
        keys = sorted(here.keys() | there.keys())
        return [text for key in keys for text in _places(f"{path}.{key}", here.get(key), there.get(key))]
    if isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        pairs = zip(here, there, strict=True)
        return [text for at, pair in enumerate(pairs) for text in _places(f"{path}[{at}]", *pair)]
    return [] if here == there else [f"{path}: {here!r} offline, {there!r} under the engine"]
