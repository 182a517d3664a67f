"""The components in other languages: the same resources, and every mistake with its path and its remedy."""

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import pulumi
import pytest
import winkube
from winkube.plugin import provider
from winkube.plugin.argument_types import fields_of
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import UNKNOWN, Plan, Resource

from tests.test_contract import COMPONENTS, public_components

from .bed import ANSWERS, ROOT, Host, RefusedError, output, secret

every_component = pytest.mark.parametrize("kind", sorted(COMPONENTS))


def spelled(value: Any) -> Any:
    """Native arguments as another language sends them: camelCase, numbers as floats, defaults left out."""
    if is_dataclass(value) and not isinstance(value, type):
        own = {field.name: field for field in fields(value)}
        given = {field.key: getattr(value, field.name) for field in fields_of(type(value))
                 if getattr(value, field.name) != own[field.name].default}  # fmt: skip
        return {key: spelled(item) for key, item in given.items() if item is not None}
    if isinstance(value, Mapping):
        return {key: spelled(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [spelled(item) for item in value]
    if isinstance(value, pulumi.Output):
        return output()
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def native(kind: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, Any], Plan]:
    """The inputs of the component that the contract builds, and what it makes in Python."""
    component, inputs = getattr(winkube, kind), dict[str, Any]()

    def note(name: str, args: Any, opts: Any = None) -> Any:
        inputs.update(spelled(args))
        return component(name, args, opts)

    with monkeypatch.context() as patched:
        patched.setattr(winkube, kind, note, raising=False)
        plan = evaluate_function(lambda: COMPONENTS[kind]("it", pulumi.ResourceOptions()), mode=mode, answers=ANSWERS)
    return inputs, plan


def of_it(resources: Mapping[str, Resource], kind: str) -> dict[str, Any]:
    """What a component has made: URN to inputs."""
    return {urn: resource.inputs for urn, resource in resources.items()
            if f"winkube:index:{kind}$" in urn or urn.endswith(f"winkube:index:{kind}::it")}  # fmt: skip


def test_every_public_component_is_offered() -> None:
    assert set(provider.COMPONENTS) == public_components()
    assert list(provider.COMPONENTS) == sorted(provider.COMPONENTS)


@pytest.mark.verify
@pytest.mark.parametrize("mode", ["preview", "update"])
@every_component
def test_a_component_is_the_same_in_every_language(
    kind: str, mode: str, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Made over gRPC by another process, it has the URNs and the inputs that it has in a Python program."""
    inputs, plan = native(kind, mode, monkeypatch)
    outputs, resources = host.construct(kind, inputs, preview=mode == "preview")
    there, here = of_it(resources, kind), of_it(plan.by_urn, kind)
    assert there.keys() == here.keys()
    assert outputs["urn"] in there
    for urn in here.keys() - {outputs["urn"]}:
        assert there[urn] == here[urn], urn


@pytest.mark.verify
@every_component
def test_its_outputs_are_those_of_the_schema(kind: str, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing arrives that the schema does not have, and what it says is always there is."""
    inputs, _ = native(kind, "update", monkeypatch)
    outputs, _ = host.construct(kind, inputs, preview=False)
    described = provider.package_schema({kind: provider.classes(kind)}, "0")["resources"][f"winkube:index:{kind}"]
    assert set(outputs) - {"urn"} <= set(described["properties"])
    assert set(described["required"]) <= set(outputs)


def test_the_schema_is_the_one_of_the_code(host: Host) -> None:
    """The engine gets the reviewed file; renew it with ``make docs``."""
    assert host.schema() == provider.SCHEMA.read_text(encoding="utf-8") == provider.current_schema()


def test_the_schema_is_a_schema() -> None:
    """What Pulumi's generators need of it: references that lead somewhere, no reserved name, a word on each."""
    schema = json.loads(provider.current_schema())
    described = [*schema["resources"].values(), *schema["types"].values()]
    references = {found for text in map(json.dumps, described) for found in re.findall(r'"#/types/([^"]+)"', text)}
    assert references == set(schema["types"]), "each type is used, and each reference has its type"
    for item in described:
        assert set(item["required"]) <= set(item["properties"])
        assert set(item.get("requiredInputs", ())) <= set(item.get("inputProperties", ()))
        for name, shape in {**item["properties"], **item.get("inputProperties", {})}.items():
            assert name not in {"id", "urn", "pulumi"}
            assert shape["description"], name


def refused(host: Host, kind: str, inputs: Mapping[str, Any], **more: Any) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        host.construct(kind, inputs, **more)
    assert caught.value.code.name == "INVALID_ARGUMENT"
    return caught.value


CLUSTER = {"name": output(), "kubernetesVersion": "1.36"}
GROUP = {"name": "windows", "cluster": CLUSTER, "subnetIds": [output(), "subnet-2"]}
WRONG: Mapping[str, tuple[str, Mapping[str, Any], str, str, str]] = {
    "missing": ("Network", {}, "region", "WK-PLG-001", "set region: Region of the network"),
    "missing inside": ("EksWindowsNodeGroup", {**GROUP, "cluster": {"name": "c"}}, "cluster.kubernetesVersion",
                       "WK-PLG-001", "set kubernetesVersion: Its Kubernetes minor, such as 1.36"),
    "unknown": ("Network", {"region": "eu-central-1", "natt": "none"}, "natt", "WK-PLG-002", 'write "nat"'),
    "unknown inside": ("EksWindowsNodeGroup", {**GROUP, "cluster": {**CLUSTER, "endpiont": "1"}}, "cluster.endpiont",
                       "WK-PLG-002", 'write "endpoint"'),
    "unknown and like none": ("StateBucket", {"qqq": "x"}, "qqq", "WK-PLG-002", "remove it; the inputs are "),
    "number for text": ("EksWindowsNodeGroup", {**GROUP, "windows": 2022.0}, "windows", "WK-PLG-003",
                        'a text is needed, got 2022.0; put it in quotes: "2022"'),
    "text for number": ("EksWindowsNodeGroup", {**GROUP, "minSize": "1"}, "minSize", "WK-PLG-003",
                        'a whole number is needed, got "1"; write it without quotes'),
    "half a number": ("EksWindowsNodeGroup", {**GROUP, "minSize": 1.5}, "minSize", "WK-PLG-003",
                      "a whole number is needed, got 1.5"),
    "text for truth": ("Network", {"region": "eu-central-1", "publicSubnets": "yes"}, "publicSubnets", "WK-PLG-003",
                       'true or false is needed, got "yes"; write true or false'),
    "text for list": ("EksWindowsNodeGroup", {**GROUP, "instanceTypes": "m6i.large"}, "instanceTypes", "WK-PLG-003",
                      'a list of texts is needed, got "m6i.large"; write ["m6i.large"]'),
    "text for object": ("EksWindowsNodeGroup", {**GROUP, "cluster": "demo"}, "cluster", "WK-PLG-003",
                        "an object is needed"),
    "list for map": ("StateBucket", {"tags": ["a"]}, "tags", "WK-PLG-003", "an object is needed"),
    "none of two forms": ("Network", {"region": "eu-central-1", "zones": True}, "zones", "WK-PLG-003",
                          "a whole number or a list of texts is needed, got true"),
    "wrong in a list": ("EksWindowsNodeGroup", {**GROUP, "taints": [{"key": "a", "effect": 1.0}]}, "taints[0].effect",
                        "WK-PLG-003", "a text is needed"),
    "output": ("Network", {"region": output()}, "region", "WK-PLG-004", "read it from the configuration"),
    "known output": ("Network", {"region": output("eu-central-1", known=True)}, "region", "WK-PLG-004",
                     "a plain value is needed"),
    "secret": ("Network", {"region": secret("eu-central-1")}, "region", "WK-PLG-004", "not an output or a secret"),
    "output of a list": ("EksWindowsNodeGroup", {**GROUP, "subnetIds": output()}, "subnetIds", "WK-PLG-004",
                         "write a list; outputs may stand in it"),
    "output of an object": ("EksWindowsNodeGroup", {**GROUP, "cluster": output()}, "cluster", "WK-PLG-004",
                            "write the object; outputs may stand in it"),
    "output in free data": ("EksAddon", {"cluster": CLUSTER, "addonName": "coredns",
                                         "configurationValues": {"replicaCount": output()}},
                            "configurationValues.replicaCount", "WK-PLG-004", "a plain value is needed"),
    "unknown word": ("Network", {"region": "eu-central-1", "nat": "pre_zone"}, "nat", "WK-NET", '"per_zone"'),
    "a rule between inputs": ("Network", {"region": "eu-central-1", "publicSubnets": False}, "nat", "WK-NET-011",
                              'set publicSubnets to true or nat to "none"'),
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(WRONG))
def test_a_mistake_arrives_with_component_path_and_remedy(case: str, host: Host) -> None:
    """In the text that the user reads, and by path for the engine; in the spelling of the program."""
    kind, inputs, path, code, words = WRONG[case]
    error = refused(host, kind, inputs)
    assert error.text.startswith(f'{kind} "it" cannot be built from these inputs:\n  {kind}(it).{path}: ')
    assert code in error.reasons[path]
    assert words in error.reasons[path]
    assert error.reasons[path] in error.text


def test_all_mistakes_arrive_at_once(host: Host) -> None:
    error = refused(host, "Network", {"zones": True, "natt": "none", "cidr": 10.0})
    assert set(error.reasons) == {"region", "zones", "natt", "cidr"}


def test_nothing_is_made_when_an_input_is_wrong(host: Host) -> None:
    refused(host, "Network", {"region": "nowhere-1"})
    assert host.made() == {}


def test_a_component_that_is_not_there_is_named(host: Host) -> None:
    error = refused(host, "Netwerk", {})
    assert 'write "winkube:index:Network" [WK-PLG-005]' in error.text
    assert "WK-PLG-005" in refused(host, "other:index:Network", {}).text


def test_an_output_goes_where_one_may(host: Host) -> None:
    """Ids of other resources arrive unknown in a preview, and as they are once they are known."""
    group = "EksWindowsNodeGroup"
    _, unknown = host.construct(group, GROUP)
    _, known = host.construct(
        group, {**GROUP, "cluster": {**CLUSTER, "name": output("demo", known=True)}}, preview=False
    )
    names = [
        [resource.inputs["clusterName"] for resource in resources.values()
         if resource.type == "aws:eks/nodeGroup:NodeGroup"]
        for resources in (unknown, known)
    ]  # fmt: skip
    assert names == [[UNKNOWN], ["demo"]]


def test_a_secret_stays_one(host: Host) -> None:
    _, made = host.construct(
        "EksWindowsNodeGroup", {**GROUP, "cluster": {**CLUSTER, "name": output("s3cret", known=True, secret=True)}}
    )
    (group,) = [resource for resource in made.values() if resource.type == "aws:eks/nodeGroup:NodeGroup"]
    assert repr(group.inputs["clusterName"]) == "<secret>"


def test_a_program_may_move_from_python_to_another_language(host: Host) -> None:
    """One token for both: the URN that a state holds stays."""
    outputs, _ = host.construct("StateBucket", {})
    assert outputs["urn"] == "urn:pulumi:stack::project::winkube:index:StateBucket::it"


def test_the_page_shows_what_really_arrives(host: Host) -> None:
    """The mistake in docs/other-languages.md, with its lines joined, is what the provider says."""
    page = (ROOT / "docs" / "other-languages.md").read_text(encoding="utf-8")
    shown = " ".join(page.partition("```text\n")[2].partition("```")[0].split())
    old = {"cluster": {"name": "c", "kubernetesVersion": "1.34"}, "windows": "2025"}
    error = refused(host, "EksWindowsNodeGroup", {**GROUP, **old}, name="windows")
    assert " ".join(error.text.split()) == shown
