"""The examples in other languages: one runs against the provider, the other is checked by TypeScript's own compiler."""

import copy
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from winkube.plugin.provider import SCHEMA

from . import typescript, yaml_program
from .bed import Host, RefusedError
from .node import EXAMPLE, installed, node, packages

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "examples"
PROGRAM = yaml.safe_load((EXAMPLES / "yaml_minimal_eks" / "Pulumi.yaml").read_text(encoding="utf-8"))
PACKAGE = json.loads(SCHEMA.read_text(encoding="utf-8"))


def changed(resource: str, key: str, value: Any) -> dict[str, Any]:
    """The program with one property that is another."""
    program = copy.deepcopy(PROGRAM)
    program["resources"][resource]["properties"][key] = value
    return program


def test_the_yaml_example_runs(host: Host) -> None:
    """Every component is made by the provider from what another component gave."""
    resources = yaml_program.run(PROGRAM, PACKAGE, host)
    groups = {
        resource.name: resource.inputs["amiType"]
        for resource in resources.values()
        if resource.type == "aws:eks/nodeGroup:NodeGroup"
    }
    assert groups == {"linux-group": "AL2023_x86_64_STANDARD", "windows-group": "WINDOWS_CORE_2022_x86_64"}
    assert set(PROGRAM["resources"]) <= {resource.name for resource in resources.values()}


@pytest.mark.parametrize(
    ("resource", "key", "value", "words"),
    [
        ("windows", "subnetIds", "${network.privateSubnetIds}", "windows).subnetIds: a list is needed"),
        ("windows", "windowz", "2022", 'write "windows"'),
        ("windows", "windows", 2022, 'put it in quotes: "2022"'),
        ("windows", "cluster", {"name": "${cluster.clusterName}", "kubernetesVersion": "${cluster.arn}"},
         "cluster.kubernetesVersion: a plain value is needed"),
    ],
)  # fmt: skip
def test_a_mistake_in_yaml_is_explained(host: Host, resource: str, key: str, value: Any, words: str) -> None:
    with pytest.raises(RefusedError) as refused:
        yaml_program.run(changed(resource, key, value), PACKAGE, host)
    assert words in refused.value.text


@pytest.mark.parametrize("reference", ["${nothing.arn}", "${cluster.nothing}"])
def test_a_reference_to_nothing_is_found(host: Host, reference: str) -> None:
    """The check of the example can fail."""
    with pytest.raises(KeyError, match=r"no such resource|has no output nothing"):
        yaml_program.run(changed("windows", "name", reference), PACKAGE, host)


@pytest.fixture(scope="module")
def modules() -> Path:
    """What the example's package.json asks for, our SDK apart."""
    if not installed():
        pytest.skip(f"needs the packages of {EXAMPLE.name}/package.json: `make validators` installs them")
    return packages() / "node_modules"


SOURCE = (EXAMPLE / "index.ts").read_text(encoding="utf-8")
MISTAKES = {
    "output": ("[network.privateSubnetIds[0], network.privateSubnetIds[1]]", "network.privateSubnetIds", "string[]"),
    "type": ('nat: "single"', "nat: true", "'boolean' is not assignable to type 'string'"),
    "name": ('windows: "2022"', 'windwos: "2022"', "'windwos' does not exist in type 'EksWindowsNodeGroupArgs'"),
    "missing": ('name: "system", cluster', "cluster", "Property 'name' is missing"),
    "no_output": ("eks.kubeconfig", "eks.kubeConfig", "Did you mean 'kubeconfig'?"),
}
"""What the example has, what is written instead, and what the compiler says of it."""


@pytest.fixture(scope="module")
def compiled(modules: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the compiler says of the example, and of a copy for each mistake: starting it takes longer than its work."""
    program = tmp_path_factory.mktemp("typescript") / "program"
    shutil.copytree(EXAMPLE, program)
    there = program / "node_modules"
    sdk = there / "@pulumi" / "winkube"
    sdk.mkdir(parents=True)
    (sdk / "package.json").write_text('{"name": "@pulumi/winkube", "types": "index.d.ts"}', encoding="utf-8")
    (sdk / "index.d.ts").write_text(typescript.declarations(PACKAGE), encoding="utf-8")
    (there / "@pulumi" / "pulumi").symlink_to(modules / "@pulumi" / "pulumi")
    (there / "@types").symlink_to(modules / "@types")
    for name, (right, wrong, _) in MISTAKES.items():
        assert right in SOURCE
        (program / f"{name}.ts").write_text(SOURCE.replace(right, wrong), encoding="utf-8")
    settings = json.loads((program / "tsconfig.json").read_text(encoding="utf-8"))
    settings["files"] += [f"{name}.ts" for name in MISTAKES]
    (program / "tsconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    return node(str(modules / "typescript" / "bin" / "tsc"), "-p", ".", folder=program).stdout


def about(file: str, said: str) -> str:
    """What the compiler says of one file, with the lines that go on after the first."""
    blocks = re.split(r"^(?=\S)", said, flags=re.MULTILINE)
    return "".join(block for block in blocks if block.startswith(f"{file}("))


@pytest.mark.verify
def test_the_typescript_example_compiles(compiled: str) -> None:
    """Against the SDK's real types and those that our schema describes."""
    assert about("index.ts", compiled) == ""
    assert compiled.count("error TS") >= len(MISTAKES), "the compiler has run"


@pytest.mark.verify
@pytest.mark.parametrize("mistake", sorted(MISTAKES))
def test_the_compiler_finds_mistakes(compiled: str, mistake: str) -> None:
    """What is plain takes no output; types, names and what is required are those of the schema."""
    assert MISTAKES[mistake][2] in about(f"{mistake}.ts", compiled)
