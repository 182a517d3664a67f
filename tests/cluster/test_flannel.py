"""flanneld itself, against a real API server, with the network and the rights that it is given."""

import os
import time
from pathlib import Path

import pytest
import yaml
from winkube.pod_network.flannel import FlannelArgs
from winkube.pod_network.flannel_manifests import flannel_manifests

from tests.binaries import binary

from .bed import Cluster
from .processes import Process
from .test_rbac import take_away

pytestmark = pytest.mark.proof


def test_flanneld_finds_the_network_and_its_node(cluster: Cluster, tmp_path: Path) -> None:
    """It reads the configuration, watches nodes as its own service account, and comes as far as the kernel lets it."""
    client = cluster.client
    made = [it for part, it in flannel_manifests(FlannelArgs(endpoint="x:6443")).items()
            if part in ("namespace", "account", "role", "binding", "configuration")]  # fmt: skip
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "flannel-node"},
            "spec": {"podCIDR": "10.244.7.0/24", "podCIDRs": ["10.244.7.0/24"]}}  # fmt: skip
    for manifest in (*made, node):
        client.apply(manifest)
    try:
        token = client.request(
            "POST", client.path("v1", "ServiceAccount", "flannel", "kube-flannel") + "/token",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}},
        )["status"]["token"]  # fmt: skip
        kubeconfig = yaml.safe_load(cluster.kubeconfig().read_text())
        kubeconfig["users"][0]["user"] = {"token": token}
        (tmp_path / "kubeconfig").write_text(yaml.safe_dump(kubeconfig))
        (tmp_path / "net-conf.json").write_text(made[-1]["data"]["net-conf.json"])
        said = _run(tmp_path)
        assert "Node controller sync successful" in said
        assert "Found network config - Backend type: vxlan" in said
        assert "forbidden" not in said
    finally:
        take_away(client, [*made, node])


def _run(folder: Path) -> str:
    """What flanneld says until it has found its network. It is given no right to make interfaces."""
    command = [binary("flanneld"), "--kube-subnet-mgr", f"--kubeconfig-file={folder / 'kubeconfig'}", "--iface=lo",
               f"--net-config-path={folder / 'net-conf.json'}", f"--subnet-file={folder / 'subnet.env'}"]  # fmt: skip
    unprivileged = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"] if os.geteuid() == 0 else []
    running = Process([*unprivileged, *command], folder / "flanneld.log", environment={"NODE_NAME": "flannel-node"})
    until = time.monotonic() + 60
    try:
        while running.alive and time.monotonic() < until and "Found network config" not in running.last_words(100):
            time.sleep(0.05)
        return running.last_words(100)
    finally:
        running.stop()
