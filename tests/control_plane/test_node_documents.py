"""What the nodes are told: read by the agent itself, and by the shell's linter."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from winkube.control_plane.slot_documents import (
    ETCD_VOLUME_SERVICE,
    ClusterFacts,
    control_plane_images,
    encryption_text,
    node_document,
    pki_files,
)
from winkube.ec2.proxy import Proxy
from winkube.node_agent.node_document import NodeDocument
from winkube.tables.releases import SELF_MANAGED_RELEASES

from .planes import CLUSTER, CLUSTER_KEY, control_plane_args

FACTS = ClusterFacts(
    bucket="clusters-example-com", certificate_authority="CA\n", token_key_arn=CLUSTER_KEY,
    secrets_kms_key_arn=CLUSTER_KEY, issuer="https://d1.cloudfront.net", api_names=["lb.elb.amazonaws.com"],
)  # fmt: skip
SECRETS = pki_files(["ca.crt", "ca.key", "etcd/ca.crt", "etcd/ca.key", "sa.key", "sa.pub"])


def made(**changes: Any) -> NodeDocument:
    return node_document(control_plane_args(**changes), FACTS, "cp-1", ["cp-0", "cp-1", "cp-2"], SECRETS)


@pytest.mark.parametrize("minor", ["1.35", "1.36", "1.37"])
@pytest.mark.parametrize("runtime", ["containerd", "cri-o"])
def test_the_agent_reads_it(minor: str, runtime: str, tmp_path: Path) -> None:
    """By its own parser, in a process without this library."""
    digests = {"cri-o-1.37.0-linux-amd64": f"sha256:{'0' * 64}"} if (minor, runtime) == ("1.37", "cri-o") else {}
    path = tmp_path / "node.json"
    path.write_text(made(kubernetes_version=minor, runtime=runtime, artefact_digests=digests).text())
    agent = Path(__file__).parents[2] / "components" / "node_agent"
    script = (
        f"import sys; sys.path.insert(0, {str(agent)!r})\n"
        "from pathlib import Path\n"
        "from winkube_agent.document import read\n"
        f"it = read(Path({str(path)!r}))\n"
        "print(it.role, it.slot, it.incarnation, it.backup_seconds, len(it.secrets))\n"
    )
    answer = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["control_plane", "cp-1", "1", "900", "6"]


def test_it_tells_kubeadm_everything() -> None:
    value = made().value()
    documents = {it["kind"]: it for it in yaml.safe_load_all(value["kubeadm"]["init"])}
    cluster = documents["ClusterConfiguration"]
    assert cluster["controlPlaneEndpoint"] == f"api.{CLUSTER}:6443"
    assert cluster["encryptionAlgorithm"] == "ECDSA-P256"
    assert "lb.elb.amazonaws.com" in cluster["apiServer"]["certSANs"]
    flags = {it["name"]: it["value"] for it in cluster["apiServer"]["extraArgs"]}
    assert flags["service-account-issuer"] == "https://d1.cloudfront.net"
    (join,) = yaml.safe_load_all(value["kubeadm"]["join"])
    # The authorities lie there before the join: nothing is fetched with a key of kubeadm's.
    assert set(join["controlPlane"]) == {"localAPIEndpoint"}


def test_secrets_go_where_kubeadm_looks_for_them() -> None:
    secrets = {it["path"]: it for it in made(incarnation=4).value()["secrets"]}
    key = secrets["/etc/kubernetes/pki/etcd/ca.key"]
    assert key["key"] == f"clusterconfigs/{CLUSTER}/pki/4/etcd-ca.key"
    assert key["mode"] == "0600"
    assert secrets["/etc/kubernetes/pki/sa.pub"]["mode"] == "0644"


def test_documents_of_slots_differ_in_the_slot_alone() -> None:
    args = control_plane_args()
    one = node_document(args, FACTS, "cp-0", ["cp-0", "cp-1"], SECRETS).value()
    other = node_document(args, FACTS, "cp-1", ["cp-0", "cp-1"], SECRETS).value()
    assert {**one, "slot": None} == {**other, "slot": None}
    assert one != other


def test_the_same_arguments_give_the_same_text() -> None:
    assert made().sha256() == made().sha256()
    assert made().sha256() != made(backup_interval_minutes=30).sha256()


def test_a_mirror_and_a_proxy_reach_everything_that_is_fetched() -> None:
    value = made(
        mirror="https://mirror.example.com", registry_mirrors={"registry.k8s.io": "https://r.example.com"},
        proxy=Proxy(https="http://proxy.example.com:3128"),
    ).value()  # fmt: skip
    assert all(it["url"].startswith("https://mirror.example.com/") for it in value["artefacts"])
    assert value["proxy"]["https_proxy"] == "http://proxy.example.com:3128"
    assert any("certs.d/registry.k8s.io" in it["path"] for it in value["files"])


def test_images_are_those_of_the_minor_from_the_repository_that_is_named() -> None:
    images = control_plane_images(control_plane_args(image_repository="r.example.com/k8s"))
    assert all(image.startswith("r.example.com/k8s/") for image in images)
    assert {"r.example.com/k8s/kube-apiserver:v1.36.4", "r.example.com/k8s/coredns:v1.14.2"} <= set(images)
    # kubeadm init asks for CoreDNS before it begins: pulled by then, it costs the holder of the lock nothing
    assert "registry.k8s.io/coredns/coredns:v1.14.2" in control_plane_images(control_plane_args())
    pulled = made(image_repository="r.example.com/k8s").value()["images"]
    assert pulled[0].startswith("r.example.com/k8s/pause:")
    assert set(images) <= set(pulled)


@pytest.mark.parametrize("minor", SELF_MANAGED_RELEASES)
def test_everything_of_kubernetes_is_of_one_patch(minor: str) -> None:
    """What is downloaded, what is pulled, and what kubeadm is told to make."""
    value, tag = made(kubernetes_version=minor).value(), SELF_MANAGED_RELEASES[minor].tag
    downloads = [it["url"] for it in value["artefacts"] if it["url"].startswith("https://dl.k8s.io/")]
    images = [it for it in value["images"] if "/kube-" in it]
    assert (len(downloads), len(images)) == (3, 4)
    assert {url.split("/")[4] for url in downloads} == {it.rpartition(":")[2] for it in images} == {tag}
    assert f"kubernetesVersion: {tag}\n" in value["kubeadm"]["init"]
    assert value["cluster"]["kubernetes_version"] == tag.removeprefix("v")


def test_the_volume_of_etcd_is_mounted_before_anything_is_started() -> None:
    value = made(etcd_volume_size_gib=20).value()
    assert value["services"][0] == ETCD_VOLUME_SERVICE
    assert {"/opt/winkube/etcd-volume.sh", f"/etc/systemd/system/{ETCD_VOLUME_SERVICE}"} <= {
        it["path"] for it in value["files"]
    }
    assert ETCD_VOLUME_SERVICE not in made().value()["services"]


def test_the_script_of_the_volume_is_sound() -> None:
    """Linted as a file."""
    script = Path(__file__).parents[2] / "components" / "control_plane" / "etcd_volume.sh"
    shellcheck = Path(sys.executable).with_name("shellcheck")
    answer = subprocess.run([str(shellcheck), "-s", "sh", str(script)], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout


def test_the_encryption_of_secrets_has_its_key() -> None:
    config = yaml.safe_load(encryption_text(control_plane_args(), "a" * 43 + "="))
    first, last = config["resources"][0]["providers"]
    assert first["secretbox"]["keys"] == [{"name": "key1", "secret": "a" * 43 + "="}]
    assert last == {"identity": {}}


def test_a_secret_in_a_document_is_refused() -> None:
    """The agent's own check stands between a mistake of ours and the bucket."""
    from winkube.core.errors import WinkubeError

    facts = replace(FACTS, certificate_authority="x", bucket="b", api_names=["-----BEGIN PRIVATE KEY-----"])
    with pytest.raises(WinkubeError, match="WK-ART-016"):
        node_document(control_plane_args(), facts, "cp-0", ["cp-0"], SECRETS)


def test_it_is_json_without_unknown_parts() -> None:
    assert json.loads(made().text())["version"] == 1
