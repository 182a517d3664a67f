"""etcd, API server, controllers and scheduler of every minor run with what we render, and do what it says."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from winkube.kubeadm import paths
from winkube.kubeadm.config import ClusterConfig, ServiceAccountIssuer
from winkube.tables.releases import SELF_MANAGED_MINORS

from .places import FACTS
from .plane import PATIENCE, Plane, running

pytestmark = pytest.mark.proof

ISSUER = "https://keys.example.com"


def cluster(minor: str) -> ClusterConfig:
    """A cluster with every option on that needs nothing outside."""
    return ClusterConfig(
        cluster_name="prod.example.com",
        kubernetes_version=minor,
        endpoint="api.prod.example.com:6443",
        encryption_algorithm="ECDSA-P256",
        certificate_validity_days=90,
        always_pull_images=True,
        service_account_issuer=ServiceAccountIssuer(issuer=ISSUER, jwks_uri=f"{ISSUER}/openid/v1/jwks"),
        feature_gates={"WindowsGracefulNodeShutdown": True},
    )


@pytest.fixture(scope="module", params=SELF_MANAGED_MINORS)
def plane(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """One control plane for all tests of a minor."""
    root = tmp_path_factory.mktemp(f"plane-{request.param}")
    with running(cluster(request.param), root, ["kube-controller-manager", "kube-scheduler"]) as started:
        yield started


def namespace(plane: Plane, name: str) -> None:
    """Make a namespace, and wait for its service account."""
    assert plane.post("/api/v1/namespaces", {"metadata": {"name": name}})[0] in (201, 409)
    wait_for(plane, f"/api/v1/namespaces/{name}/serviceaccounts/default")


def wait_for(plane: Plane, path: str) -> Any:
    """What lies under a path, as soon as it is there."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        plane.check()
        status, body = plane.get(path, user="admin")
        if status == 200:
            return body
        time.sleep(0.2)
    raise AssertionError(f"nothing at {path}: {plane.log('kube-controller-manager')[-2000:]}")


def host_process(name: str) -> dict[str, Any]:
    """A pod as flannel on Windows needs it, which no standard but ``privileged`` admits."""
    windows = {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\SYSTEM"}
    return {
        "metadata": {"name": name},
        "spec": {
            "os": {"name": "windows"},
            "hostNetwork": True,
            "securityContext": {"windowsOptions": windows},
            "containers": [{"name": "a", "image": "example.com/a:1"}],
        },
    }


@pytest.mark.parametrize("path", ["/readyz", "/livez", "/healthz"])
def test_anybody_may_ask_for_health(plane: Plane, path: str):
    assert plane.get(path) == (200, "ok")


@pytest.mark.parametrize("path", ["/version", "/api", "/apis", "/openid/v1/jwks", "/readyz/etcd",
                                  "/api/v1/namespaces/kube-public/configmaps/cluster-info"])  # fmt: skip
def test_nobody_without_credentials_may_ask_for_more(plane: Plane, path: str):
    assert plane.get(path)[0] == 401


def test_secrets_lie_in_etcd_encrypted_and_are_read_back(plane: Plane):
    secret = {"metadata": {"name": "s"}, "stringData": {"password": "correct horse"}}
    assert plane.post("/api/v1/namespaces/default/secrets", secret)[0] == 201
    value = plane.etcd_value("/registry/secrets/default/s")
    assert value.startswith(b"k8s:enc:secretbox:v1:k1:")
    assert b"correct horse" not in value
    status, body = plane.get("/api/v1/namespaces/default/secrets/s", user="admin")
    assert (status, body["data"]["password"]) == (200, "Y29ycmVjdCBob3JzZQ==")


def test_config_maps_lie_in_etcd_in_clear(plane: Plane):
    """The counter-test: the test above would see a value that is not encrypted."""
    body = {"metadata": {"name": "c"}, "data": {"a": "correct horse"}}
    assert plane.post("/api/v1/namespaces/default/configmaps", body)[0] == 201
    assert b"correct horse" in plane.etcd_value("/registry/configmaps/default/c")


def test_the_audit_log_says_who_made_a_secret_and_not_what_it_is(plane: Plane):
    secret = {"metadata": {"name": "audited"}, "stringData": {"password": "battery staple"}}
    assert plane.post("/api/v1/namespaces/default/secrets", secret)[0] == 201
    log = plane.place(paths.AUDIT_LOG)
    end, entries = time.monotonic() + PATIENCE, []
    while not entries and time.monotonic() < end:
        lines = [json.loads(line) for line in log.read_text().splitlines() if line.endswith("}")]
        entries = [line for line in lines if line.get("objectRef", {}).get("name") == "audited"]
    (entry,) = entries
    assert (entry["level"], entry["verb"], entry["stage"]) == ("Metadata", "create", "ResponseComplete")
    assert "requestObject" not in entry
    assert "battery" not in log.read_text()
    assert not [line for line in lines if line["stage"] == "RequestReceived"]
    assert not [line for line in lines if line["requestURI"] in ("/readyz", "/livez", "/healthz")]


def test_privileged_pods_are_refused_in_plain_namespaces_and_admitted_in_those_of_host_process(plane: Plane):
    namespace(plane, "plain")
    namespace(plane, "kube-flannel")
    status, body = plane.post("/api/v1/namespaces/plain/pods", host_process("a"))
    assert status == 403
    assert 'violates PodSecurity "baseline:latest"' in body["message"]
    assert "securityContext.windowsOptions.hostProcess=true" in body["message"]
    assert plane.post("/api/v1/namespaces/kube-flannel/pods", host_process("a"))[0] == 201


def test_services_with_external_addresses_are_refused(plane: Plane):
    service = {"metadata": {"name": "x"}, "spec": {"ports": [{"port": 1}], "externalIPs": ["10.1.1.1"]}}
    assert plane.post("/api/v1/namespaces/default/services", service)[0] == 403


def test_every_start_of_a_pod_asks_the_registry(plane: Plane):
    namespace(plane, "kube-flannel")
    status, body = plane.post("/api/v1/namespaces/kube-flannel/pods", host_process("pulled"))
    assert (status, body["spec"]["containers"][0]["imagePullPolicy"]) == (201, "Always")


def test_controllers_and_scheduler_run_and_lead(plane: Plane):
    for name, port in (("kube-controller-manager", "10257"), ("kube-scheduler", "10259")):
        plane.wait(name, "/healthz", port)
        lease = wait_for(plane, f"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/{name}")
        assert lease["spec"]["holderIdentity"]


def test_nodes_get_parts_of_the_pod_network(plane: Plane):
    node = {"metadata": {"name": "i-1"}, "spec": {}}
    assert plane.post("/api/v1/nodes", node)[0] == 201
    end = time.monotonic() + PATIENCE
    while "podCIDR" not in (body := plane.get("/api/v1/nodes/i-1", user="admin")[1])["spec"] and time.monotonic() < end:
        time.sleep(0.2)
    assert body["spec"]["podCIDR"].startswith("10.244.")
    assert body["spec"]["podCIDR"].endswith("/24")


def test_the_join_token_is_a_user_that_may_ask_for_a_certificate(plane: Plane):
    identity, secret = FACTS["${JOIN_TOKEN}"].split(".")
    data = {"token-id": identity, "token-secret": secret, "usage-bootstrap-authentication": "true",
            "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token"}  # fmt: skip
    body = {
        "metadata": {"name": f"bootstrap-token-{identity}"},
        "type": "bootstrap.kubernetes.io/token",
        "stringData": data,
    }
    assert plane.post("/api/v1/namespaces/kube-system/secrets", body)[0] == 201
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    end, answer = time.monotonic() + PATIENCE, (0, None)
    while answer[0] != 201 and time.monotonic() < end:
        answer = plane.post(
            "/apis/authentication.k8s.io/v1/selfsubjectreviews", review, user=None, token=".".join((identity, secret))
        )
    assert answer[1]["status"]["userInfo"]["username"] == f"system:bootstrap:{identity}"


def test_tokens_of_service_accounts_name_the_issuer_that_aws_reads(plane: Plane):
    status, body = plane.get("/.well-known/openid-configuration", user="admin")
    assert status == 200
    assert (body["issuer"], body["jwks_uri"]) == (ISSUER, f"{ISSUER}/openid/v1/jwks")


def test_nothing_profiles_the_api_server(plane: Plane):
    assert plane.get("/debug/pprof/", user="admin")[0] == 404


def test_no_component_complains_of_its_flags(plane: Plane):
    for name in ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"):
        complaints = [
            line for line in plane.log(name).splitlines() if "deprecated" in line.lower() and "flag" in line.lower()
        ]
        assert complaints == [], name


SPOILT = {
    paths.AUTHENTICATION: ("conditions:", "condition:"),
    paths.ENCRYPTION: ("resources:\n- resources:", "resources:\n- resource:"),
    paths.ADMISSION: ("exemptions:", "exemption:"),
}


@pytest.mark.parametrize("minor", ["1.36"])
@pytest.mark.parametrize("path", SPOILT)
def test_the_api_server_refuses_each_file_with_a_misspelt_field(minor: str, path: str, tmp_path: Path):
    """The counter-test: the files are really read, and strictly."""
    plane = Plane(cluster(minor), tmp_path)
    text, (right, wrong) = plane.place(path).read_text(), SPOILT[path]
    assert text.count(right) == 1
    plane.place(path).write_text(text.replace(right, wrong))
    try:
        plane.start("etcd")
        plane.start("kube-apiserver")
        assert plane.processes["kube-apiserver"].wait(PATIENCE) != 0
    finally:
        plane.stop()
    assert wrong.rpartition("- ")[2].strip(":") in plane.log("kube-apiserver")


def test_the_api_server_reads_the_audit_policy_strictly(plane: Plane):
    """A policy with an unknown field does not stop the API server; it says that it reads it leniently."""
    assert "lenient" not in plane.log("kube-apiserver")


@pytest.mark.parametrize("minor", ["1.36"])
def test_a_misspelt_audit_policy_is_read_leniently_and_that_is_said(minor: str, tmp_path: Path):
    """The counter-test of the one above."""
    plane = Plane(cluster(minor), tmp_path)
    place = plane.place(paths.AUDIT_POLICY)
    place.write_text(place.read_text().replace("omitStages:", "omitStage:"))
    try:
        plane.start("etcd")
        plane.start("kube-apiserver")
        plane.wait("kube-apiserver")
    finally:
        plane.stop()
    assert 'unknown field "omitStage"' in plane.log("kube-apiserver")
    assert "lenient" in plane.log("kube-apiserver")
