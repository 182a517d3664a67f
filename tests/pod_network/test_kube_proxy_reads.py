"""kube-proxy.exe itself reads the file that our DaemonSet gives it, under Wine."""

import json
from collections.abc import Iterator

import pytest
from winkube.pod_network.flannel_config import rendered
from winkube.pod_network.kube_proxy_manifests import kube_proxy_configuration
from winkube.pod_network.windows_kube_proxy import WindowsKubeProxyArgs

from tests.binaries import MINORS, binary
from tests.binaries.wine import Wine, wine

from ..kubernetes.conftest import API

pytestmark = pytest.mark.proof

FACTS = {"${NODE_NAME}": "i-0123456789abcdef0", "${PRIVATE_IP}": "10.0.1.5", "${SOURCE_VIP}": "10.244.3.2"}


@pytest.fixture(scope="module")
def server() -> Iterator[Wine]:
    """A played Windows Server."""
    with wine("2022") as prefix:
        yield prefix


@pytest.mark.parametrize("minor", MINORS)
def test_the_configuration_is_decoded_without_a_word(server: Wine, minor: str) -> None:
    """As far as the token of the pod, which is not there; a field that it does not know it would name."""
    text = rendered(kube_proxy_configuration(WindowsKubeProxyArgs(endpoint=API)))
    for placeholder, fact in FACTS.items():
        text = text.replace(placeholder, fact)
    program = binary("kube-proxy", minor=minor, os="windows")
    wrong = json.loads(text)
    wrong["winkernel"]["enableDSRR"] = True
    said: dict[str, str] = {}
    for name, file in {"right": text, "wrong": json.dumps(wrong)}.items():
        server.write(rf"C:\k\ours-{name}.json", file)
        done = server.run(program, rf"--config=C:\k\ours-{name}.json", "--v=2", seconds=30)
        said[name] = done.stdout + done.stderr
    assert "enableDSRR" in said["wrong"]
    assert "strict decoding" not in said["right"]
    assert "unable to load in-cluster configuration" in said["right"]
