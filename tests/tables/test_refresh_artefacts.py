"""Looking up digests: what upstream's files look like, and what becomes of the answers."""

import json

import pytest
from winkube.tables.artefacts import known_digests
from winkube.tables.refresh_artefacts import all_artefacts, compare, main, published

HEX = "0123456789abcdef" * 4


def find(key):
    return all_artefacts()[key]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("kubelet-1.36.4-linux-amd64", HEX),
        ("containerd-2.3.4-linux-amd64", f"{HEX}  containerd-2.3.4-linux-amd64.tar.gz\n"),
        ("runc-1.4.3-linux-amd64", f"{'f' * 64}  runc.arm64\n{HEX}  runc.amd64\n{'e' * 64} *libseccomp.tar.gz\n"),
        (
            "etcd-3.6.14-linux-arm64",
            f"{HEX}  etcd-v3.6.14-linux-arm64.tar.gz\n{'a' * 64}  etcd-v3.6.14-linux-amd64.tar.gz",
        ),
    ],
)
def test_a_digest_is_read_from_every_form_that_upstream_uses(key, text):
    assert published(find(key), lambda _: text) == f"sha256:{HEX}"


def test_sha512_is_told_by_its_length_and_an_ambiguous_file_says_nothing():
    assert published(find("kubelet-1.36.4-linux-amd64"), lambda _: HEX * 2) == f"sha512:{HEX * 2}"
    assert published(find("kubelet-1.36.4-linux-amd64"), lambda _: f"{HEX}\n{'a' * 64}\n") is None
    assert published(find("flanneld-0.28.9-windows-amd64"), lambda _: HEX) is None


def upstream(url):
    """Publishes what the table has, and one digest for all that it lacks."""
    row = next(one for one in all_artefacts().values() if one.digest_url == url)
    same = [one for one in all_artefacts().values() if one.digest_url == url]
    if len(same) == 1:
        return (row.digest or f"sha256:{HEX}").partition(":")[2]
    return "\n".join(f"{one.digest.partition(':')[2]}  {one.url.rpartition('/')[2]}" for one in same)


def test_a_table_that_agrees_is_left_and_new_digests_are_added(tmp_path, capsys):
    target = tmp_path / "digests.json"
    assert main(["--write"], upstream, target) == 0
    out = capsys.readouterr().out
    assert "new   kubelet-1.37.1-windows-amd64" in out
    assert "none  flanneld-0.28.9-windows-amd64" in out
    assert "OTHER" not in out
    table = json.loads(target.read_text())
    assert table["kubelet"]["1.37.1"]["windows-amd64"] == f"sha256:{HEX}"
    assert all(table[name][version] | platforms == table[name][version]
               for name, versions in known_digests().items() for version, platforms in versions.items())  # fmt: skip


def test_a_digest_that_differs_stops_everything(tmp_path):
    """A release that changed after the fact is exactly what digests are for."""
    assert {word for word, _, _ in compare(lambda _: HEX)} >= {"OTHER"}
    assert main(["--write"], lambda _: HEX, tmp_path / "digests.json") == 1
    assert not (tmp_path / "digests.json").exists()
