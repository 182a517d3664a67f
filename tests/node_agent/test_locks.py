"""What the nodes of a control plane agree on in the bucket: whose turn it is to join, and who makes the join token."""

import itertools
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from tests.node_agent.package import load
from tests.node_agent.test_parts import valid

document, join, join_token, store = (load(name) for name in ("document", "join", "join_token", "store"))
LEASE = 60


class Bucket:
    """Objects in memory that are written with conditions, as S3 does it."""

    class There(NamedTuple):
        """An object."""

        body: bytes
        etag: str

    def __init__(self) -> None:
        self.objects: dict[str, Bucket.There] = {}
        self.parameters: list[dict[str, Any]] = []
        self.states: dict[str, str] = {}
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

    def ask(self, service: str, operation: str, **parameter: Any) -> None:
        """Write a parameter of Systems Manager."""
        assert (service, operation) == ("ssm", "put_parameter")
        self.parameters.append(parameter)

    def instance_states(self, me: str, instances: list[str]) -> dict[str, str]:
        """What EC2 says: an instance runs unless a test says otherwise."""
        return {instance: self.states.get(instance, "running") for instance in instances}


def store_of(bucket: Bucket, name: str) -> Any:
    """The bucket as a node sees it."""
    facts = {"INSTANCE_ID": name, "SLOT": "cp-0", "PRIVATE_IP": "10.0.0.7"}
    return store.Store(bucket, document.parse(valid()), facts)


class Plane:
    """A node of a control plane, as far as its turn goes."""

    def __init__(self, bucket: Bucket, name: str) -> None:
        self.store = store_of(bucket, name)
        self.node = SimpleNamespace(deadlines=self.store.document.deadlines)
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


def keeper(bucket: Bucket, name: str) -> Any:
    """A node that keeps the token fresh while it leads; kubeadm makes tokens that tell their life."""
    own = store_of(bucket, name)
    node = SimpleNamespace(document=own.document, new_token=lambda seconds: f"{name}, {seconds} s")
    return join_token.TokenKeeper(own, node)


def test_the_leader_renews_the_token_at_half_of_its_life(clock: list[float]) -> None:
    """A group that grows at any time finds one that is valid; it is encrypted, and only one node makes it."""
    bucket = Bucket()
    one, other = keeper(bucket, "i-one"), keeper(bucket, "i-two")
    for _ in range(4):
        assert one.keep()
        assert not other.keep()
        clock[0] += 900
    assert [it["Value"] for it in bucket.parameters] == ["i-one, 3600 s"] * 2
    assert {(it["Type"], it["Overwrite"]) for it in bucket.parameters} == {("SecureString", True)}


@pytest.mark.parametrize(("state", "seconds"), [("terminated", 60), ("running", 2800)])
def test_another_node_makes_the_token_when_the_leader_is_gone_or_silent(
    state: str, seconds: float, clock: list[float]
) -> None:
    bucket = Bucket()
    one, other = keeper(bucket, "i-one"), keeper(bucket, "i-two")
    assert one.keep()
    assert not other.keep()
    bucket.states["i-one"] = state
    clock[0] += seconds
    assert other.keep()
    assert [it["Value"] for it in bucket.parameters] == ["i-one, 3600 s", "i-two, 3600 s"]
