"""The bed itself: clusters of real programs that leave nothing behind."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.binaries import version

from .bed import Cluster, own_folder
from .client import ApiError, Client, Manifest
from .nodes import add_node

pytestmark = pytest.mark.proof


def test_the_cluster_is_of_the_minor_that_was_asked_for(cluster: Cluster) -> None:
    """The programs are the pinned ones, stamped with their version."""
    said = cluster.client.request("GET", "/version")
    assert said["gitVersion"] == version("kube-apiserver", minor=cluster.minor)


def test_a_pod_is_bound_and_runs(cluster: Cluster, client: Client, namespace: str) -> None:
    """Scheduler, controller manager and kwok do their part, and a deletion ends."""
    node = add_node(client, "bed-node")
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "pod", "namespace": namespace},
        "spec": {"containers": [{"name": "main", "image": "registry.example/app:1"}]},
    }
    try:
        client.create(pod)
        running = client.wait("running pod", lambda: _running(client.get("v1", "Pod", "pod", namespace)))
        assert running["spec"]["nodeName"] == "bed-node"
        client.delete(pod)
        client.wait("end of the pod", lambda: not client.list("v1", "Pod", namespace))
    finally:
        client.delete(node)


def test_apply_is_strict(client: Client, namespace: str) -> None:
    """A field that the kind does not have is refused."""
    wrong = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": namespace}, "dat": {}}
    with pytest.raises(ApiError, match="dat: field not declared in schema"):
        client.apply(wrong)


def test_another_user_is_judged_by_its_own_rights(client: Client, namespace: str) -> None:
    """Impersonation with groups: what is bound to the second group counts."""
    other = client.as_user("somebody", ["first", "second"])
    with pytest.raises(ApiError, match='User "somebody" cannot list resource "pods"'):
        other.list("v1", "Pod", namespace)
    client.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "second", "namespace": namespace},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "second"}],
        }
    )
    assert client.wait("right", lambda: other.list("v1", "Pod", namespace) == [])


def test_the_controller_manager_comes_back(cluster: Cluster, client: Client) -> None:
    """It is supervised: it ends by itself when it loses the API server."""
    process = cluster.processes["kube-controller-manager"]
    before = process.pid
    os.kill(before, signal.SIGKILL)
    client.wait("new controller manager", lambda: process.pid != before and process.alive)


KILLED = """
import os, signal
from tests.cluster.bed import Cluster
cluster = Cluster().start()
print(cluster.folder, *(process.pid for process in cluster.processes.values()), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_nothing_outlives_a_killed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes end with their parent, and the next cluster removes the folder that was left."""
    Cluster()  # skips here, not in the other process, if the programs are missing
    # A folder of its own: a cluster that another worker starts in between would already have tidied up.
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    root = Path(__file__).parents[2]
    killed = subprocess.run([sys.executable, "-c", KILLED], cwd=root, capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    folder, *pids = killed.stdout.split()
    assert len(pids) == 5
    until = time.monotonic() + 60  # the signal is sent when the parent ends; a busy machine takes its time
    while any(_alive(int(pid)) for pid in pids) and time.monotonic() < until:
        time.sleep(0.05)
    assert not [pid for pid in pids if _alive(int(pid))]
    assert Path(folder).is_dir()
    assert own_folder().parent == tmp_path
    assert not Path(folder).exists()


def _running(pod: Manifest) -> Manifest | None:
    return pod if pod["status"].get("phase") == "Running" else None


def _alive(pid: int) -> bool:
    """Whether a process is there that is more than an entry in the table."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
