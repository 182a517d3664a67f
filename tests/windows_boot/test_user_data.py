"""User data and bundle: their size, their digests, and what EC2Launch makes of them."""

import base64
import io
import json
import re
import zipfile
from dataclasses import replace

import pytest
import yaml
from winkube.ec2.proxy import Proxy
from winkube.windows_boot import bundle as bundles
from winkube.windows_boot.bundle import ENTRY, LOADER, bundle, bundle_digest, digest, script, script_names
from winkube.windows_boot.user_data import BootSource, check_user_data, encoded, windows_user_data

SOURCE = BootSource(
    region="ap-southeast-3",
    bucket="b" * 63,
    bundle_key=f"clusterconfigs/{'c' * 63}/boot/{'0' * 64}",
    bundle_sha256="0" * 64,
    document_key=f"clusterconfigs/{'c' * 63}/nodes/{'g' * 63}/{'1' * 64}.json",
    document_sha256="1" * 64,
)
PROXY = Proxy(https="http://proxy.example.com:3128")


def task(text: str) -> dict[str, object]:
    document = yaml.safe_load(text)
    (one,) = document["tasks"]
    (inputs,) = one["inputs"]
    assert (document["version"], one["task"]) == (1.1, "executeScript")
    return inputs


def test_the_task_can_restart_windows() -> None:
    """Exit code 3010 counts only where the script is not detached; it runs at every start, as the system."""
    inputs = task(windows_user_data(SOURCE))
    content = inputs.pop("content")
    assert inputs == {"frequency": "always", "type": "powershell", "runAs": "localSystem", "detach": False}
    assert str(content).rstrip().endswith("exit $LASTEXITCODE")


def test_the_loader_stands_in_it_as_it_is() -> None:
    """Nothing is put into the loader: in front of it stands one line of data, which is JSON in a quoted string."""
    content = str(task(windows_user_data(SOURCE, PROXY))["content"])
    head, _, rest = content.partition("\n")
    assert rest.rstrip() == script(LOADER).rstrip()
    found = re.fullmatch(r"\$Boot = '(.*)'", head)
    assert found
    assert json.loads(found[1]) == {
        "region": SOURCE.region, "bucket": SOURCE.bucket, "bundleKey": SOURCE.bundle_key,
        "bundleSha256": SOURCE.bundle_sha256, "documentKey": SOURCE.document_key,
        "documentSha256": SOURCE.document_sha256, "proxy": "http://proxy.example.com:3128",
    }  # fmt: skip


def test_the_loader_reads_what_is_written() -> None:
    """Each key of the line is read by the loader, and no other."""
    content = str(task(windows_user_data(SOURCE))["content"])
    written = set(json.loads(content.partition("\n")[0].partition("'")[2].rstrip("'")))
    assert set(re.findall(r"\$source\.(\w+)", script(LOADER))) == written


def test_quotes_cannot_end_the_line_of_data() -> None:
    """A quote in a value stays a quote, also the typographic ones that PowerShell takes for quotes."""
    for quote in "'‘’":
        content = str(task(windows_user_data(replace(SOURCE, bucket=f"a{quote}b")))["content"])
        text = content.partition("\n")[0].removeprefix("$Boot = ")
        assert text.count("'") % 2 == 0
        assert json.loads(text[1:-1].replace("''", "'"))["bucket"] == f"a{quote}b"


def test_user_data_is_small_with_the_longest_names() -> None:
    """With the longest names of bucket, cluster and group it keeps to 4 KiB, a quarter of what EC2 takes."""
    text = windows_user_data(SOURCE, PROXY)
    assert len(text.encode()) <= 4096
    assert not check_user_data(text)
    assert base64.b64decode(encoded(text)).decode() == text


def test_user_data_that_is_too_long_is_refused() -> None:
    """What exceeds the limit is refused with its size and by how much it is too long."""
    text = "x" * 5000
    (mistake,) = check_user_data(text)
    assert mistake.rule.code == "WK-WIN-001"
    assert mistake.path == ("user_data",)
    assert "4096" in mistake.message
    assert "904" in mistake.remedy
    assert mistake.got == 5000
    with pytest.raises(ValueError, match="5000"):
        encoded(text)


def test_the_bundle_is_the_same_for_the_same_scripts() -> None:
    """Neither the clock nor the machine shows in it: the digest is that of the scripts' content."""
    first = bundle()
    bundle.cache_clear()
    assert bundle() == first
    with zipfile.ZipFile(io.BytesIO(first)) as archive:
        assert tuple(archive.namelist()) == script_names()
        assert archive.testzip() is None
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}
        assert archive.read(ENTRY).decode() == script(ENTRY)
    assert bundle_digest() == digest(first)


def test_one_byte_changes_the_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed script has another digest, so that exactly the groups that use it get new nodes."""
    before = bundle_digest()
    monkeypatch.setattr(bundles, "script", lambda name: script(name) + ("#" if name == ENTRY else ""))
    bundle.cache_clear()
    assert bundle_digest() != before
    monkeypatch.undo()
    bundle.cache_clear()
    assert bundle_digest() == before


def test_user_data_changes_with_what_it_names() -> None:
    """Another document or another bundle is another launch template; the same ones are the same."""
    same = windows_user_data(SOURCE)
    assert windows_user_data(replace(SOURCE)) == same
    assert windows_user_data(replace(SOURCE, document_sha256="2" * 64)) != same
    assert windows_user_data(replace(SOURCE, bundle_sha256="2" * 64)) != same
