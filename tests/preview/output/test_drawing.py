"""The drawings of a topology: SVG of our own layout, Mermaid, DOT."""

import itertools
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pulumi_aws as aws
import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.preview.model import Plan
from winkube.preview.output.topology import mermaid_dot
from winkube.preview.output.topology import svg as drawing
from winkube.preview.output.topology.model import Item, Region, Subnet, Tier, Topology, Vpc
from winkube.preview.output.topology.topology import MOST_GROUPS, build_topology
from winkube.preview.text import measure, values

from ...conftest import Record
from ..chromium import CHROMIUM, browser
from ..landscapes import HOSTILE, group, landscape

NS = "{http://www.w3.org/2000/svg}"


def named(name: str) -> Topology:
    """A topology in which everything is called so."""
    item = Item("windows", name, name, (name, name), f"urn:{name}", (0, 1), cluster=name)
    small = replace(item, kind="nat", zones=(), details=())
    tier = Tier(
        "private", (Subnet(name, name, f"urn:{name}", items=(small,)), None), (item, replace(item, kind="cluster"))
    )
    vpc = Vpc(name, name, f"urn:{name}", (name, name), (tier,), (small,))
    return Topology((Region(name, (vpc,), (replace(item, kind="key"),)),), (), {f"aws:{name}/x:{name}": 3}, 1, 1)


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{NS}text")]


def test_everything_of_a_plan_is_in_the_drawing(record: Record) -> None:
    shown = texts(ET.fromstring(drawing.svg(build_topology(record(landscape)))))  # noqa: S314
    for words in (
        "Region eu-central-1", "VPC net-vpc", "10.0.0.0/16", "eu-central-1a", "net-public-a",
        "public subnet · 10.0.0.0/24", "net-nat", "prod", "EKS control plane", "Windows Server 2022",
        "m6i.large · 1–3 nodes · spot · WINDOWS_CORE_2022_x86_64", "Network load balancer", "state", "S3 bucket",
        "corp.example.com", "KMS key", "and 1 more", "1 × sqs.Queue",
    ):  # fmt: skip
        assert words in shown


def test_the_drawing_has_title_and_description_for_readers(record: Record) -> None:
    root = ET.fromstring(drawing.svg(build_topology(record(landscape))))  # noqa: S314
    title, description = root.find(f"{NS}title"), root.find(f"{NS}desc")
    assert title is not None
    assert description is not None
    assert root.get("role") == "img"
    assert (root.get("aria-labelledby"), root.get("aria-describedby")) == (title.get("id"), description.get("id"))
    assert title.text == "Topology: eu-central-1"
    assert "VPC net-vpc 10.0.0.0/16 over 2 zones" in (description.text or "")


def test_an_empty_plan_says_so_in_every_language() -> None:
    assert "The plan has no resource that could be drawn." in drawing.svg(Topology())
    assert "nothing to draw" in mermaid_dot.mermaid(Topology())
    assert "nothing to draw" in mermaid_dot.dot(Topology())


def test_equal_topologies_give_equal_files(record: Record) -> None:
    first, second = (build_topology(record(landscape)) for _ in range(2))
    for draw in (drawing.svg, mermaid_dot.mermaid, mermaid_dot.dot):
        assert draw(first) == draw(second)


def test_what_is_cut_tells_the_whole_when_pointed_at() -> None:
    name = "a-very-long-name-" * 20
    svg = drawing.svg(named(name))
    assert name in svg
    assert all(name not in text for text in texts(ET.fromstring(svg)))  # noqa: S314


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_any_kind_leave_the_svg_well_formed(name: str) -> None:
    root = ET.fromstring(drawing.svg(named(name)))  # noqa: S314
    allowed = {"svg", "title", "desc", "style", "rect", "text"}
    assert {element.tag.removeprefix(NS) for element in root.iter()} == allowed


@given(st.text(min_size=1, max_size=60))
def test_any_text_at_all_leaves_the_drawings_whole(name: str) -> None:
    topology = named(name)
    ET.fromstring(drawing.svg(topology))  # noqa: S314
    assert mermaid_dot.mermaid(topology).count("\n") == mermaid_dot.mermaid(named("x")).count("\n")
    assert mermaid_dot.dot(topology).count("\n") == mermaid_dot.dot(named("x")).count("\n")


def boxes(svg: str) -> list[tuple[float, float, float, float]]:
    root = ET.fromstring(svg)  # noqa: S314
    found = [element for element in root.iter(f"{NS}svg") if element is not root]
    return [tuple(float(e.get(key, "0")) for key in ("x", "y", "width", "height")) for e in found]  # type: ignore[misc]


def test_no_box_lies_on_another(record: Record) -> None:
    def build() -> None:
        landscape()
        for index in range(8):
            group(f"more{index}", "other", [f"subnet-{index % 3}"])

    found = boxes(drawing.svg(build_topology(record(build))))
    assert len(found) > 15
    for (x1, y1, w1, h1), (x2, y2, w2, h2) in itertools.combinations(found, 2):
        assert x1 + w1 <= x2 or x2 + w2 <= x1 or y1 + h1 <= y2 or y2 + h2 <= y1


def test_thirty_groups_have_a_box_each_and_more_share_one(record: Record) -> None:
    def plan(count: int) -> Plan:
        return record(lambda: [group(f"g{i}", "c", ["subnet-1"]) for i in range(count)])

    assert len(boxes(drawing.svg(build_topology(plan(MOST_GROUPS))))) == MOST_GROUPS + 1
    assert len(boxes(drawing.svg(build_topology(plan(MOST_GROUPS + 1))))) == 2


def test_mermaid_nests_areas_and_joins_groups_to_their_control_plane(record: Record) -> None:
    lines = mermaid_dot.mermaid(build_topology(record(landscape))).splitlines()
    assert lines[0] == "flowchart LR"
    assert lines[1].strip() == 'subgraph n1["Region eu-central-1"]'
    assert sum(line.strip().startswith("subgraph ") for line in lines) == sum(line.strip() == "end" for line in lines)
    (plane,) = [re.match(r" *(n\d+)", line)[1] for line in lines if "EKS control plane" in line]  # type: ignore[index]
    assert sum(line.endswith(f"-.-> {plane}") for line in lines) == 3


@pytest.mark.parametrize("name", HOSTILE)
def test_mermaid_labels_hold_nothing_that_mermaid_or_markdown_would_act_on(name: str) -> None:
    text = mermaid_dot.mermaid(named(name))
    labels = re.findall(r'\["(.*?)"\]', text)
    assert labels
    for label in labels:
        assert not re.search(r'["<>`%{}\[\]]', label.replace("<br/>", ""))
    assert "```" not in text
    assert "%%" not in text


@pytest.mark.proof
@pytest.mark.skipif(shutil.which("dot") is None, reason="needs graphviz (apt-get install graphviz)")
@pytest.mark.parametrize("name", [*HOSTILE, "plain"])
def test_graphviz_draws_the_dot_text(name: str) -> None:
    text = mermaid_dot.dot(named(name))
    done = subprocess.run(["dot", "-Tplain"], input=text, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\nnode ") == len(re.findall(r"^ *n\d+ \[", text, re.MULTILINE))


def test_dot_escapes_quotes_and_backslashes() -> None:
    item = Item("key", "KMS key", 'a"b\\c')
    assert 'label="KMS key\\na\\"b\\\\c"' in mermaid_dot.dot(Topology((Region("x", (), (item,)),)))


# -- measuring -------------------------------------------------------------------------------------------------


@given(st.text(max_size=80), st.floats(20, 400), st.booleans())
def test_a_shortened_text_has_room(text: str, room: float, bold: bool) -> None:
    shown = measure.shortened(text, room, 12, bold=bold)
    assert measure.width(shown, 12, bold=bold) <= room + 1e-6
    assert shown == text or shown.endswith("…")


@given(st.text(max_size=80))
def test_a_visible_text_has_no_character_that_steers(text: str) -> None:
    shown = values.visible(text)
    assert not re.search("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufffe\uffff]", shown)
    assert values.visible(shown) == shown


@pytest.mark.proof
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")
def test_no_text_is_wider_in_a_browser_than_its_room(tmp_path: Path, record: Record) -> None:
    """The widths come from a table; this asks the fonts."""

    def build() -> None:
        landscape()
        for index, name in enumerate(("WWWWWWWWWWWW-MMMMMMMMMMMMMM@@@@@@", "iiiiiiiillllllll" * 9, "Größe-Ж" * 9)):
            aws.s3.Bucket(f"b{index}", bucket=name)
            group(name, "c", ["subnet-1"], instance_types=["m6i.32xlarge"] * 9)

    topology = build_topology(record(build))
    script = """[...document.querySelectorAll("svg svg text")].map((text) => {
        const box = text.parentElement;
        const width = text.getComputedTextLength(), x = Number(text.getAttribute("x"));
        const end = text.getAttribute("text-anchor") === "end";
        return [text.textContent, end ? x - width : x, end ? x : x + width, Number(box.getAttribute("width"))];
    })"""
    with browser() as running:
        page = running.page()
        for number, shown in enumerate((topology, named("Ж" * 99), named("漢" * 99))):
            file = tmp_path / f"{number}.svg"
            file.write_text(drawing.svg(shown), encoding="utf-8")
            page.open(file)
            found = page.run(script)
            assert len(found) > 8
            assert [entry for entry in found if entry[1] < 0 or entry[2] > entry[3]] == []


@pytest.mark.proof
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")
def test_the_drawing_is_legible_in_light_and_dark(tmp_path: Path, record: Record) -> None:
    """Contrast of every text to what lies under it, by the formula of WCAG 2, is at least 4.5."""
    file = tmp_path / "t.svg"
    file.write_text(drawing.svg(build_topology(record(landscape))), encoding="utf-8")
    script = """(() => {
        const light = (colour) => {
            const [r, g, b] = colour.match(/[0-9.]+/g).map((part) => Number(part) / 255)
                .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        return [...document.querySelectorAll("text")].map((text) => {
            const mine = text.getBoundingClientRect(), x = mine.x + 2, y = mine.y + mine.height / 2;
            const under = [...document.querySelectorAll("rect")].filter((rect) => {
                const box = rect.getBoundingClientRect();
                const holds = box.x <= x && x <= box.right && box.y <= y && y <= box.bottom;
                return holds && getComputedStyle(rect).fill !== "none";
            }).pop();
            const [a, b] = [text, under].map((shape) => light(getComputedStyle(shape).fill)).sort((p, q) => q - p);
            return [text.textContent, (a + 0.05) / (b + 0.05)];
        });
    })()"""
    with browser() as running:
        page = running.page()
        grounds = []
        for scheme in ("light", "dark"):
            page.shape(1000, 900, scheme)
            page.open(file)
            found = page.run(script)
            assert len(found) > 30
            assert [entry for entry in found if entry[1] < 4.5] == []
            grounds.append(page.run("getComputedStyle(document.querySelector('rect')).fill"))
        assert grounds == ["rgb(255, 255, 255)", "rgb(13, 17, 23)"]
