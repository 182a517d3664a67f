"""SARIF and JUnit of a plan, tree, JSON and Markdown of differences: shape, hostile texts, limits, secrets."""

import base64
import html
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pulumi
import pulumi_aws as aws
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from winkube.preview.checks.plan import check_plan
from winkube.preview.cli.main import main
from winkube.preview.comparison import node_impact
from winkube.preview.comparison.compare import compare
from winkube.preview.comparison.difference import Difference
from winkube.preview.evaluation.evaluate import evaluate, evaluate_function
from winkube.preview.model import Finding, Plan, Severity, Source
from winkube.preview.output import difference_formats
from winkube.preview.output.difference_formats import json_text, tree_text
from winkube.preview.output.difference_markdown import code, escape, fence, markdown_text
from winkube.preview.output.plan_formats import json_text as plan_json
from winkube.preview.output.plan_formats import markdown_text as plan_markdown
from winkube.preview.output.plan_formats import tree_text as plan_tree
from winkube.preview.output.sarif_junit import CHECKS, junit_text, sarif_text, to_sarif

from ..programs import write_program

SCHEMA = json.loads((Path(difference_formats.__file__).parent / "difference.schema.json").read_text())
Build = Callable[[], Any]

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
# What the OASIS standard (SARIF 2.1.0, §3) asks of the parts that are written here; nothing else may be written.
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "additionalProperties": False,
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "additionalProperties": False,
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "additionalProperties": False,
                                "properties": {
                                    "name": {"type": "string"},
                                    "semanticVersion": {"type": "string"},
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "required": ["id"],
                                            "additionalProperties": False,
                                            "properties": {
                                                "id": {"type": "string"},
                                                "shortDescription": TEXT,
                                                "defaultConfiguration": {
                                                    "type": "object",
                                                    "additionalProperties": False,
                                                    "properties": {"level": LEVEL},
                                                },
                                            },
                                        },
                                    },
                                },
                            }
                        },
                    },
                    "automationDetails": {"type": "object", "required": ["id"]},
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "originalUriBaseIds": {"type": "object"},
                    "results": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["message", "ruleId", "level", "locations", "partialFingerprints"],
                            "additionalProperties": False,
                            "properties": {
                                "ruleId": {"type": "string"},
                                "ruleIndex": {"type": "integer", "minimum": 0},
                                "level": LEVEL,
                                "message": TEXT,
                                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                                "locations": {
                                    "type": "array",
                                    "minItems": 1,
                                    "items": {
                                        "type": "object",
                                        "additionalProperties": False,
                                        "required": ["physicalLocation"],
                                        "properties": {
                                            "logicalLocations": {
                                                "type": "array",
                                                "items": {
                                                    "type": "object",
                                                    "additionalProperties": False,
                                                    "properties": {
                                                        "fullyQualifiedName": {"type": "string"},
                                                        "kind": {"const": "resource"},
                                                    },
                                                },
                                            },
                                            "physicalLocation": {
                                                "type": "object",
                                                "additionalProperties": False,
                                                "required": ["artifactLocation", "region"],
                                                "properties": {
                                                    "artifactLocation": {
                                                        "type": "object",
                                                        "additionalProperties": False,
                                                        "required": ["uri"],
                                                        "properties": {
                                                            "uri": {
                                                                "type": "string",
                                                                "pattern": "^[^/ \\\\][^ \\\\]*$",
                                                            },
                                                            "uriBaseId": {"const": "SRCROOT"},
                                                        },
                                                    },
                                                    "region": {
                                                        "type": "object",
                                                        "additionalProperties": False,
                                                        "properties": {"startLine": {"type": "integer", "minimum": 1}},
                                                    },
                                                },
                                            },
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}


def validated(plan: Plan) -> dict[str, Any]:
    document = json.loads(sarif_text(plan))
    Draft202012Validator(SARIF).validate(document)
    return document["runs"][0]


def with_findings(*findings: Finding, directory: Path | None = None) -> Plan:
    plan = evaluate_function(lambda: None)
    plan.findings = list(findings)
    if directory:
        plan.directory = str(directory)
    return plan


def diff(base: Build, head: Build) -> Difference:
    return compare(evaluate_function(base), evaluate_function(head), base_label="main", head_label="working tree")


def vpcs(count: int, **tags: str) -> Build:
    def build() -> None:
        for number in range(count):
            aws.ec2.Vpc(f"vpc-{number:04}", cidr_block="10.0.0.0/16", tags=tags)

    return build


class TestSarif:
    def test_a_real_finding_stands_at_its_line(self, tmp_path: Path) -> None:
        """Relative to the top of the repository, percent-encoded."""
        (tmp_path / ".git").mkdir()
        folder = tmp_path / "my infra"
        folder.mkdir()
        write_program(folder, "import pulumi_aws as aws\naws.ec2.Vpc('vpc', cidr_block=5)\n")
        plan = evaluate(folder, "dev")
        plan.findings += check_plan(plan)
        run = validated(plan)
        (result,) = run["results"]
        assert (result["ruleId"], result["level"]) == ("check/inputs", "warning")
        assert result["locations"][0]["physicalLocation"] == {
            "artifactLocation": {"uri": "my%20infra/__main__.py", "uriBaseId": "SRCROOT"},
            "region": {"startLine": 2},
        }
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "check/inputs"
        assert run["automationDetails"]["id"] == "winkube/demo/dev/"

    @pytest.mark.parametrize("severity", list(Severity))
    def test_levels(self, severity: Severity) -> None:
        run = validated(with_findings(Finding("check/x", severity, "m")))
        assert run["results"][0]["level"] == str(severity)
        assert run["tool"]["driver"]["rules"][0]["defaultConfiguration"]["level"] == str(severity)

    def test_what_is_made_elsewhere_stands_at_the_project(self, tmp_path: Path) -> None:
        """A file outside the repository cannot be shown; a finding without a place still needs one."""
        findings = [
            Finding("check/x", Severity.NOTE, "m", "u", Source("/usr/lib/python3/thing.py", 9)),
            Finding("check/x", Severity.NOTE, "m"),
        ]
        for result in validated(with_findings(*findings, directory=tmp_path))["results"]:
            place = result["locations"][0]["physicalLocation"]
            assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("Pulumi.yaml", 1)

    def test_a_file_beside_the_program(self, tmp_path: Path) -> None:
        (tmp_path / ".git").mkdir()
        (tmp_path / "infra").mkdir()
        finding = Finding("check/x", Severity.NOTE, "m", "u", Source("../lib/x.py", 3))
        (result,) = validated(with_findings(finding, directory=tmp_path / "infra"))["results"]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "lib/x.py"

    def test_fingerprints_survive_moved_lines_and_other_words(self) -> None:
        """They tell findings apart and are the same in the next run."""
        urn = "urn:pulumi:dev::demo::a:b/c:D::e"
        one = Finding("check/x", Severity.NOTE, "five", urn, Source("a.py", 5), "p")
        moved = replace(one, message="six", source=Source("a.py", 6))
        other = replace(one, path="q")

        def prints(*findings: Finding) -> list[str]:
            results = to_sarif(with_findings(*findings))["runs"][0]["results"]
            return [result["partialFingerprints"]["winkubeFinding/v1"] for result in results]

        assert prints(one) == prints(moved)
        assert len(set(prints(one, moved, other))) == 3

    def test_rules_are_listed_once(self) -> None:
        run = validated(with_findings(*[Finding("policy/p/imds", Severity.ERROR, "m", str(n)) for n in range(3)]))
        assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["policy/p/imds"]
        assert run["tool"]["driver"]["rules"][0]["shortDescription"]["text"] == "Policy imds of p"

    def test_no_findings(self) -> None:
        assert validated(with_findings())["results"] == []


class TestJunit:
    def test_a_case_per_check(self) -> None:
        """Failed where it found an error or a warning; notes are output; the others pass."""
        plan = with_findings(
            Finding("check/inputs", Severity.ERROR, "first", "urn:x", Source("a.py", 1), "p", "do it"),
            Finding("check/inputs", Severity.WARNING, "second"),
            Finding("check/remote-component", Severity.NOTE, "third"),
            Finding("policy/pack/rule", Severity.WARNING, "fourth"),
        )
        suites = ET.fromstring(junit_text(plan, ["policy/pack/quiet"]))  # noqa: S314
        (suite,) = suites
        cases = {f"{case.get('classname')}/{case.get('name')}": case for case in suite}
        assert suite.get("tests") == str(len(CHECKS) + 2) == str(len(cases))
        assert suite.get("failures") == "2"
        failure = cases["winkube.check/inputs"].find("failure")
        assert failure is not None
        assert failure.get("message") == "2 findings: first"
        assert "remedy: do it\nat: p of urn:x (a.py:1)" in (failure.text or "")
        assert cases["winkube.check/remote-component"].findtext("system-out") == "note check/remote-component: third"
        assert cases["winkube.policy.pack/rule"].find("failure") is not None
        assert cases["winkube.policy.pack/quiet"].find("failure") is None

    def test_texts_that_xml_cannot_say(self) -> None:
        hostile = "a\x00b\x1b[31m<failure/>&\ufffe]]>\U0001f600"
        suites = ET.fromstring(junit_text(with_findings(Finding("check/inputs", Severity.ERROR, hostile))))  # noqa: S314
        failure = suites.find(".//failure")
        assert failure is not None
        assert failure.get("message") == "a�b�[31m<failure/>&�]]>\U0001f600"


class TestJson:
    def test_it_fits_its_schema(self) -> None:
        """Every kind of entry at once."""

        def base() -> None:
            aws.ec2.Vpc("stays", cidr_block="10.0.0.0/16", tags={"a": "1"})
            aws.ec2.Vpc("goes", cidr_block="10.0.0.0/16")
            aws.ssm.get_parameter_output(name="a")
            aws.eks.NodeGroup("g", cluster_name="c", node_role_arn="r", subnet_ids=["s"],
                              ami_type="WINDOWS_CORE_2022_x86_64",
                              scaling_config={"min_size": 1, "max_size": 2, "desired_size": 1})  # fmt: skip
            pulumi.export("o", 1)

        def head() -> None:
            aws.ec2.Vpc("stays", cidr_block="10.1.0.0/16")
            aws.ec2.Vpc("comes", cidr_block="10.0.0.0/16")
            aws.ssm.get_parameter_output(name="b")

        ours, theirs = evaluate_function(base), evaluate_function(head)
        theirs.findings.append(Finding("check/x", Severity.ERROR, "m", source=Source("a.py", 1)))
        ours.findings.append(Finding("check/y", Severity.NOTE, "m"))
        document = json.loads(json_text([compare(ours, theirs)]))
        Draft202012Validator(SCHEMA).validate(document)
        (entry,) = document["stacks"]
        assert all(entry[name] for name in entry if name != "notes")
        assert entry["summary"] == {
            "added": 1, "changed": 1, "removed": 2, "renamed": 0, "unchanged": 0, "replaced": 1, "perhapsReplaced": 0,
            "disruptions": 1, "newFindings": 1, "goneFindings": 1,
        }  # fmt: skip

    def test_the_schema_knows_every_effect(self) -> None:
        effects = SCHEMA["$defs"]["difference"]["properties"]["disruptions"]["items"]["properties"]["effect"]["enum"]
        assert tuple(effects) == node_impact.EFFECTS


class TestTree:
    def test_what_matters_is_in_front(self) -> None:
        def build(cidr: str, name: str) -> Build:
            def body() -> None:
                aws.ec2.Vpc("a", cidr_block="10.0.0.0/16", tags={"Name": name})
                aws.ec2.Vpc("b", cidr_block=cidr)

            return body

        lines = tree_text([diff(build("10.0.0.0/16", "x"), build("10.1.0.0/16", "y"))]).splitlines()
        assert lines[0] == "project/stack: main → working tree"
        replaced, changed = (lines.index(next(line for line in lines if line.startswith(sign))) for sign in "±~")
        assert replaced < changed
        assert lines[replaced].startswith("± ec2.Vpc  b  replaces")
        assert "0 added, 2 changed (1 replaced), 0 removed, 0 unchanged" in lines

    def test_siblings_share_a_line(self) -> None:
        assert "+ ec2.Vpc ×6  vpc-0000 … vpc-0005" in tree_text([diff(lambda: None, vpcs(6))])

    def test_nothing_differs(self) -> None:
        assert "no differences in 2 resources" in tree_text([diff(vpcs(2), vpcs(2))])

    def test_control_characters_are_spelled_out(self) -> None:
        text = tree_text([diff(vpcs(1, a="x"), vpcs(1, a="\x1b[2J\u202eevil"))])
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "evil" in text


HOSTILE = st.one_of(
    st.sampled_from([
        "```\n</details><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "@everyone #1 `x` ``y``",
        "~~~\n# h", "</summary>", "[a](javascript:alert(1))", "| a | b |", "\u202egnp.exe", "x" * 5000, "😀" * 500,
        "\r\n\r\n## h", "-->",
    ]),
    st.text(max_size=60),
)  # fmt: skip


def outside(markdown: str) -> str:
    """A Markdown text without what stands in fences and code spans, as a reader of CommonMark finds them."""
    kept: list[str] = []
    closing = ""
    for line in markdown.splitlines():
        ticks = re.match(r"(`{3,})", line)
        if closing:
            if line.strip() == closing:
                closing = ""
            continue
        if ticks:
            closing = ticks[1]
            continue
        kept.append(re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", line))
    assert not closing, "a fence is open at the end"
    return "\n".join(kept)


class TestMarkdown:
    @settings(max_examples=60)
    @given(HOSTILE, HOSTILE, HOSTILE)
    def test_nothing_breaks_out(self, name: str, before: str, after: str) -> None:
        """No hostile name or value reaches the page as markup, whatever it holds."""
        difference = diff(vpcs(1, a="1"), vpcs(1, a="2"))
        (item,) = difference.changed
        change = replace(item.changes[0], path=name, before=before, after=after, note=name, lines=(after, before))
        difference.changed = [
            replace(item, name=name, source=name, notes=(before,), changes=(change, replace(change, lines=())))
        ]
        finding = Finding("check/x", Severity.ERROR, after, f"urn::{name}", Source(name, 1), name, before)
        difference.new_findings = [finding]
        difference.notes = [after]
        difference.lookups = [("added", before)]
        difference.head = replace(difference.head, label=name)
        text = markdown_text([difference])
        rest = outside(text)
        tags = set(re.findall(r"<[^>]*>?", rest))
        assert tags <= {"<details>", "</details>", "<summary>", "</summary>", "<sub>", "</sub>"}
        assert "@" not in rest
        assert "](" not in rest
        assert rest.count("<details>") == rest.count("</details>") == text.count("\n<details>")
        assert sum(line.startswith("#") for line in rest.splitlines()) == 2

    def test_it_stays_under_its_limit(self) -> None:
        """A thousand replaced resources: the page says how many parts have no room."""
        difference = diff(vpcs(1000, a="1"), vpcs(1000, a="2" * 400))
        difference.changed = [replace(item, name="n" * 300, notes=("x" * 500,)) for item in difference.changed]
        text = markdown_text([difference])
        assert len(text.encode()) <= 60_000
        assert "more sections do not fit here" in text
        assert text.startswith("## What this change does")
        assert "<sub>" in text
        outside(text)

    def test_the_heads_of_all_stacks_have_room(self) -> None:
        difference = diff(vpcs(300, a="1"), vpcs(300, a="2" * 300))
        text = markdown_text([difference] * 12)
        assert len(text.encode()) <= 60_000
        assert text.count("### ") == 12

    @pytest.mark.parametrize("limit", [2_000, 5_000])
    def test_any_number_of_stacks(self, limit: int) -> None:
        text = markdown_text([diff(vpcs(5, a="1"), vpcs(5, a="2"))] * 200, limit)
        assert len(text.encode()) <= limit

    def test_the_same_difference_gives_the_same_text(self) -> None:
        texts = {markdown_text([diff(vpcs(9, a="1", b="2"), vpcs(9, b="2", a="3"))]) for _ in range(3)}
        assert len(texts) == 1

    def test_node_impacts_come_first(self) -> None:
        def group(image: str) -> Build:
            return lambda: aws.eks.NodeGroup(
                "win", cluster_name="c", node_role_arn="r", subnet_ids=["s"], ami_type=image,
                scaling_config={"min_size": 1, "max_size": 2, "desired_size": 1},
            )  # fmt: skip

        text = markdown_text([diff(group("WINDOWS_CORE_2022_x86_64"), group("WINDOWS_CORE_2025_x86_64"))])
        assert 0 < text.index("#### ⚠ Impact on Windows nodes\n\n- **win**: replaced") < text.index("<details>")

    def test_helpers(self) -> None:
        """Entities show as what they stand for; spans and fences are longer than what is in them."""
        assert html.unescape(escape("<a> *b* `c` @d")) == "<a> *b* `c` @d"
        assert code("a`b``c") == "```a`b``c```"
        assert code("`") == "`` ` ``"
        assert fence(["````"])[0] == "`````diff"


class TestSecrets:
    @settings(max_examples=20)
    @given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), min_size=8, max_size=20), st.data())
    def test_no_format_shows_a_secret(self, secret: str, data: st.DataObject) -> None:
        """Settings and outputs, marked or repeated without a mark; every format of plans and of differences."""
        secret = f"kZ{secret}7Qw"
        shift = "x" * data.draw(st.integers(0, 2))

        def build(round_: int) -> Build:
            def body() -> None:
                value = pulumi.Config().require_secret("password")
                aws.ssm.Parameter("p", type="SecureString", value=value.apply(lambda text: f"{text}{round_}"))
                aws.ec2.Vpc("v", cidr_block="10.0.0.0/16", tags={"plain": f"{secret}{round_}", f"k{round_}": secret})
                script = base64.b64encode(f"{shift}{secret}\n{round_}".encode()).decode()
                aws.ec2.LaunchTemplate("t", user_data=script)
                aws.ssm.get_parameter_output(name=f"{secret}/{round_}")
                pulumi.export("marked", value)
                pulumi.export("plain", f"{secret} {round_}")
                if round_ == 2:
                    aws.sqs.Queue("q", tags={"t": secret})

            return body

        plans = [evaluate_function(build(number), config={"project:password": secret}) for number in (1, 2)]
        for plan in plans:
            plan.findings.append(
                Finding("check/x", Severity.ERROR, f"holds {secret}", "urn", path=secret, remedy=secret)
            )
        difference = compare(*plans)
        texts = {
            "tree": tree_text([difference], 10_000),
            "json": json_text([difference]),
            "markdown": markdown_text([difference]),
            "sarif": sarif_text(plans[1]),
            "junit": junit_text(plans[1]),
        }
        needles = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], html.escape(secret),
                   escape(secret), difference_formats.visible(secret)}  # fmt: skip
        for name, text in texts.items():
            for needle in needles:
                assert needle not in text, name
            for offset in range(3):
                assert base64.b64encode(b"\0" * offset + secret.encode()).decode()[4:-4] not in text, name

    def test_a_plan_shows_no_marked_secret(self) -> None:
        """The formats of a plan that show values show marks."""

        def build() -> None:
            aws.ssm.Parameter("p", type="SecureString", value=pulumi.Output.secret("hunter2-hunter2"))
            pulumi.export("o", pulumi.Output.secret("hunter2-hunter2"))

        plan = evaluate_function(build)
        for text in (plan_tree(plan), plan_json(plan), plan_markdown(plan)):
            assert "hunter2" not in text


class TestCommand:
    @pytest.fixture
    def repository(self, tmp_path: Path) -> Path:
        write_program(tmp_path, "import pulumi_aws as aws\naws.ec2.Vpc('v', cidr_block='10.0.0.0/16')\n")
        (tmp_path / "Pulumi.prod.yaml").write_text("config: {}\n")
        who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
        for arguments in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "x"]):
            subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True)
        write_program(tmp_path, "import pulumi_aws as aws\naws.ec2.Vpc('v', cidr_block='10.1.0.0/16')\n")
        return tmp_path

    @staticmethod
    def run(repository: Path, *arguments: str) -> int:
        return main(["diff", *arguments, "--program", str(repository)])

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            ([], 0),
            (["--fail-on", "change"], 1),
            (["--fail-on", "replace"], 1),
            (["--fail-on", "perhaps-replace"], 1),
            (["--fail-on", "disruption", "--fail-on", "finding"], 0),
        ],
    )
    def test_exit_codes(self, repository: Path, arguments: list[str], code: int) -> None:
        """A difference is no error unless it is named as one."""
        assert self.run(repository, "HEAD", "--stack", "dev", *arguments) == code

    @pytest.mark.verify
    def test_all_stacks_as_json(self, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.run(repository, "HEAD", "--format", "json") == 0
        document = json.loads(capsys.readouterr().out)
        Draft202012Validator(SCHEMA).validate(document)
        assert [entry["head"]["stack"] for entry in document["stacks"]] == ["dev", "prod"]
        assert self.run(repository, "HEAD", "--format", "json", "--stacks", "prod") == 0
        assert len(json.loads(capsys.readouterr().out)["stacks"]) == 1

    def test_two_stacks(self, repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert self.run(repository, "--stack", "prod", "--against", "dev", "--fail-on", "change") == 0
        assert capsys.readouterr().out.startswith("demo/dev → demo/prod: stack dev → stack prod\n")

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            ([], "name a revision to compare with (winkube diff main), or two stacks with --stack and --against"),
            (["main", "--stack", "a", "--against", "b"], "write --stack HEAD --against BASE, without a revision"),
            (["--against", "dev"], "write --stack HEAD --against BASE, without a revision"),
            (["HEAD", "--answers", "no.yaml"], "--answers no.yaml: there is no such file"),
            (["HEAD", "--policies", "nowhere"], "is not a Python policy pack"),
            (["HEAD", "--policy-config", "Pulumi.yaml"], "--policy-config"),
            (["nowhere"], 'there is no revision "nowhere"'),
            (["HEAD", "--stack", "dve"], 'Did you mean "dev"?'),
            (["HEAD", "--stack", "dev", "--output", "no/such/folder/x"], "No such file or directory"),
        ],
    )
    def test_wrong_arguments(
        self, repository: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        monkeypatch.chdir(repository)
        assert self.run(repository, *arguments) == 2
        captured = capsys.readouterr()
        assert words in captured.err
        assert captured.out == ""

    @pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan", "inf"])
    def test_a_wrong_time_limit(self, repository: Path, seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit):
            self.run(repository, "HEAD", f"--timeout={seconds}")
        assert "must be a number of seconds" in capsys.readouterr().err

    @pytest.mark.parametrize("name", ["sarif", "junit"])
    def test_preview_in_other_formats(self, repository: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["preview", "dev", "--program", str(repository), "--format", name]) == 0
        out = capsys.readouterr().out
        if name == "sarif":
            Draft202012Validator(SARIF).validate(json.loads(out))
        else:
            assert ET.fromstring(out).get("failures") == "0"  # noqa: S314

    def test_help_needs_no_sdk(self) -> None:
        code = (
            "import sys; from winkube.preview.cli.main import main\n"
            "try: main(['diff', '--help'])\n"
            "except SystemExit: pass\n"
            "print([m for m in sys.modules if m.startswith(('pulumi', 'grpc', 'rich', 'google'))])"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert "--fail-on" in done.stdout
        assert done.stdout.splitlines()[-1] == "[]"
