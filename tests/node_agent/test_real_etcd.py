"""Backup and restore with the agent's own code against the real etcd: what was put in comes out again."""

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.binaries import binary
from tests.node_agent.package import load

pytestmark = pytest.mark.proof

backup, cluster, document, errors = (load(name) for name in ("backup", "cluster", "document", "errors"))
KEYS = 10_000
PER_TRANSACTION = 100


class Bucket:
    """A bucket in a folder, with the calls that backups make."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def upload(self, key: str, path: Path) -> None:
        target = self.folder / key
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())

    def download(self, key: str, path: Path) -> bool:
        source = self.folder / key
        if source.exists():
            path.write_bytes(source.read_bytes())
        return source.exists()

    def list(self, prefix: str, limit: int | None = None) -> list:
        found = sorted(str(one.relative_to(self.folder)) for one in self.folder.rglob("*.db"))
        return [load("aws").Listed(one, 1) for one in found if one.startswith(prefix)]

    def delete(self, key: str) -> None:
        (self.folder / key).unlink()


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def running(etcd: "cluster.Etcd", data: Path, peer: int, name: str = "i-1") -> Iterator[str]:
    """A real etcd of one member, until the end of the block."""
    client = free_port()
    urls = [f"--listen-client-urls=http://127.0.0.1:{client}", f"--advertise-client-urls=http://127.0.0.1:{client}",
            f"--listen-peer-urls=http://127.0.0.1:{peer}", f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
            f"--initial-cluster={name}=http://127.0.0.1:{peer}"]  # fmt: skip
    call = [str(binary("etcd")), f"--name={name}", f"--data-dir={data}", *urls, "--unsafe-no-fsync", "--logger=zap",
            "--log-level=error"]  # fmt: skip
    process = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    address = f"127.0.0.1:{client}"
    try:
        for _ in range(200):
            if etcd.healthy(address):
                break
            time.sleep(0.1)
        else:
            raise AssertionError("etcd does not serve")
        yield address
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture
def etcd(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> "cluster.Etcd":
    for name in ("etcdctl", "etcdutl"):
        monkeypatch.setenv(f"WINKUBE_AGENT_{name.upper()}", str(binary(name)))
    return cluster.Etcd(cluster.Commands(), tmp_path, 5, scheme="http")


def fill(etcd: "cluster.Etcd", address: str) -> None:
    """All keys, in transactions."""
    etcdctl = etcd.commands.find("etcdctl")
    for first in range(0, KEYS, PER_TRANSACTION):
        numbers = range(first, first + PER_TRANSACTION)
        puts = "\n".join(f"put /registry/{number:05} value-{number}" for number in numbers)
        call = [etcdctl, f"--endpoints=http://{address}", "txn"]
        subprocess.run(call, input=f"\n{puts}\n\n\n", text=True, check=True, capture_output=True)


def content(etcd: "cluster.Etcd", address: str) -> tuple[dict[str, str], int]:
    """All keys with their values, and the revision of the cluster."""
    answer = json.loads(etcd.ask([address], "get", "/registry/", "--prefix", "--write-out=json", seconds=60))
    return {one["key"]: one["value"] for one in answer.get("kvs", [])}, int(answer["header"]["revision"])


def test_ten_thousand_keys_survive_a_restore(etcd: "cluster.Etcd", tmp_path: Path) -> None:
    """10,000 keys in, a backup, a new etcd from it: 10,000 keys out, at a revision that watches never saw."""
    bucket, data, peer = Bucket(tmp_path / "bucket"), tmp_path / "restored", free_port()
    with running(etcd, tmp_path / "first", free_port()) as address:
        assert [one.name for one in etcd.members(address)] == ["i-1"]
        assert int(etcd.status(address)["leader"]) == etcd.members(address)[0].id
        fill(etcd, address)
        before, revision = content(etcd, address)
        policy = document.Retention()
        made = backup.make(bucket, etcd, address, "backups/cp-0/", policy, tmp_path / "work", 60)
    assert len(before) == KEYS
    assert made.revision == revision
    assert not (tmp_path / "work").exists()
    snapshot = backup.fetch(bucket, etcd.commands, made.key, made.sha256, tmp_path / "fetched")
    backup.restore(etcd.commands, snapshot, data, "i-2", f"http://127.0.0.1:{peer}")
    with running(etcd, data, peer, "i-2") as address:
        after, new = content(etcd, address)
        assert [one.name for one in etcd.members(address)] == ["i-2"]
        with pytest.raises(errors.CommandError, match=r"compacted"):
            etcd.ask([address], "get", "/registry/00000", f"--rev={revision - 1}")
    assert after == before
    assert new >= revision + backup.BUMP_REVISION


def test_a_broken_snapshot_is_refused(etcd: "cluster.Etcd", tmp_path: Path) -> None:
    """The real etcdutl cannot read it, or its digest is another one: it is refused before anything is touched."""
    bucket = Bucket(tmp_path / "bucket")
    bad = tmp_path / "bad.db"
    bad.write_bytes(b"not a database" * 1000)
    bucket.upload("backups/cp-0/bad.db", bad)
    with pytest.raises(errors.AgentError, match=r"etcd cannot read") as caught:
        backup.fetch(bucket, etcd.commands, "backups/cp-0/bad.db", backup.digest_of(bad), tmp_path / "fetched")
    assert caught.value.rule.code == "WK-AGT-011"
    with pytest.raises(errors.AgentError, match=r"another digest"):
        backup.fetch(bucket, etcd.commands, "backups/cp-0/bad.db", "0" * 64, tmp_path / "fetched")
    with pytest.raises(errors.AgentError, match=r"not in the bucket"):
        backup.fetch(bucket, etcd.commands, "backups/cp-0/none.db", "0" * 64, tmp_path / "fetched")
