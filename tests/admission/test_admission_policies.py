"""The admission policies as text; what they do is tried on a real API server in tests/cluster."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from winkube.admission.admission_manifests import MODES, admission_manifests
from winkube.admission.admission_rules import POD_REFUSALS, REFUSALS, SERVICE_REFUSALS, judgement
from winkube.admission.windows_admission import (
    WindowsAdmission,
    WindowsAdmissionArgs,
    check_windows_admission,
    mutating_policies,
)
from winkube.preview.model import Plan

from ..kubernetes.conftest import said

ARGS = WindowsAdmissionArgs(kubernetes_version="1.36", releases=("2022", "2025"))


def test_the_objects_are_those_of_kubernetes(validated: Callable[..., None]):
    for mode in MODES:
        for manifest in admission_manifests(replace(ARGS, mode=mode, linux_default=True), mutating=True).values():
            validated(manifest)


def test_they_begin_by_speaking():
    """The default mode warns and writes into the audit log; nothing is denied."""
    bindings = [it for part, it in admission_manifests(ARGS, mutating=True).items()
                if it["kind"] == "ValidatingAdmissionPolicyBinding"]  # fmt: skip
    assert bindings
    assert all(it["spec"]["validationActions"] == ["Warn", "Audit"] for it in bindings)


def test_each_rule_may_have_a_mode_of_its_own():
    """One policy for each mode in use; ``off`` makes none."""
    args = replace(ARGS, rules={"memory_limit": "deny", "volumes": "off", "service_settings": "audit"})
    manifests = admission_manifests(args, mutating=True)
    denied, warned = (str(manifests[f"check-pods-{mode}"]["spec"]) for mode in ("deny", "warn"))
    assert "WK-K8S-011" in denied
    assert "WK-K8S-010" not in denied
    assert "WK-K8S-010" in warned
    assert "WK-K8S-011" not in warned
    assert "WK-K8S-016" not in denied + warned
    assert "check-services-audit" in manifests
    assert not admission_manifests(replace(ARGS, mode="off"), mutating=False)


def test_every_refusal_says_what_to_write_and_its_code():
    """In one text for all that is wrong: of several, the API server would tell the first alone."""
    for policy in (POD_REFUSALS, SERVICE_REFUSALS):
        found = judgement(policy)
        (validation,) = found["validations"]
        said = found["variables"][-1]["expression"]
        for refusal in policy:
            assert f"[{refusal.rule.code}]" in said
            assert refusal.rule.code in validation["message"]
            assert refusal.remedy[:20] in said
        assert "\n" not in said + validation["message"]


def test_constants_are_written_into_the_policies():
    """No ConfigMap is asked for: deleting one could refuse every pod."""
    for manifest in admission_manifests(replace(ARGS, linux_default=True), mutating=True).values():
        assert "paramKind" not in manifest["spec"]
        assert "paramRef" not in manifest["spec"]
        assert "Object.spec" not in str(manifest)


def test_kube_system_is_left_alone():
    for manifest in admission_manifests(ARGS, mutating=True).values():
        if manifest["kind"].endswith("Binding"):
            (rule,) = manifest["spec"]["matchResources"]["namespaceSelector"]["matchExpressions"]
            assert rule["operator"] == "NotIn"
            assert "kube-system" in rule["values"]


def test_pods_meet_one_policy_that_places_and_one_for_each_mode():
    """The API server converts a pod anew for each policy that it meets, and that is most of what they cost."""
    manifests = admission_manifests(replace(ARGS, linux_default=True), mutating=True)
    met = [part for part, it in manifests.items()
           if "pods" in str(it["spec"].get("matchConstraints", {}).get("resourceRules"))]  # fmt: skip
    assert met == ["place-windows-pods", "check-pods-warn"]
    assert all(len(manifests[part]["spec"]["matchConditions"]) == 1 for part in met)
    assert len(manifests["check-pods-warn"]["spec"]["validations"]) == 1


@pytest.mark.parametrize(("minor", "mutating"), [("1.34", False), ("1.35", False), ("1.36", True), ("1.37", True)])
def test_a_minor_without_mutation_is_spoken_about(record: Callable[..., Plan], minor: str, mutating: bool):
    """The component leaves the policies out, says so in the preview, and speaks of pods that nothing places."""
    assert mutating_policies(minor) is mutating
    plan = record(lambda: WindowsAdmission("admission", replace(ARGS, kubernetes_version=minor)))
    kinds = {it.type.rpartition(":")[2] for it in plan.resources}
    assert ("MutatingAdmissionPolicy" in kinds) is mutating
    component = next(it for it in plan.resources if it.name == "admission")
    assert component.outputs["mutating"] is mutating
    policy = next(it for it in plan.resources if it.name == "admission-check-pods-warn")
    assert ("which the scheduler ignores" in str(policy.inputs)) is not mutating


def test_the_default_is_the_first_release():
    policy = admission_manifests(ARGS, mutating=True)["place-windows-pods"]
    assert "{'': 'windows-2022'" in str(policy["spec"]["variables"])
    other = admission_manifests(replace(ARGS, default_release="2025"), mutating=True)["place-windows-pods"]
    assert "{'': 'windows-2025'" in str(other["spec"]["variables"])


@pytest.mark.parametrize(
    ("change", "code", "path", "words"),
    [
        ({"kubernetes_version": "1.99"}, "WK-K8S-031", ("kubernetes_version",), "1.36"),
        ({"releases": ()}, "WK-K8S-001", ("releases",), "2022"),
        ({"releases": ("2023",)}, "WK-K8S-001", ("releases", 0), "2025"),
        ({"default_release": "2019"}, "WK-K8S-001", ("default_release",), '"2022"'),
        ({"mode": "dény"}, "WK-K8S-040", ("mode",), '"deny"'),
        ({"rules": {"volumes": "refuse"}}, "WK-K8S-040", ("rules", "volumes"), "audit"),
        ({"rules": {"memory": "deny"}}, "WK-K8S-041", ("rules", "memory"), "memory_limit"),
        ({"exempt_namespaces": ("apps",)}, "WK-K8S-042", ("exempt_namespaces",), "add kube-system"),
        ({"exempt_namespaces": ("kube-system", "kube-*")}, "WK-K8S-042", ("exempt_namespaces", 1), "without patterns"),
        ({"failure_policy": "fail"}, "WK-K8S-043", ("failure_policy",), '"Fail"'),
    ],
)
def test_what_admission_cannot_be_told(change: dict[str, Any], code: str, path: Any, words: str):
    mistake = said(check_windows_admission(replace(ARGS, **change)), code)
    assert mistake.path == path
    assert words in mistake.text()


def test_names_of_rules_are_unique():
    assert len(set(REFUSALS)) == len(REFUSALS)
