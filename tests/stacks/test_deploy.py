"""The program as the engine starts it, and what the project file declares."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from stacks.config.introspection import keys
from stacks.eks.settings import EksSettings

ROOT = Path(__file__).parents[2]
PROGRAM = """
import json, sys
import pulumi
pulumi.runtime.set_all_config(json.loads(sys.argv[1]), json.loads(sys.argv[2]))
sys.path.insert(0, ".")
try:
    import stacks
    stacks.deploy()
except pulumi.RunError as error:
    print(json.dumps({"error": str(error), "modules": sorted(sys.modules)}))
"""


def run_program(config: dict[str, str], secret_keys: list[str] | None = None) -> dict[str, Any]:
    arguments = [json.dumps(config), json.dumps(secret_keys or [])]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_wrong_settings_are_told_before_any_provider_sdk_is_imported(stack_of: Any) -> None:
    seen = run_program(stack_of({"winkube:network": {"zones": 4}, "winkube:colour": "blue"}))
    title, *lines = seen["error"].split("\n  ")
    assert title.endswith("has 2 mistakes:")
    assert [line.partition(": ")[0] for line in lines] == ["winkube:network.zones", "winkube:colour"]
    loaded = {module.partition(".")[0] for module in seen["modules"]}
    assert not loaded & {"pulumi_aws", "pulumi_kubernetes", "pulumi_eks", "policy_sentry"}
    assert "stacks.eks.program" not in seen["modules"]


def test_secret_keys_of_the_engine_reach_the_check(stack_of: Any) -> None:
    seen = run_program(stack_of({"winkube:tags": {"team": "a"}}), ["winkube:tags"])
    assert "winkube:tags: is encrypted" in seen["error"]


def test_a_stack_without_configuration_is_told_what_it_needs() -> None:
    assert "winkube:cluster: is required" in run_program({})["error"]


def test_importing_the_settings_imports_no_provider_sdk() -> None:
    code = "import sys, stacks.config.settings; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"import json; {code}"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not {"pulumi_aws", "pulumi_kubernetes"} & set(json.loads(done.stdout))


def test_right_settings_are_handed_to_the_flavour(monkeypatch: pytest.MonkeyPatch, stack_of: Any) -> None:
    import pulumi

    import stacks

    built: list[EksSettings] = []
    module = type("Flavour", (), {"build": staticmethod(built.append)})
    monkeypatch.setitem(sys.modules, "stacks.eks.program", module)  # pyright: ignore[reportArgumentType]
    monkeypatch.setattr(pulumi, "get_stack", lambda: "dev")
    monkeypatch.setattr("pulumi.runtime.config.CONFIG", type("Context", (), {"get": staticmethod(stack_of)}))
    stacks.deploy()
    assert [settings.cluster.name for settings in built] == ["dev"]


@pytest.fixture
def project() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "Pulumi.yaml").read_text(encoding="utf-8"))


JSON_TYPES = {"string": str, "object": dict, "array": list}


def test_the_project_declares_what_the_engine_may_require(project: dict[str, Any]) -> None:
    """A declared key without default is required by the CLI: just those may be, and a default must be the program's."""
    fields = {alias.partition(":")[2]: EksSettings.model_fields[name] for alias, name in keys(EksSettings).items()}
    required = {key for key, field in fields.items() if field.is_required()} - {"region"}
    declared = project["config"]
    assert {key for key, entry in declared.items() if "default" not in entry} == required
    for key, entry in declared.items():
        assert entry["description"]
        assert set(entry) <= {"type", "items", "description", "default"}
        if "default" in entry:
            default = fields[key].get_default(call_default_factory=True)
            assert isinstance(entry["default"], JSON_TYPES[entry["type"]])
            if isinstance(default, dict):
                assert entry["default"] == default
            else:
                assert type(default).model_validate(entry["default"]) == default


def test_the_dev_stack_fits_the_declared_types(project: dict[str, Any]) -> None:
    config = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text(encoding="utf-8"))["config"]
    for key, entry in project["config"].items():
        assert isinstance(config[f"winkube:{key}"], JSON_TYPES[entry["type"]])


def test_the_project_runs_on_pip_in_its_own_environment(project: dict[str, Any]) -> None:
    assert project["runtime"] == {"name": "python", "options": {"toolchain": "pip", "virtualenv": ".venv"}}
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line and not line.startswith("#")] == ["-e ."]
