"""The samples in the docs are real objects: they follow the schemas of Kubernetes and the rules of the library."""

import re
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from winkube.addons.load_balancer import service_annotations
from winkube.kubernetes.windows_pods import check_manifest, for_windows, image_build, pod_spec
from winkube.policies.model import Planned, Stack
from winkube.policies.pack import RULES
from winkube.scheduling.runtime_class_manifests import runtime_class_name
from winkube.tables.kubernetes import EKS_MINORS, newest
from winkube.tables.windows import WINDOWS_RELEASES

from tests.golden import has_schema

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "windows-workloads.md").read_text(encoding="utf-8")


def blocks(text: str) -> list[dict[str, Any]]:
    """The Kubernetes objects in the YAML blocks of a page, indented ones too."""
    found = re.findall(r"^( *)```yaml\n(.*?)^ *```$", text, flags=re.M | re.S)
    documents = [
        it for indent, block in found for it in yaml.safe_load_all(re.sub(f"^{indent}", "", block, flags=re.M))
    ]
    return [document for document in documents if isinstance(document, dict) and "apiVersion" in document]


SAMPLES = {f"{sample['kind']}/{sample['metadata']['name']}": sample for sample in blocks(PAGE)}
PODS = {name: held[1] for name, sample in SAMPLES.items() if (held := pod_spec(sample))}
WINDOWS = {name: spec for name, spec in PODS.items() if for_windows(spec)}


@pytest.mark.parametrize("minor", [*filter(has_schema, EKS_MINORS)])
@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_follows_the_schema_of_every_minor(name: str, minor: str) -> None:
    kubernetes_validate.validate(SAMPLES[name], minor, strict=True)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_keeps_the_rules_for_windows_pods(name: str) -> None:
    """No mistake: memory limits, images of the node's build, a selector, no Linux fields."""
    assert not check_manifest(SAMPLES[name])


@pytest.mark.parametrize("name", PODS)
def test_a_sample_says_its_system_by_os_and_by_selector_or_class(name: str) -> None:
    spec = PODS[name]
    system = spec["os"]["name"]
    assert (system == "windows") == (name in WINDOWS)
    assert spec.get("nodeSelector", {}).get("kubernetes.io/os") == system or "runtimeClassName" in spec
    if "runtimeClassName" in spec:
        assert spec["runtimeClassName"] in {runtime_class_name(release) for release in WINDOWS_RELEASES}


def test_a_sample_application_runs_on_both_systems() -> None:
    """Selectors by system and architecture in both; toleration and RuntimeClass on Windows; a Service on port 80."""
    linux, windows = PODS["Deployment/linux-web"], PODS["Deployment/win-webserver"]
    for spec, system in ((linux, "linux"), (windows, "windows")):
        assert spec["nodeSelector"] == {"kubernetes.io/os": system, "kubernetes.io/arch": "amd64"}
    assert windows["runtimeClassName"] == "windows-2022"
    assert windows["tolerations"] == [{"key": "os", "operator": "Equal", "value": "windows", "effect": "NoSchedule"}]
    assert SAMPLES["Deployment/win-webserver"]["spec"]["replicas"] == 2
    service = SAMPLES["Service/win-webserver"]["spec"]
    assert (service["type"], service["ports"][0]["port"]) == ("NodePort", 80)
    assert service["ports"][0]["targetPort"] == windows["containers"][0]["ports"][0]["containerPort"]


@pytest.mark.parametrize("release", ["2022", "2025"])
def test_iis_has_the_build_of_its_class_and_memory_that_is_limited(release: str) -> None:
    spec = PODS[f"Deployment/iis-{release}"]
    (container,) = spec["containers"]
    assert spec["runtimeClassName"] == f"windows-{release}"
    assert image_build(container["image"]) == WINDOWS_RELEASES[release].build
    assert container["resources"]["limits"]["memory"] == container["resources"]["requests"]["memory"]


def test_the_load_balancer_of_iis_sends_to_windows_nodes() -> None:
    """The annotations are those that the library writes."""
    service = SAMPLES["Service/iis"]
    assert service["metadata"]["annotations"] == service_annotations("instance")
    assert service["spec"]["type"] == "LoadBalancer"


def test_a_daemon_set_repeats_selector_and_toleration() -> None:
    """Its controller does not read the scheduling part of a RuntimeClass."""
    spec = PODS["DaemonSet/win-daemon"]
    assert spec["nodeSelector"]["kubernetes.io/os"] == "windows"
    assert spec["tolerations"][0]["key"] == "os"
    assert "runtimeClassName" not in spec


def test_volumes_are_mounted_at_windows_paths() -> None:
    """A host directory read-only, and an emptyDir that two containers share."""
    writer, reader = PODS["Pod/win-volumes"]["containers"]
    mounts = {mount["name"]: mount for mount in writer["volumeMounts"]}
    assert mounts["host"] == {"name": "host", "mountPath": r"C:\etc\foo", "readOnly": True}
    assert mounts["scratch"]["mountPath"] == r"C:\scratch"
    assert reader["volumeMounts"][0]["name"] == "scratch"


def test_the_binding_of_kube_proxy_can_be_put_back() -> None:
    """Troubleshooting shows it in the current version of the API."""
    (binding,) = blocks((DOCS / "troubleshooting.md").read_text(encoding="utf-8"))
    assert binding["apiVersion"] == "rbac.authorization.k8s.io/v1"
    assert binding["metadata"]["name"] == "eks:kube-proxy-windows"
    assert binding["roleRef"]["name"] == "system:node-proxier"
    assert binding["subjects"][0]["name"] == "eks:kube-proxy-windows"
    kubernetes_validate.validate(binding, newest(filter(has_schema, EKS_MINORS)), strict=True)


def test_the_policy_pack_finds_what_the_page_says_and_nothing_else() -> None:
    """All rules over all samples: a namespace that nobody allowed yet, and a load balancer without a certificate."""

    def planned(name: str, sample: dict[str, Any]) -> Planned:
        group = sample["apiVersion"] if "/" in sample["apiVersion"] else f"core/{sample['apiVersion']}"
        kind = f"kubernetes:{group}:{sample['kind']}"
        return Planned(f"urn:pulumi:dev::p::{kind}::{name}", kind, sample, {}, "")

    plan = [planned(name, sample) for name, sample in SAMPLES.items()]
    found: set[str] = set()
    for rule in RULES:
        if rule.stack:
            found |= {rule.name for _ in rule.stack(Stack(plan), rule.settings)}
        elif rule.resource:
            judged = [resource for resource in plan if resource.type in rule.types]
            found |= {rule.name for resource in judged for _ in rule.resource(resource, rule.settings)}
    assert found == {"windows-few-host-processes", "service-load-balancer-tls"}
    assert all(f"`{name}`" in PAGE for name in found)


def test_a_broken_sample_would_be_found() -> None:
    """The checks above can fail: a sample without its memory limit breaks a rule."""
    text = PAGE.replace("limits: {memory: 256Mi}", "limits: {cpu: '1'}")
    assert any(check_manifest(sample) for sample in blocks(text))


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    """Every relative link names a file that is there, and a heading of it."""
    from docs.ledger import anchors

    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        file = (page.parent / path) if path else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file.read_text(encoding="utf-8")), target
