"""The page of a plan, as text: what is on it, what must not be, and how large it is."""

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from winkube.preview.comparison.compare import compare
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import Finding, Severity, Source
from winkube.preview.output.artefacts import artefacts, decoded_user_data
from winkube.preview.output.report.page import report_html

from ...conftest import Record
from ..landscapes import POWERSHELL, hostile_plan, landscape

BIG = 1_000


class Parsed(HTMLParser):
    """The page as a browser would part it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._open, []).append(data)

    def attributes(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def resource_of(page: str, name: str) -> dict[str, Any]:
    return next(resource for resource in data_of(page)["resources"] if resource["n"] == name)


def test_the_page_has_summary_findings_topology_resources_outputs_and_artefacts(record: Record) -> None:
    plan = record(landscape)
    plan.findings.append(
        Finding("check/x", Severity.ERROR, "is broken", plan.resources[0].urn, Source("m.py", 3), "a.b", "mend it")
    )
    page = report_html(plan)
    parsed = Parsed(page)
    sections = ["summary", "findings", "topology", "resources", "outputs", "artefacts"]
    assert [attributes["id"] for attributes in parsed.attributes("section")] == sections
    for words in (
        "is broken",
        "mend it",
        "check/x",
        "m.py:3",
        "a.b",
        "net-vpc",
        "Windows Server 2022",
        "&lt;powershell&gt;",
    ):
        assert words in page
    assert len(data_of(page)["resources"]) == len(plan.resources)


def test_the_policy_names_the_one_script_by_its_hash(record: Record) -> None:
    page = report_html(record(landscape))
    (policy,) = [
        a["content"] for a in Parsed(page).attributes("meta") if a.get("http-equiv") == "Content-Security-Policy"
    ]
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )


def test_the_page_refers_to_nothing_outside(record: Record) -> None:
    page = report_html(record(landscape))
    parsed = Parsed(page)
    for tag, attributes in parsed.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert "src" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        href = attributes.get("href")
        assert href is None or href.startswith("#")
    style = " ".join(parsed.texts["style"])
    assert "url(" not in style
    assert "@import" not in style


def test_every_link_of_the_page_has_its_target(record: Record) -> None:
    page = report_html(record(landscape))
    parsed = Parsed(page)
    targets = {str(a["id"]) for _, a in parsed.tags if "id" in a} | {
        f"r{i}" for i in range(len(data_of(page)["resources"]))
    }
    links = {str(a["href"]).removeprefix("#") for a in parsed.attributes("a")}
    assert links <= targets
    assert any(link.startswith("r") for link in links)


def test_equal_plans_give_equal_pages(record: Record) -> None:
    assert report_html(record(landscape)) == report_html(record(landscape))


def test_an_empty_plan_has_a_page(record: Record) -> None:
    page = report_html(record(lambda: None))
    for words in ("There are no findings.", "The program has no stack outputs.", "no resource that could be drawn"):
        assert words in page


def test_texts_that_are_shown_unpacked_are_not_shown_twice(record: Record) -> None:
    page = report_html(record(lambda: aws.ec2.LaunchTemplate("win", user_data=POWERSHELL)))
    template = resource_of(page, "win")
    assert template["i"] == {"userData": "[rendered below]"}
    assert template["a"] == {"userData": [["", 0]]}
    assert 'id="a0"' in page
    assert POWERSHELL not in page


def test_options_name_other_resources_by_type_and_name(record: Record) -> None:
    options = resource_of(report_html(record(landscape)), "linux")["x"]
    assert options["computed from"]["clusterName"] == ["eks.Cluster prod"]
    assert options["computed from"]["subnetIds"] == ["ec2.Subnet net-private-a", "ec2.Subnet net-private-b"]


def test_a_difference_has_its_section(record: Record) -> None:
    def before() -> None:
        aws.s3.Bucket("kept", bucket="old-name", tags={"a": "1"})
        aws.s3.Bucket("gone")

    def after() -> None:
        aws.s3.Bucket("kept", bucket="new-name", tags={"a": "2"})
        aws.s3.Bucket("come")

    base, head = record(before), record(after)
    page = report_html(head, difference=compare(base, head, base_label="main", head_label="work"))
    section = page[page.index('<section id="difference"') : page.index('<section id="topology"')]
    for words in (
        "main",
        "work",
        "1 added, 1 changed, 1 removed",
        "gone",
        "come",
        "old-name",
        "new-name",
        "replaces",
    ):
        assert words in section


# -- artefacts -------------------------------------------------------------------------------------------------


def test_artefacts_are_unpacked_by_kind(record: Record) -> None:
    def build() -> None:
        landscape()
        k8s.core.v1.ConfigMap("conf", metadata={"name": "conf"}, data={"run.ps1": "one\ntwo\n"})
        aws.s3.BucketObjectv2("doc", bucket="b", content="kind: A\nb: 1\nc: 2\nd: 3\n")

    found = {(artefact.kind, artefact.language): artefact.text for artefact in artefacts(record(build))}
    assert found["User data", "powershell"] == "<powershell>\nWrite-Output 'hello'\n</powershell>\n"
    assert json.loads(found["IAM documents", "json"])["Statement"][0]["Effect"] == "Allow"
    assert found["Add-on configuration", "yaml"] == "enableWindowsIpam: 'true'\n"
    assert found["Documents", "text"] == "kind: A\nb: 1\nc: 2\nd: 3\n"
    assert found["Manifests", "yaml"].startswith("apiVersion: v1\nkind: ")


def test_texts_of_several_lines_are_blocks_in_a_manifest(record: Record) -> None:
    plan = record(lambda: k8s.core.v1.ConfigMap("conf", metadata={"name": "conf"}, data={"run.ps1": "one\ntwo\n"}))
    (artefact,) = artefacts(plan)
    assert "  run.ps1: |\n    one\n    two\n" in artefact.text


def test_equal_artefacts_are_told_once_with_all_who_carry_them(record: Record) -> None:
    plan = record(lambda: [aws.ec2.LaunchTemplate(f"t{i}", user_data=POWERSHELL) for i in range(3)])
    (artefact,) = artefacts(plan)
    assert [carrier.urn.rsplit("::")[-1] for carrier in artefact.carriers] == ["t0", "t1", "t2"]
    assert report_html(plan).count("Write-Output") == 1


@pytest.mark.parametrize(
    ("packed", "shown"),
    [
        ("plain text", "plain text"),
        ("abcd", "abcd"),
        (base64.b64encode(b"#!/bin/sh\necho hi\n").decode(), "#!/bin/sh\necho hi\n"),
        (base64.b64encode(b"\x00\x01\x02\x03").decode(), base64.b64encode(b"\x00\x01\x02\x03").decode()),
        (base64.b64encode(gzip.compress(b"#!/bin/sh\necho hi\n", mtime=0)).decode(), "#!/bin/sh\necho hi\n"),
        ("", ""),
    ],
)
def test_user_data_is_unpacked_as_far_as_it_is_packed(packed: str, shown: str) -> None:
    assert decoded_user_data(packed) == shown


def test_user_data_of_several_parts_is_shown_part_by_part() -> None:
    text = (
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="B"\n\n--B\nContent-Type: text/x-shellscript\n\n'
        "#!/bin/sh\n\n--B\nContent-Type: text/cloud-config\nContent-Transfer-Encoding: base64\n\n"
        f"{base64.b64encode(b'packages: [x]').decode()}\n\n--B--\n"
    )
    assert decoded_user_data(base64.b64encode(text.encode()).decode()) == (
        "# part 1 of 2: text/x-shellscript\n#!/bin/sh\n\n# part 2 of 2: text/cloud-config\npackages: [x]\n"
    )


def test_what_only_the_deployment_knows_is_counted(record: Record) -> None:
    def build() -> None:
        cluster = aws.eks.Cluster("c", role_arn="arn:aws:iam::123456789012:role/r", vpc_config={"subnet_ids": ["s"]})
        aws.ec2.LaunchTemplate("t", user_data=cluster.endpoint)

    assert "User data: 1 more are known only after the deployment." in report_html(record(build))


# -- strangers and secrets -------------------------------------------------------------------------------------


def test_hostile_texts_add_no_element_and_no_attribute() -> None:
    parsed, harmless = Parsed(report_html(hostile_plan())), Parsed(report_html(evaluate_function(landscape)))
    assert {tag for tag, _ in parsed.tags} - {"ul", "li", "ol", "fieldset", "legend", "label", "input", "em"} <= {
        tag for tag, _ in harmless.tags
    }
    assert sum(tag == "script" for tag, _ in parsed.tags) == 2
    assert not any(name.startswith("on") for _, attributes in parsed.tags for name in attributes)


def test_no_character_that_steers_is_on_the_page() -> None:
    page = report_html(hostile_plan())
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]", page)


def test_braces_of_names_are_no_template() -> None:
    page = report_html(hostile_plan())
    assert "{{ 7 * 7 }}" in page


_SECRETS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=8, max_size=40)


@settings(max_examples=25)
@given(_SECRETS)
def test_no_secret_is_on_the_page_or_in_a_drawing(secret: str) -> None:
    """Neither as it is nor as JSON, base64 or markup would spell it, wherever it stood."""
    word = f"s3cr3t{secret}"

    def build() -> None:
        hidden = pulumi.Output.secret(word)
        aws.s3.Bucket("b", bucket=hidden, tags={"x": hidden})
        aws.ec2.LaunchTemplate("t", user_data=hidden.apply(lambda text: base64.b64encode(f"a{text}".encode()).decode()))
        aws.ec2.LaunchTemplate("leak", user_data=base64.b64encode(f"echo {word}".encode()).decode())
        aws.s3.BucketObjectv2("leak", bucket="b", content=f"a\nb\nc\n{word}\n")
        k8s.core.v1.Secret("k", metadata={"name": "k"}, string_data={"password": word})
        aws.iam.Role("r", assume_role_policy=json.dumps({"Statement": [word]}), description=hidden)
        pulumi.export("o", {"inner": [hidden]})
        pulumi.export("leak", f"again {word}")

    plan = evaluate_function(build)
    plan.findings.append(Finding("c", Severity.ERROR, f"got {word}", plan.resources[0].urn, None, "", f"not {word}"))
    plan.logs.append(("warning", word))
    page = report_html(plan)
    assert "s3cr3t" not in page
    assert base64.b64encode(b"echo s3cr3t").decode() not in page


def test_the_data_of_a_kubernetes_secret_is_hidden_though_nobody_marked_it(record: Record) -> None:
    class Raw(pulumi.CustomResource):
        def __init__(self) -> None:
            super().__init__("kubernetes:core/v1:Secret", "raw", {
                "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "raw"},
                "data": {"a": "aHVudGVyMg=="}, "stringData": {"b": "hunter2"},
            })  # fmt: skip

    page = report_html(record(Raw))
    assert "hunter2" not in page
    assert "aHVudGVyMg==" not in page


def test_inputs_that_the_program_calls_secret_are_hidden(record: Record) -> None:
    options = pulumi.ResourceOptions(additional_secret_outputs=["description"])
    page = report_html(record(lambda: aws.ec2.LaunchTemplate("t", description="hunter2", opts=options)))
    assert "hunter2" not in page


# -- size ------------------------------------------------------------------------------------------------------


def test_a_thousand_resources_make_at_most_two_megabytes(record: Record) -> None:
    def build() -> None:
        for index in range(BIG // 2):
            tags = {"Name": f"group-{index}", "team": "windows", "environment": "production", "managed-by": "pulumi"}
            template = aws.ec2.LaunchTemplate(
                f"template-{index}", tags=tags, user_data=base64.b64encode(f"echo {index}\n".encode() * 20).decode(),
                tag_specifications=[{"resource_type": "instance", "tags": tags}],
            )  # fmt: skip
            aws.eks.NodeGroup(
                f"group-{index}", cluster_name="c", node_role_arn=template.arn, subnet_ids=["a", "b"], tags=tags,
                scaling_config={"min_size": 1, "max_size": 2, "desired_size": 1}, launch_template={"id": template.id},
            )  # fmt: skip

    plan = record(build)
    assert len(plan.resources) == BIG
    assert len(report_html(plan).encode()) <= 2_000_000


def test_very_long_texts_are_cut_and_say_so(record: Record) -> None:
    long_text = "line\n" * 500_000
    page = report_html(record(lambda: aws.s3.BucketObjectv2("p", bucket="b", content=long_text, key="x" * 50_000)))
    assert len(page) < 300_000
    assert "2,400,000 more characters" in page
    assert "46,000 more characters" in page


def test_artefacts_beyond_the_page_s_room_are_counted(record: Record) -> None:
    def build() -> None:
        for index in range(30):
            aws.s3.BucketObjectv2(f"p{index}", bucket="b", content=f"{index}\n" * 25_000)

    page = report_html(record(build))
    assert re.search(r"\d+ more are left out to keep the page small", page)
    assert len(page) < 2_000_000


def test_many_findings_are_cut_and_say_so(record: Record) -> None:
    plan = record(lambda: aws.s3.Bucket("b"))
    plan.findings += [Finding("c", Severity.NOTE, f"m{i}", plan.resources[0].urn) for i in range(1_500)]
    assert "and 500 more" in report_html(plan)
