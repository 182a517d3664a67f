"""The real programs read what we render: flanneld the network, host-local the address of kube-proxy."""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from winkube.pod_network.flannel_config import net_conf, rendered, source_vip_environment, source_vip_request

from tests.binaries import binary
from tests.cluster.processes import Process

pytestmark = pytest.mark.proof


def host_local(folder: Path, command: str) -> tuple[int, dict[str, Any]]:
    """One call, with the book in a folder of the test's."""
    request = source_vip_request("10.244.3.0/24")
    request["ipam"]["dataDir"] = str(folder)
    answer = subprocess.run(
        [binary("host-local")], input=json.dumps(request), text=True, capture_output=True, check=False,
        env={**os.environ, **source_vip_environment(command)},
    )  # fmt: skip
    return answer.returncode, json.loads(answer.stdout or "{}")


def test_host_local_keeps_the_address_of_kube_proxy(tmp_path: Path):
    """The answer has the form that the script reads; the book names the owner as the script looks for it."""
    code, answer = host_local(tmp_path, "ADD")
    assert code == 0
    address = answer["ips"][0]["address"].split("/")[0]
    assert address.startswith("10.244.3.")
    page = tmp_path / "flannel.4096" / address
    assert page.read_text().split() == ["kube-proxy", "source-vip"]
    again, refusal = host_local(tmp_path, "ADD")
    assert again != 0
    assert "duplicate allocation" in refusal["msg"]
    assert host_local(tmp_path, "DEL")[0] == 0
    assert not page.exists()


@pytest.mark.parametrize("mtu", [1500, 9001])
def test_flanneld_takes_the_network(tmp_path: Path, mtu: int):
    """It reads net-conf.json before it asks anybody, and would name what it cannot read."""
    file = tmp_path / "net-conf.json"
    file.write_text(rendered(net_conf("10.244.0.0/16", mtu=mtu)))
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}], "users": [{"name": "c", "user": {}}],
    }))  # fmt: skip

    command = [binary("flanneld"), "--kube-subnet-mgr", f"--kubeconfig-file={kubeconfig}", "--iface=lo",
               f"--net-config-path={file}"]  # fmt: skip
    taken, refused = "Waiting 10m0s for node controller to sync", "error parsing subnet config"

    def said(name: str) -> str:
        environment = {"NODE_NAME": "n", "CONT_WHEN_CACHE_NOT_READY": "true"}
        running = Process(command, tmp_path / name, environment=environment)
        until = time.monotonic() + 60
        try:
            while running.alive and taken not in running.last_words() and time.monotonic() < until:
                time.sleep(0.05)
            return running.last_words()
        finally:
            running.stop()

    good = said("good")
    assert taken in good
    assert refused not in good
    file.write_text(rendered({"Network": "nonsense", "Backend": {"Type": "vxlan"}}))
    assert refused in said("nonsense")
