"""winkube inventory: the Linux machines of a stack, for Ansible."""

import argparse
import configparser
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from winkube.inventory import command
from winkube.preview.evaluation.evaluate import evaluate
from winkube.preview.output.plan_formats import to_json

ROOT = Path(__file__).resolve().parent.parent.parent
MACHINES: Sequence[Mapping[str, Any]] = (
    {"name": "cp-1", "address": "10.0.1.10", "roles": ["control_plane"]},
    {"name": "worker-1", "address": "10.0.2.10", "roles": ["node"]},
    {"name": "worker-2", "address": "10.0.2.11"},
    {"name": "win-1", "address": "10.0.3.10", "roles": ["node"], "system": "windows"},
)


def inventory(machines: Sequence[Mapping[str, Any]]) -> str:
    made, found = command.inventory({"machines": [dict(machine) for machine in machines]})
    assert not found
    return made


def groups(text: str) -> dict[str, list[str]]:
    """The groups of an INI inventory: Ansible's own form is that of configparser, with names alone."""
    parser = configparser.ConfigParser(allow_no_value=True, delimiters=("\0",))
    parser.read_string(text)
    return {section: list(parser[section]) for section in parser.sections()}


def test_fixed_machines_are_in_the_groups_of_kubespray() -> None:
    found = groups(inventory(MACHINES))
    assert found["all"] == [
        "cp-1 ansible_host=10.0.1.10 ip=10.0.1.10",
        "worker-1 ansible_host=10.0.2.10 ip=10.0.2.10",
        "worker-2 ansible_host=10.0.2.11 ip=10.0.2.11",
    ]
    assert found["kube_control_plane"] == ["cp-1"]
    assert found["kube_node"] == ["worker-1", "worker-2"]


def test_etcd_is_where_it_is_said_to_be_else_on_the_control_plane() -> None:
    assert groups(inventory(MACHINES))["etcd:children"] == ["kube_control_plane"]
    apart = [*MACHINES, {"name": "etcd-1", "address": "10.0.4.10", "roles": ["etcd"]}]
    assert groups(inventory(apart))["etcd"] == ["etcd-1"]


def test_windows_is_left_out_with_the_reason() -> None:
    comment = "".join(line for line in inventory(MACHINES).splitlines(keepends=True) if line.startswith("#"))
    assert "Kubespray has no playbooks for Windows" in comment
    assert "Left out: win-1." in comment
    assert not any("win-1" in member for members in groups(inventory(MACHINES)).values() for member in members)


@pytest.mark.parametrize(
    ("machines", "path", "code", "words"),
    [
        ([], "machines", "WK-INV-001", 'export "machines"'),
        ([*MACHINES, "cp-2"], "machines[4]", "WK-INV-002", "write {name, address, roles, system}"),
        ([*MACHINES, {"name": "x y", "address": "10.0.0.1"}], "machines[4].name", "WK-INV-002", 'got "x y"'),
        ([*MACHINES, {"name": "x", "address": "host"}], "machines[4].address", "WK-INV-002", 'got "host"'),
        ([*MACHINES, {"name": "x", "address": "10.0.0.1", "roles": ["etdc"]}], "machines[4].roles[0]", "WK-INV-002",
         'write "etcd"'),
        ([*MACHINES, {"name": "x", "address": "10.0.0.1", "roles": "node"}], "machines[4].roles", "WK-INV-002",
         "roles must be a list"),
        ([*MACHINES, {"name": "x", "address": "10.0.0.1", "system": "window"}], "machines[4].system", "WK-INV-002",
         'write "windows"'),
        ([*MACHINES, {"name": "x", "adress": "10.0.0.1"}], "machines[4].adress", "WK-INV-002", 'write "address"'),
        ([*MACHINES, MACHINES[0]], "machines[4].name", "WK-INV-002", "two machines have this name"),
        (MACHINES[1:], "machines", "WK-INV-003", "no Linux machine has the role control_plane"),
        ([*MACHINES, {"name": "cp-2", "address": "10.0.1.11", "roles": ["control_plane"]}], "machines", "WK-INV-003",
         "etcd needs an odd number of members, got 2; use 1 or 3"),
    ],
)  # fmt: skip
def test_a_mistake_is_explained(machines: Any, path: str, code: str, words: str) -> None:
    _, found = command.inventory({"machines": list(machines)})
    texts = [mistake.text() for mistake in found]
    assert any(text.startswith(f"{path}: ") and words in text and code in text for text in texts), texts


@pytest.fixture(scope="module")
def plan() -> dict[str, Any]:
    return to_json(evaluate(ROOT, "kubeadm-dev"))


def asked(document: Mapping[str, Any], region: str | None = None) -> tuple[dict[str, Any], str]:
    made, found = command.inventory(document, region)
    assert not found
    return yaml.safe_load(made), made


def test_groups_are_asked_for_by_their_tags(plan: dict[str, Any]) -> None:
    """The tags are those that the instances of the same plan get."""
    content, text = asked(plan)
    assert content["plugin"] == "amazon.aws.aws_ec2"
    assert content["regions"] == ["eu-central-1"]
    tags: dict[str, dict[str, str]] = {}
    for resource in plan["resources"]:
        if resource["type"] == "aws:autoscaling/group:Group":
            tags[resource["name"]] = {tag["key"]: tag["value"] for tag in resource["inputs"]["tags"]}
    (wanted,) = [key.removeprefix("tag:") for key in content["filters"] if key.startswith("tag:")]
    assert all(wanted in given for given in tags.values())
    slot, linux = tags["kubeadm-dev-cp-0"], tags["kubeadm-dev-linux-group"]
    assert slot["winkube.io/cluster"] in content["groups"]["kube_control_plane"]
    assert "winkube.io/slot" in slot
    assert f"== '{linux['winkube.io/instance-group']}'" in content["groups"]["group_linux"]
    assert content["exclude_filters"] == [{"platform": "windows"}]
    assert "group_windows_2022" not in content["groups"]
    assert "# Left out: windows-2022." in text


def test_outputs_say_no_region(plan: dict[str, Any]) -> None:
    """What ``pulumi stack output --json`` writes needs the region beside it."""
    assert asked(plan["outputs"], "eu-west-1")[0]["regions"] == ["eu-west-1"]
    _, found = command.inventory(plan["outputs"])
    assert [mistake.rule.code for mistake in found] == ["WK-INV-001"]
    assert found[0].remedy == "add --region"


def test_a_cluster_of_eks_has_no_inventory() -> None:
    _, found = command.inventory(to_json(evaluate(ROOT, "dev")))
    assert "EKS manages its own machines" in found[0].text()


def run(*arguments: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    parser = argparse.ArgumentParser()
    command.add_inventory(parser.add_subparsers())
    options = parser.parse_args(["inventory", *arguments])
    code = options.run(options)
    written = capsys.readouterr()
    return code, written.out, written.err


def test_the_command_writes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = tmp_path / "outputs.json"
    outputs.write_text(json.dumps({"machines": MACHINES}), encoding="utf-8")
    code, out, _ = run(str(outputs), capsys=capsys)
    assert (code, out) == (0, inventory(MACHINES))
    target = tmp_path / "inventory.ini"
    assert run(str(outputs), "--output", str(target), capsys=capsys)[0] == 0
    assert target.read_text(encoding="utf-8") == inventory(MACHINES)


def test_the_command_says_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], plan: dict[str, Any]
) -> None:
    """A missing file, a file of another kind, outputs of another stack, a name that Ansible does not know."""
    cases = {"missing.json": None, "text.json": "hosts", "list.json": "[]", "empty.json": "{}"}
    for name, content in cases.items():
        if content is not None:
            (tmp_path / name).write_text(content, encoding="utf-8")
        code, out, error = run(str(tmp_path / name), capsys=capsys)
        assert (code, out) == (2, ""), name
        assert error.startswith("error: "), name
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    arguments = [str(tmp_path / "plan.json"), "--output", str(tmp_path / "prod.yml")]
    code, _, error = run(*arguments, capsys=capsys)
    assert code == 2
    assert 'call it "prod.aws_ec2.yml"' in error
