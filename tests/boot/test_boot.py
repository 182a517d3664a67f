"""The boot of real machines, and its own parts.

``make boot-test`` runs all scenarios; here machines come up for the first time, where this machine can do it and the
programs are built.
"""

import http.client
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from winkube.tables.artefacts import artefacts_for

from . import needs
from .bed import BUSY
from .images import Image, Registry
from .servers import Metadata, Mirror
from .stack import ROOT, documents, evaluate_stack

DIGEST = f"sha256:{'0' * 64}"


@pytest.mark.proof
def test_machines_boot_what_the_stack_renders() -> None:
    """One slot and one worker from their recorded user data to Ready nodes, and VXLAN packets between their pods."""
    if lacking := [*needs.missing(building=False), *needs.unbuilt()]:
        pytest.skip("; ".join(lacking))
    command = [sys.executable, "-m", "tests.boot", "packets"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode == BUSY:
        pytest.skip("another boot runs on this machine")
    assert done.returncode == 0, done.stderr[-5000:]


def test_what_is_missing_is_said_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(needs, "PROGRAMS", {"no-such-program": "its-package"})
    assert "no-such-program is missing: apt-get install its-package" in needs.missing(building=False)


def test_the_stack_takes_everything_from_the_mirror(tmp_path: Path) -> None:
    """The product's own settings for an air gap lead every download of a Linux node to the mirror."""
    rows = {one.key: one for role in ("control_plane", "worker") for one in artefacts_for("1.36", role=role)}
    stack = evaluate_stack(
        "kubeadm-dev", tmp_path,
        {"mirror": "http://10.30.0.1:8080/files", "artefactDigests": dict.fromkeys(rows, DIGEST),
         "registryMirrors": {"registry.k8s.io": "http://10.30.0.1:8080"}},
    )  # fmt: skip
    linux = [one for key, one in documents(stack).items() if "windows" not in key]
    asked = {one["url"].removeprefix("http://10.30.0.1:8080/files/") for it in linux for one in it["artefacts"]}
    assert asked == {one.url.removeprefix("https://") for one in rows.values()}
    assert all(one["digest"] == DIGEST for it in linux for one in it["artefacts"])
    for key in documents(stack):
        assert sum(key in group.user_data for group in stack.groups) == 1


def test_mirror_and_registry_serve_what_was_put_there_and_spoil_what_they_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "file").write_bytes(b"program")
    registry = Registry()
    registry.add(Image("registry.k8s.io/a/b:1", {"b": b"#!/bin/sh\n"}, ("/b",)))
    mirror = Mirror({"host/file": tmp_path / "file"}, registry)
    server = mirror.serve("127.0.0.1", 0)

    def get(path: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1])
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()

    assert get("/files/host/file") == (200, b"program")
    mirror.spoilt.add("host/file")
    spoilt = get("/files/host/file")[1]
    assert len(spoilt) == 7
    assert sum(one != other for one, other in zip(spoilt, b"program", strict=True)) == 1
    assert get("/files/host/none")[0] == 404
    assert get("/v2/a/b/manifests/1?ns=registry.k8s.io")[0] == 200
    assert get("/v2/a/b/manifests/2")[0] == 404
    server.shutdown()


def test_metadata_is_given_for_a_token_alone() -> None:
    metadata = Metadata({"instance-id": "i-1"}, {})

    class Asked:
        headers: Mapping[str, str] = MappingProxyType({})
        path = "/latest/meta-data/instance-id"
        said: tuple[object, ...] = ()

        def answer(self, *said: object) -> None:
            self.said = said

    asked = Asked()
    metadata.get(asked)  # type: ignore[arg-type]
    assert asked.said == (401,)
    asked.headers = {"X-aws-ec2-metadata-token": "metadata-token-of-the-test"}
    metadata.get(asked)  # type: ignore[arg-type]
    assert asked.said == (200, b"i-1")
