"""The site is built without a warning, and its pages fit on a phone and on a desk."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import pytest

from docs import site
from tests.preview.chromium import CHROMIUM, Page, browser

from .pages import ROOT

BUILT = pytest.mark.skipif(not find_spec("mkdocs") or not find_spec("mkdocstrings"), reason="needs the extra docs")
WIDTHS = {"phone": (390, 844), "desk": (1440, 900)}
LOOKED_AT = ("", "tutorial/", "concepts/", "control-plane/", "limits/", "troubleshooting-windows-selfmanaged/",
             "reference/settings-kubeadm/", "reference/coverage/", "reference/control_plane/", "errors/")  # fmt: skip


def recipe() -> list[str]:
    """The command of ``make site``, as the Makefile has it."""
    (line,) = re.findall(r"^site:.*\n\t(.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M)
    program, *words = line.split()
    assert program == "$(BIN)/python"
    return [sys.executable, *words]


def build(tree: Path, place: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a tree into another folder than its own."""
    # Not --quiet: it mutes the warnings that --strict counts.
    command = [*recipe(), "--site-dir", str(place)]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as ``make site`` builds it. A link that leads nowhere or a page outside the menu ends the build."""
    place = tmp_path_factory.mktemp("site")
    done = build(ROOT, place)
    assert done.returncode == 0, done.stderr[-4000:]
    return place


@pytest.mark.verify
@BUILT
def test_a_page_outside_the_menu_ends_the_build(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("mkdocs.yml", "components", "preview", "policies", "CHANGELOG.md"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "docs" / "forgotten.md").write_text("# Forgotten\n", encoding="utf-8")
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode != 0
    assert "forgotten.md" in done.stderr


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """The site, served on this machine alone."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with browser() as running:
        yield running.page()


@pytest.mark.verify
@BUILT
def test_every_page_is_built(folder: Path) -> None:
    """Those of the folder and those that are made of data; programs and their caches are left out."""
    pages = [path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")]
    made = [Path(name).with_suffix("") for name in site.pages()]
    for name in [*pages, *made]:
        place = folder / ("index.html" if name.name == "index" else f"{name}/index.html")
        assert place.exists(), name
    assert not list(folder.rglob("*.py"))


@pytest.mark.verify
@BUILT
def test_what_programs_import_has_its_docstring(folder: Path) -> None:
    """Class, arguments and their texts, each on the page of its room."""
    text = (folder / "reference/control_plane/index.html").read_text(encoding="utf-8")
    assert 'id="winkube.control_plane.args.LinuxControlPlaneArgs.slots"' in text
    assert "LinuxControlPlane" in (folder / "reference/components/index.html").read_text(encoding="utf-8")


@pytest.mark.proof
@BUILT
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt-get install chromium)")
@pytest.mark.parametrize("name", LOOKED_AT)
def test_a_page_fits(address: str, page: Page, name: str) -> None:
    """Nothing is wider than the window, no picture is broken, nothing is fetched from elsewhere, nothing complains."""
    for width, height in WIDTHS.values():
        page.events.clear()
        page.shape(width, height)
        answer = page.command("Page.navigate", url=address + name)
        assert "errorText" not in answer
        page.wait_for(f"location.href === {json.dumps(address + name)} && document.readyState === 'complete'")
        assert page.run("document.documentElement.scrollWidth") <= width
        assert (
            page.run("[...document.images].filter(one => !one.complete || !one.naturalWidth).map(one => one.src)") == []
        )
        assert page.run("document.querySelectorAll('h1').length") == 1
        assert [asked for asked in page.requests() if not asked.startswith((address, "data:", "blob:"))] == []
        assert page.complaints() == []


def test_a_setting_has_key_type_default_and_meaning() -> None:
    schema = json.loads((ROOT / "docs/stack.schema.json").read_text(encoding="utf-8"))
    text = site.settings_page(schema, "kubeadm")
    assert "| `slots` | number | 3. One survives" not in text
    (row,) = [line for line in text.splitlines() if line.startswith("| `slots` |")]
    assert row.split(" | ")[1:3] == ["number", "3"]
    assert "| `name` | text | **required** |" in text
    assert text.count("| key | type | default | meaning |") > 10


def test_every_state_of_the_ledger_is_shown() -> None:
    text = site.coverage_page()
    for state in ("built", "refused", "documented", "outdated"):
        assert f" | {state} | " in text
