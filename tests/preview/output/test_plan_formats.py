"""How a plan is shown."""

import json
import re
from pathlib import Path

import jsonschema
import pulumi
import pulumi_aws as aws
import pytest
from markdown_it import MarkdownIt
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import UNKNOWN, Finding, Plan, Reference, Secret, Severity, Source
from winkube.preview.output import plan_formats

SCHEMA = json.loads((Path(plan_formats.__file__).parent / "plan.schema.json").read_text())


class Windows(pulumi.ComponentResource):
    def __init__(self, name: str) -> None:
        super().__init__("demo:index:Windows", name)
        aws.eks.NodeGroup(
            f"{name}-group", cluster_name="c", node_role_arn="arn:aws:iam::1:role/r", subnet_ids=["s"],
            scaling_config={"min_size": 1, "max_size": 3, "desired_size": 1}, instance_types=["m7i.large"],
            ami_type="WINDOWS_CORE_2022_x86_64", opts=pulumi.ResourceOptions(parent=self),
        )  # fmt: skip
        self.register_outputs({"windowsRelease": "2022", "amiParameter": "/aws/service/x"})


def example(mode: str = "preview") -> Plan:
    def build() -> None:
        Windows("win")
        for index in range(6):
            aws.ec2.Vpc(f"vpc{index}", cidr_block="10.0.0.0/16")
        aws.ssm.Parameter("p", type="SecureString", value=pulumi.Output.secret("hunter2"))
        pulumi.export("secret", pulumi.Output.secret("hunter2"))
        pulumi.export("image", aws.ssm.get_parameter_output(name="/x").value)

    plan = evaluate_function(build, mode=mode)
    plan.findings.append(
        Finding(
            "check/x", Severity.ERROR, "is wrong | here", plan.resources[0].urn, Source("a.py", 3), "a.b", "mend it"
        )
    )
    return plan


@pytest.mark.parametrize("mode", ["preview", "update"])
def test_json_fits_its_published_schema(mode: str) -> None:
    document = plan_formats.to_json(example(mode))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    assert document["schemaVersion"] == SCHEMA["properties"]["schemaVersion"]["const"] == plan_formats.SCHEMA_VERSION


@pytest.mark.parametrize("show", [plan_formats.json_text, plan_formats.tree_text, plan_formats.markdown_text])
def test_no_form_shows_a_secret_or_changes_between_runs(show: object) -> None:
    assert callable(show)
    first, second = show(example()), show(example())
    assert first == second
    assert "hunter2" not in first
    assert "[secret]" in first


def test_values_become_what_json_can_say() -> None:
    value = {"b": 3.0, "a": [UNKNOWN, Secret({"x": 1}), Reference("urn:1"), 0.5, None, True]}
    assert plan_formats.to_json_value(value) == {"a": ["[unknown]", "[secret]", "urn:1", 0.5, None, True], "b": 3}
    assert list(plan_formats.to_json_value(value)) == ["a", "b"]


def test_the_tree_folds_siblings_and_shows_groups_findings_and_outputs() -> None:
    text = plan_formats.tree_text(example())
    assert "ec2.Vpc ×6  vpc0 … vpc5" in text
    assert "Windows  win  (1 resource)" in text
    assert "2022" in text
    assert "/aws/service/x" in text
    assert "1–3" in text
    assert "m7i.large" in text
    assert "error check/x: is wrong | here" in text
    assert "remedy: mend it" in text
    assert "at: a.b of urn:pulumi:stack::project::" in text
    assert "(a.py:3)" in text
    assert "aws:ssm/getParameter:getParameter" in text
    assert "8 resources in 1 component; 1 error" in text
    assert "\x1b[" not in text


def test_a_plain_eks_group_of_windows_nodes_is_shown_too() -> None:
    def build() -> None:
        aws.eks.NodeGroup("plain", cluster_name="c", node_role_arn="r", subnet_ids=["s"],
                          scaling_config={"min_size": 2, "max_size": 2, "desired_size": 2},
                          ami_type="WINDOWS_FULL_2025_x86_64")  # fmt: skip

    (group,) = plan_formats.windows_groups(evaluate_function(build))
    assert (group.name, group.release, group.image) == ("plain", "2025", "WINDOWS_FULL_2025_x86_64")


def test_markdown_says_findings_first_and_folds_the_rest() -> None:
    text = plan_formats.markdown_text(example())
    assert text.startswith("## Preview of `project/stack`\n\n**8 resources in 1 component; 1 error**\n\n- **error**")
    assert "is wrong &#124; here (`check/x`) `a.py:3`\n  - mend it\n" in text
    assert text.index("mend it") < text.index("<details><summary>Resources by type")


HOSTILE = "```\n</details><script>alert(1)</script> @everyone | `x` \u202e"


def test_markdown_of_hostile_names_and_values_stays_in_its_fences() -> None:
    """What a program names its things cannot leave a code span, a fence or a line."""

    def build() -> None:
        aws.ec2.Vpc("vpc" + HOSTILE.replace("\n", ""), cidr_block="10.0.0.0/16")
        pulumi.export("out", HOSTILE)

    plan = evaluate_function(build)
    plan.findings.append(Finding("check/x", Severity.ERROR, HOSTILE, path=HOSTILE))
    text = plan_formats.markdown_text(plan)
    assert "\u202e" not in text
    tokens = [token for block in MarkdownIt("commonmark").parse(text) for token in (block, *(block.children or ()))]
    html = {line for token in tokens if token.type.startswith("html_") for line in token.content.splitlines()}
    ours = re.compile(r"</?details>(<summary>[A-Z][a-zA-Z() ]+</summary>)?|</?sub>|")
    assert all(ours.fullmatch(line) for line in html), html
    assert any("alert(1)" in token.content for token in tokens if token.type in ("code_inline", "fence"))


SECRET = "correct-horse-battery"


@pytest.mark.parametrize("show", [plan_formats.json_text, plan_formats.tree_text, plan_formats.markdown_text])
def test_a_secret_that_stands_elsewhere_unmarked_is_hidden_too(show: object) -> None:
    """A program may spill a secret into a message or a name of an output: no form shows it."""
    assert callable(show)

    def build() -> None:
        aws.ssm.Parameter("p", type="SecureString", value=pulumi.Output.secret(SECRET))
        aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", tags={"note": f"the word is {SECRET}"})
        pulumi.export("spilled", f"x-{SECRET}-y")

    plan = evaluate_function(build)
    plan.findings.append(Finding("check/x", Severity.ERROR, f"the value {SECRET} is weak", remedy=f"change {SECRET}"))
    assert SECRET not in show(plan)
