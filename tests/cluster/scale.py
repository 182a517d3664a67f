"""How fast Windows pods are placed, and what our admission policies cost: ``make scale``.

A fresh cluster for each row of the table: with the scheduler's limits towards the API server as they are by default,
and raised; without our policies, with them as they are by default, and with all that they can do (``deny``, and pods
that say nothing are for Linux). Half of the pods are for Windows by RuntimeClass. Nothing is judged: the numbers are
the machine's. CPU is that of the API server, for everything that a pod asks of it: its creation, its binding, its
events, and what the controllers and the nodes say of it.

``--profile`` measures what the policies alone cost, which is less than what the rows of a busy machine differ by: pods
are tried, and the API server's own profile says how much of its CPU went into policies.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from winkube.admission.admission_manifests import admission_manifests
from winkube.admission.windows_admission import WindowsAdmissionArgs, mutating_policies
from winkube.scheduling.runtime_class_manifests import runtime_class_manifest

from tests.binaries import DEFAULT_MINOR
from tests.binaries.build import find_go

from .bed import Cluster
from .client import Client, Manifest
from .nodes import node_manifest, node_status, ready

RAISED = {"clientConnection": {"qps": 1000, "burst": 2000}}
LIMITS: dict[str, dict[str, Any]] = {"default": {}, "raised": RAISED}
POLICIES: dict[str, dict[str, Any] | None] = {
    "off": None,
    "default": {},
    "all": {"mode": "deny", "linux_default": True},
}
RELEASES = ("2022", "2025")
_WORKERS = 16
_PROFILED = 10
"""Seconds."""
_EVALUATED = ("policy/mutating.(*Plugin).Admit", "policy/validating.(*Plugin).Validate")
_TITLES = ("scheduler limits", "policies", "created/s", "bound/s", "API CPU ms/pod", "API MiB", "p50 ms", "p99 ms")


def main() -> int:
    """Measure every combination and print a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.scale", description=main.__doc__)
    parser.add_argument("--nodes", type=int, default=1000, help="Windows nodes, beside a tenth as many of Linux")
    parser.add_argument("--pods", type=int, default=5000, help="half of them for Windows")
    parser.add_argument("--minor", default=DEFAULT_MINOR)
    parser.add_argument("--profile", action="store_true", help="only what the policies cost for one pod")
    parser.add_argument("--limits", nargs="+", choices=LIMITS, default=list(LIMITS))
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=list(POLICIES))
    options = parser.parse_args()
    rows: list[tuple[str, ...]] = [_TITLES]
    if options.profile:
        rows = [("policies", "a Linux pod, ms", "a Windows pod, ms")]
        for policies in options.policies:
            rows.append((policies, *(f"{number:.2f}" for number in cost(options.minor, POLICIES[policies]))))
        return _show(rows)
    for limits in options.limits:
        for policies in options.policies:
            print(f"scheduler limits {limits}, policies {policies} …", file=sys.stderr, flush=True)
            numbers = measure(options.minor, LIMITS[limits], options.nodes, options.pods, POLICIES[policies])
            rows.append((limits, policies, *(f"{number:.1f}" for number in numbers)))
            print("  ".join(rows[-1]), file=sys.stderr, flush=True)
    return _show(rows)


def _show(rows: list[tuple[str, ...]]) -> int:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
    return 0


def measure(
    minor: str, limits: dict[str, Any], nodes: int, pods: int, policies: dict[str, Any] | None
) -> tuple[float, ...]:
    """One cluster: creations and bindings per second, CPU of the API server per pod, its memory, latencies."""
    # 1,100 nodes would need more than a /16 of pod addresses, and nothing here looks at them. Nodes say seldom that
    # they are alive: it would be the same with and without pods, and a busy machine would lose some.
    controllers = {"allocate-node-cidrs": "false", "kube-api-qps": "200", "kube-api-burst": "400",
                   "node-monitor-grace-period": "30m"}  # fmt: skip
    real = {"enable-priority-and-fairness": "true"}  # as in a cluster, unlike in the tests
    with Cluster(
        minor, scheduler=limits, controller_manager=controllers, api_server=real, environment={}, lease_seconds=2400
    ) as cluster:
        client = cluster.client
        for manifest in _around(minor, policies):
            client.apply(manifest)
        names = [f"windows-{number}" for number in range(nodes)] + [f"linux-{n}" for n in range(max(1, nodes // 10))]
        _each(names, partial(_add, client))
        client.wait("ready nodes", lambda: all(map(ready, client.list("v1", "Node"))), 600)
        time.sleep(2)  # policies take effect within about a second
        server = cluster.processes["kube-apiserver"]
        cpu, started = server.cpu_seconds(), time.monotonic()
        latencies = sorted(_each(range(pods), partial(_create, client)))
        created = time.monotonic() - started
        client.wait("bound pods", lambda: _unbound(client) == 0, 1800)
        bound = time.monotonic() - started
        spent = server.cpu_seconds() - cpu
        middle, late = (1000 * latencies[int(part * (pods - 1))] for part in (0.5, 0.99))
        return pods / created, pods / bound, 1000 * spent / pods, server.memory_mib(), middle, late


def cost(minor: str, policies: dict[str, Any] | None) -> list[float]:
    """CPU milliseconds that the API server spends on policies for a Linux and for a Windows pod."""
    found: list[float] = []
    with Cluster(minor, nodes=False, environment={}) as cluster, ThreadPoolExecutor(1) as beside:
        client = cluster.client
        for manifest in _around(minor, policies):
            client.apply(manifest)
        time.sleep(3)  # policies take effect within about a second
        for windows in (0, 1):
            _each([windows] * 100, partial(_create, client, dryRun="All"))
            until, tried = time.monotonic() + _PROFILED, 0
            taken = beside.submit(client.raw, "/debug/pprof/profile", seconds=_PROFILED)
            while time.monotonic() < until:
                _each([windows] * 20, partial(_create, client, dryRun="All"))
                tried += 20
            found.append(1000 * _of_policies(taken.result()) / tried)
    return found


def _of_policies(profile: bytes) -> float:
    """Seconds of CPU in the two plug-ins of the API server that evaluate policies."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(profile)
        file.flush()
        command = [find_go(), "tool", "pprof", "-top", "-cum", "-unit=ms", "-nodecount=5000", file.name]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [line.split() for line in said.splitlines() if line.endswith(_EVALUATED)]
    return sum(float(line[3].removesuffix("ms")) for line in lines) / 1000


def _around(minor: str, policies: dict[str, Any] | None) -> list[Manifest]:
    made = [runtime_class_manifest(release) for release in RELEASES]
    if policies is not None:
        args = WindowsAdmissionArgs(kubernetes_version=minor, releases=RELEASES, **policies)
        made += admission_manifests(args, mutating=mutating_policies(minor)).values()
    return made


def _add(client: Client, name: str) -> None:
    release = RELEASES[int(name.rpartition("-")[2]) % 2] if name.startswith("windows") else None
    manifest = node_manifest(name, release)
    client.create(manifest)
    client.patch_status(manifest, node_status(release))


def _create(client: Client, number: int, **query: Any) -> float:
    resources = {"requests": {"cpu": "10m"}, "limits": {"memory": "64Mi"}}
    spec: dict[str, Any] = {"containers": [{"name": "main", "image": "registry.example/app:1", "resources": resources}]}
    spec |= {"runtimeClassName": f"windows-{RELEASES[number // 2 % 2]}"} if number % 2 else {}
    started = time.monotonic()
    client.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{number}"}, "spec": spec}, **query)
    return time.monotonic() - started


def _unbound(client: Client) -> int:
    time.sleep(0.5)
    return len(client.list("v1", "Pod", "default", fieldSelector="spec.nodeName=", limit=500))


def _each(items: Iterable[Any], work: Any) -> list[Any]:
    with ThreadPoolExecutor(_WORKERS) as pool:
        return list(pool.map(work, items))


if __name__ == "__main__":
    sys.exit(main())
