"""RuntimeClasses of Windows releases."""

from collections.abc import Callable

import kubernetes_validate
import pulumi
import pulumi_kubernetes as kubernetes
import pytest
from winkube.core.errors import WinkubeError
from winkube.preview.model import Plan
from winkube.scheduling.kubelet import SET_BY_OTHERS, check_kubelet_labels
from winkube.scheduling.runtime_class_manifests import check_releases, runtime_class_manifest
from winkube.scheduling.runtime_classes import WindowsRuntimeClasses, WindowsRuntimeClassesArgs
from winkube.tables.windows import WINDOWS_RELEASES


@pytest.mark.parametrize("release", WINDOWS_RELEASES)
@pytest.mark.parametrize("minor", ["1.34", "1.36"])
def test_manifests_follow_the_schema(release: str, minor: str):
    """Kubernetes' own schema of the minor accepts each, strictly."""
    kubernetes_validate.validate(runtime_class_manifest(release, {"team": "web"}), minor, strict=True)


def test_a_release_is_its_build_and_its_toleration():
    """Handler of process isolation, selector with the build, toleration of the Windows taint."""
    manifest = runtime_class_manifest("2025")
    assert manifest["metadata"]["name"] == "windows-2025"
    assert manifest["handler"] == "runhcs-wcow-process"
    assert manifest["scheduling"]["nodeSelector"] == {
        "kubernetes.io/os": "windows",
        "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/windows-build": "10.0.26100",
    }
    assert manifest["scheduling"]["tolerations"] == [
        {"key": "os", "operator": "Equal", "value": "windows", "effect": "NoSchedule"}
    ]


@pytest.mark.parametrize("release", WINDOWS_RELEASES)
def test_a_class_selects_by_labels_that_every_node_gets(release: str):
    """Nothing has to be set on a node, and no group may set it."""
    selected = runtime_class_manifest(release)["scheduling"]["nodeSelector"]
    assert set(selected) <= set(SET_BY_OTHERS)
    assert {mistake.rule.code for mistake in check_kubelet_labels(selected)} == {"WK-SCH-009"}


def test_the_component_uses_the_caller_s_provider(record: Callable[..., Plan]):
    """One object for each release, all with the provider that was passed."""

    def build() -> None:
        provider = kubernetes.Provider("cluster", kubeconfig="{}")
        WindowsRuntimeClasses(
            "classes",
            WindowsRuntimeClassesArgs(releases=["2022", "2025"]),
            pulumi.ResourceOptions(providers=[provider]),
        )

    plan = record(build)
    classes = [resource for resource in plan.resources if resource.type == "kubernetes:node.k8s.io/v1:RuntimeClass"]
    assert [resource.inputs["metadata"]["name"] for resource in classes] == ["windows-2022", "windows-2025"]
    assert all("cluster" in resource.options.provider for resource in classes)
    component = next(resource for resource in plan.resources if resource.name == "classes")
    assert component.outputs["names"] == ["windows-2022", "windows-2025"]


def test_unknown_and_repeated_releases_are_refused(record: Callable[..., Plan]):
    """WK-K8S-001 at the place, with the nearest release."""
    unknown, twice = check_releases(["2020", "2022", "2022"])
    assert (unknown.rule.code, unknown.path, unknown.got) == ("WK-K8S-001", ("releases", 0), "2020")
    assert unknown.remedy == 'write "2022"'
    assert twice.path == ("releases", 2)
    with pytest.raises(WinkubeError, match="WK-K8S-001"):
        record(lambda: WindowsRuntimeClasses("classes", WindowsRuntimeClassesArgs(releases=["x"])))
