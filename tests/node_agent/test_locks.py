"""Whose turn it is to join: the lock in the bucket, as a joining node sees it."""

import itertools
from typing import Any, NamedTuple

import pytest

from tests.node_agent.package import load
from tests.node_agent.test_parts import valid

document, join, store = load("document"), load("join"), load("store")
LEASE = 60


class Bucket:
    """Objects in memory that are written with conditions, as S3 does it."""

    class There(NamedTuple):
        """An object."""

        body: bytes
        etag: str

    def __init__(self) -> None:
        self.objects: dict[str, Bucket.There] = {}
        self.numbers = itertools.count()

    def read(self, key: str) -> "Bucket.There | None":
        """An object, or nothing."""
        return self.objects.get(key)

    def write(self, key: str, body: bytes, etag: str | None = None, **_: Any) -> str | None:
        """Make an object, or replace the one of this ETag."""
        there = self.objects.get(key)
        if (there.etag if there else None) != etag:
            return None
        self.objects[key] = Bucket.There(body, f'"{next(self.numbers)}"')
        return self.objects[key].etag


class Plane:
    """A node of a control plane, as far as its turn goes."""

    def __init__(self, bucket: Bucket, name: str) -> None:
        facts = {"INSTANCE_ID": name, "SLOT": "cp-0", "PRIVATE_IP": "10.0.0.7"}
        parsed = document.parse(valid())
        self.store = store.Store(bucket, parsed, facts)
        self.node = type("Node", (), {"deadlines": parsed.deadlines})()
        self.dead: set[str] = set()

    def gone(self, instance: str) -> bool:
        """What EC2 says."""
        return instance in self.dead

    def turn(self) -> Any:
        """Its turn: the lease, or nothing."""
        return join.Joiner(self)._turn()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, in one number that a test moves."""
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


@pytest.fixture
def two() -> tuple[Plane, Plane]:
    """Two nodes that want to join the same cluster."""
    bucket = Bucket()
    return Plane(bucket, "i-one"), Plane(bucket, "i-two")


def test_one_joins_after_the_other(two: tuple[Plane, Plane], clock: list[float]) -> None:
    """etcd takes one learner at a time: who comes second waits until the lock is given back."""
    one, other = two
    lease = one.turn()
    assert lease is not None
    assert other.turn() is None
    clock[0] += LEASE
    lease.tick()
    assert other.turn() is None
    assert one.turn().etag == lease.etag, "it finds its own lease again, also after a restart"
    lease.release()
    assert other.turn() is not None
    assert one.turn() is None


def test_a_holder_that_says_nothing_loses_its_turn(two: tuple[Plane, Plane], clock: list[float]) -> None:
    """After three times of a lease, and it notices that before it does anything more."""
    one, other = two
    lease = one.turn()
    assert other.turn() is None
    clock[0] += 3 * LEASE
    assert other.turn() is None
    clock[0] += 1
    assert other.turn() is not None
    with pytest.raises(load("errors").LeaseLostError):
        lease.check()


def test_a_holder_that_is_gone_loses_its_turn_at_once(two: tuple[Plane, Plane], clock: list[float]) -> None:
    one, other = two
    assert one.turn()
    other.dead.add("i-one")
    assert other.turn()
