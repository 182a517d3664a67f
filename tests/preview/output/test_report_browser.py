"""The page in a browser: what it shows, how it is used by keyboard, and what it never does."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import Finding, Plan, Severity
from winkube.preview.output.report.page import report_html

from ..chromium import CHROMIUM, Browser, Page, browser
from ..landscapes import HOSTILE, hostile_plan, landscape

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)"),
]
FOCUSED = "document.activeElement"
ROWS = "[...document.querySelectorAll('#tree summary')].filter((row) => row.offsetParent !== null)"


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    """One browser for all tests of this file."""
    with browser() as found:
        yield found


def example() -> Plan:
    plan = evaluate_function(landscape)
    win = next(
        resource for resource in plan.resources if resource.type.endswith(":NodeGroup") and resource.name == "win"
    )
    for severity in Severity:
        plan.findings.append(Finding(f"check/{severity}", severity, f"some {severity}", win.urn))
    return plan


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The pages that the tests open."""
    folder = tmp_path_factory.mktemp("pages")
    for name, plan in (("example", example()), ("hostile", hostile_plan())):
        (folder / f"{name}.html").write_text(report_html(plan), encoding="utf-8")
    return {file.stem: file for file in folder.iterdir()}


@pytest.fixture
def page(running: Browser, files: dict[str, Path]) -> Page:
    """The page of an ordinary plan."""
    return opened(running, files["example"])


def opened(running: Browser, file: Path, width: int = 1280, scheme: str = "light") -> Page:
    page = running.page()
    page.shape(width, 900, scheme)
    page.open(file)
    return page


def search(page: Page, text: str) -> list[str]:
    """Search as a person does, and give the names of the rows that are left."""
    page.press("/")
    assert page.run(f"{FOCUSED}.id") == "search"
    page.write(text)
    page.wait_for("document.getElementById('found').textContent !== ''")
    return page.run(f"{ROWS}.map((row) => row.querySelector('.name')?.textContent).filter(Boolean)")


@pytest.mark.parametrize("name", ["example", "hostile"])
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_asks_for_nothing_runs_nothing_foreign_and_fits(
    running: Browser, files: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    """With everything opened, so that everything is made."""
    page = opened(running, files[name], width, scheme)
    page.run("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    page.wait_for("document.querySelectorAll('#tree .body').length === JSON.parse(data.textContent).resources.length")
    assert page.complaints() == []
    assert page.requests() == []
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    wide = """[...document.querySelectorAll('main *')].filter((element) => !element.closest('.wide, .drawing, noscript')
        && element.getBoundingClientRect().right > innerWidth + 1).map((element) => element.outerHTML.slice(0, 200))"""
    assert page.run(wide) == []


def test_hostile_names_are_shown_as_the_texts_they_are(running: Browser, files: dict[str, Path]) -> None:
    page = opened(running, files["hostile"])
    shown = set(page.run("[...document.querySelectorAll('#tree .name')].map((name) => name.textContent)"))
    assert {text for text in HOSTILE if text.isprintable()} <= shown
    assert "⟨U+202E⟩txt.exe" in shown
    assert page.run("document.scripts.length") == 2
    assert page.run("document.images.length") == 0


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("net-private-a", {"net-private-a", "linux", "win", "own", "prod"}),
        ("eks.nodegroup", {"linux", "win"}),
        ("10.0.17.0/24", {"net-private-b"}),
        ("write-output 'hello'", {"win", "own"}),
        ("nodegroup SPOT", {"win"}),
    ],
)
def test_search_finds_names_types_values_and_rendered_texts(page: Page, text: str, names: set[str]) -> None:
    found = search(page, text)
    assert names == set(found)
    assert page.run("document.getElementById('found').textContent").endswith(
        f" of {page.run('JSON.parse(data.textContent).resources.length')}"
    )


def test_a_search_without_result_says_so_and_escape_ends_it(page: Page) -> None:
    before = page.run(f"{ROWS}.length")
    assert search(page, "no such thing") == []
    assert page.run("document.getElementById('found').textContent").startswith("0 of ")
    page.press("Escape")
    assert page.run("document.getElementById('search').value") == ""
    assert page.run(f"{ROWS}.length") == before


def test_enter_goes_to_the_first_result_and_opens_and_closes_it(page: Page) -> None:
    search(page, "endpointprivateaccess")
    page.press("Enter")
    assert page.run(f"{FOCUSED}.tagName") == "SUMMARY"
    page.press("Enter")
    assert page.run(f"{FOCUSED}.parentElement.open")
    page.wait_for(f"{FOCUSED}.parentElement.querySelector('.body') !== null")
    assert "endpointPrivateAccess: true" in page.run(f"{FOCUSED}.parentElement.querySelector('.body').textContent")
    page.press("Enter")
    assert not page.run(f"{FOCUSED}.parentElement.open")


def test_arrows_move_in_the_tree(page: Page) -> None:
    search(page, "eks.")
    page.press("ArrowDown")
    assert page.run(f"{ROWS}.indexOf({FOCUSED})") == 0
    page.press("ArrowDown")
    assert page.run(f"{ROWS}.indexOf({FOCUSED})") == 1
    page.press("ArrowRight")
    assert page.run(f"{FOCUSED}.parentElement.open")
    page.press("ArrowLeft")
    assert not page.run(f"{FOCUSED}.parentElement.open")
    page.press("ArrowUp")
    page.press("ArrowUp")
    assert page.run(f"{FOCUSED}.id") == "search"


def test_tab_goes_through_the_page_from_top_to_bottom(page: Page) -> None:
    places: list[float] = []
    names: list[str] = []
    for _ in range(40):
        page.press("Tab")
        names.append(page.run(f"{FOCUSED}.id || {FOCUSED}.className || {FOCUSED}.tagName"))
        places.append(page.run(f"{FOCUSED}.getBoundingClientRect().top + scrollY"))
    assert names[0] == "skip"
    assert "drawing" in names
    assert "search" in names
    assert all(later >= earlier - 20 for earlier, later in pairwise(places[1:]))


def test_a_slash_in_the_search_is_a_slash(page: Page) -> None:
    page.press("/")
    page.write("a")
    page.press("/", "/")
    assert page.run("document.getElementById('search').value") == "a/"


def test_findings_are_filtered_by_severity(page: Page) -> None:
    visible = (
        "[...document.querySelectorAll('.finding')].filter((item) => !item.hidden).map((item) => item.dataset.severity)"
    )
    assert page.run(visible) == ["error", "warning", "note"]
    page.run("document.querySelector('.filter input[value=warning]').click()")
    assert page.run(visible) == ["error", "note"]
    page.run("document.querySelector('.filter input[value=warning]').click()")
    assert page.run(visible) == ["error", "warning", "note"]


def test_a_finding_leads_to_its_resource_wherever_it_is_folded(page: Page) -> None:
    page.run("document.querySelector('.finding a').click()")
    page.wait_for(f"{FOCUSED}.tagName === 'SUMMARY'")
    assert page.run(f"{FOCUSED}.querySelector('.name').textContent") == "win"
    assert page.run(f"{FOCUSED}.parentElement.open && {FOCUSED}.offsetParent !== null")


def test_a_box_of_the_drawing_leads_to_its_resource_even_while_a_search_hides_it(page: Page) -> None:
    search(page, "sqs")
    box = "document.querySelector('.drawing svg svg[data-urn$=\"Cluster::prod\"] rect')"
    page.run(f"{box}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    page.wait_for(f"{FOCUSED}.tagName === 'SUMMARY'")
    assert page.run(f"{FOCUSED}.querySelector('.name').textContent") == "prod"
    assert page.run("document.getElementById('search').value") == ""


def test_a_property_leads_to_its_rendered_text(page: Page) -> None:
    search(page, "launchtemplate win")
    page.press("Enter")
    page.press("Enter")
    page.wait_for(f"{FOCUSED}.parentElement.querySelector('.body a') !== null")
    page.run(f"{FOCUSED}.parentElement.querySelector('.body a').click()")
    page.wait_for("document.querySelector('#artefacts details[open]') !== null")
    assert "Write-Output 'hello'" in page.run("document.querySelector('#artefacts details[open] pre').textContent")


def test_hits_are_marked_and_close_all_closes(page: Page) -> None:
    search(page, "10.0.17.0/24")
    page.press("Enter")
    page.press("Enter")
    page.wait_for("document.querySelector('#tree .hit') !== null")
    assert page.run("document.querySelector('#tree .hit').textContent") == "cidrBlock"
    page.run("document.getElementById('close-all').click()")
    assert page.run("document.querySelectorAll('#tree details[open]').length") == 0


def test_dark_mode_follows_the_system_for_page_and_drawing(running: Browser, files: dict[str, Path]) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        page = opened(running, files["example"], scheme=scheme)
        grounds.append((
            page.run("getComputedStyle(document.body).backgroundColor"),
            page.run("getComputedStyle(document.querySelector('.drawing rect')).fill"),
        ))  # fmt: skip
    assert grounds == [("rgb(255, 255, 255)",) * 2, ("rgb(13, 17, 23)",) * 2]


def test_paper_is_white_and_has_no_controls(running: Browser, files: dict[str, Path]) -> None:
    page = opened(running, files["example"], scheme="dark")
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.command("Emulation.setEmulatedMedia", media="print", features=dark)
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.run("getComputedStyle(document.querySelector('.drawing rect')).fill") == "rgb(255, 255, 255)"
    for control in ("nav", ".search", ".filter"):
        assert page.run(f"getComputedStyle(document.querySelector('{control}')).display") == "none"


def test_every_control_and_area_has_a_name_for_readers(page: Page) -> None:
    page.command("Accessibility.enable")
    nodes = page.command("Accessibility.getFullAXTree")["nodes"]
    roles = ("button", "searchbox", "checkbox", "link", "image", "heading", "region")
    unnamed = [n for n in nodes if n.get("role", {}).get("value") in roles and not n.get("name", {}).get("value")]
    assert unnamed == []
    assert "Topology: eu-central-1" in [n["name"]["value"] for n in nodes if n.get("role", {}).get("value") == "image"]
