"""Flags, feature gates and kubelet fields: what the tables say, and that they say what the programs say."""

from typing import Any

import pytest
from winkube.core.mistakes import Mistakes
from winkube.kubeadm import api_server, flags, kubeadm_documents, kubelet
from winkube.kubeadm.config import ClusterConfig, NodeConfig
from winkube.kubeadm.flags import check_extra_args, check_feature_gates, check_kubelet_fields, known_fields, known_flags
from winkube.tables.kubernetes import at_least
from winkube.tables.refresh_kubernetes_flags import fields_of, flags_of, gates_of
from winkube.tables.releases import SELF_MANAGED_MINORS, SELF_MANAGED_RELEASES

from tests.binaries import binary

CONTROL_PLANE = ("api_server", "controller_manager", "scheduler")


def text(found: Mistakes) -> str:
    """The one mistake."""
    assert len(found) == 1, [one.text() for one in found]
    return found[0].text("winkube:")


def cluster(minor: str) -> ClusterConfig:
    return ClusterConfig(cluster_name="c", kubernetes_version=minor, endpoint="api.example.com:6443")


@pytest.mark.proof
@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
@pytest.mark.parametrize("component", CONTROL_PLANE)
def test_the_table_has_exactly_the_flags_that_the_program_has(component: str, minor: str):
    program = binary(flags.PROGRAMS[component], minor=minor)
    assert list(known_flags(component, minor)) == flags_of(program)


@pytest.mark.proof
@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
def test_the_flags_that_we_write_are_those_of_the_programs(minor: str):
    made = cluster(minor)
    written = {
        "api_server": api_server.api_server_arguments(made),
        "controller_manager": kubeadm_documents.controller_manager_arguments(made),
        "scheduler": kubeadm_documents.scheduler_arguments(made),
    }
    for component, ours in written.items():
        assert set(ours) <= set(flags_of(binary(flags.PROGRAMS[component], minor=minor))), component


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
def test_the_table_is_of_the_patch_that_is_installed(minor: str):
    assert flags._table()[minor]["version"] == SELF_MANAGED_RELEASES[minor].patch


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
@pytest.mark.parametrize("component", flags.REMOVED)
def test_a_removed_flag_is_in_no_table_and_refused_with_its_reason(component: str, minor: str):
    for flag, removal in flags.REMOVED[component].items():
        assert (flag in known_flags(component, minor)) == (not at_least(minor, removal.since))
        if not at_least(minor, removal.since):
            assert not check_extra_args(component, minor, {flag: "x"})
            continue
        found = text(check_extra_args(component, minor, {flag: "x"}, ("extra_arguments", component)))
        assert found.startswith(
            f"winkube:extra_arguments.{component}.{flag}: Kubernetes {removal.since} removed --{flag} of "
            f"{flags.PROGRAMS[component]}: "
        )
        assert removal.instead in found
        assert found.endswith("[WK-KAD-010]")


@pytest.mark.parametrize("component", flags.OWNED)
def test_a_flag_that_a_setting_writes_is_refused_with_the_setting(component: str):
    for flag, setting in flags.OWNED[component].items():
        found = text(check_extra_args(component, "1.36", {flag: "x"}))
        assert f"set {setting}, and remove the flag" in found
        assert found.endswith("[WK-KAD-012]")


@pytest.mark.parametrize("component", flags.KUBEADM_OWNED)
def test_a_flag_that_holds_node_and_cluster_together_is_refused(component: str):
    for flag in flags.KUBEADM_OWNED[component]:
        assert "connects the node to its cluster" in text(check_extra_args(component, "1.36", {flag: "x"}))


@pytest.mark.parametrize("component", [*CONTROL_PLANE, "kubelet"])
def test_owned_flags_are_flags_that_there_are(component: str):
    known = set(known_flags(component, "1.36"))
    assert {*flags.OWNED[component], *flags.KUBEADM_OWNED[component]} <= known


def test_an_unknown_flag_is_refused_with_the_nearest():
    found = text(check_extra_args("api_server", "1.36", {"max-request-inflight": "800"}))
    assert 'kube-apiserver 1.36 has no flag --max-request-inflight, got "max-request-inflight"' in found
    assert 'write "max-requests-inflight"' in found
    assert found.endswith("[WK-KAD-011]")


@pytest.mark.parametrize("flag", ["--v", "-v", "V", "max_requests_inflight", "a=b"])
def test_a_flag_with_dashes_or_in_another_spelling_is_refused(flag: str):
    assert "[WK-KAD-013]" in text(check_extra_args("api_server", "1.36", {flag: "1"}))


def test_a_flag_of_the_other_system_is_refused():
    found = text(check_extra_args("kubelet", "1.36", {"cgroup-driver": "systemd"}, windows=True))
    assert "exists only on Linux, and these nodes run Windows" in found
    assert "[WK-KAD-019]" in found


def test_flags_of_an_unknown_minor_are_left_to_the_check_of_the_minor():
    assert not check_extra_args("api_server", "1.99", {"x": "y"})
    assert not check_feature_gates("1.99", {"X": True})
    assert not check_kubelet_fields("1.99", {"x": 1})


GATES = [
    ("1.36", "WinDSR", False, "WK-KAD-015", "the feature is stable in Kubernetes 1.36 and its gate is locked to true"),
    ("1.36", "NodeLogQuery", False, "WK-KAD-015", "remove it"),
    ("1.36", "NodeLogQeury", True, "WK-KAD-014", 'write "NodeLogQuery"'),
    ("1.37", "AnyVolumeDataSource", True, "WK-KAD-014", '"1.35" or "1.36" has it'),
    ("1.35", "HyperVContainer", True, "WK-KAD-014", "an unknown gate does not start"),
]


@pytest.mark.parametrize(("minor", "gate", "on", "code", "words"), GATES)
def test_a_wrong_feature_gate_is_refused(minor: str, gate: str, on: bool, code: str, words: str):
    found = text(check_feature_gates(minor, {gate: on}))
    assert words in found
    assert found.endswith(f"[{code}]")


def test_a_locked_gate_with_its_own_value_and_an_open_one_are_accepted():
    assert not check_feature_gates("1.36", {"WinDSR": True, "WindowsCPUAndMemoryAffinity": True})
    assert not check_feature_gates("1.35", {"NodeLogQuery": True})


FIELDS: list[tuple[dict[str, Any], bool, str, str]] = [
    ({"maxpods": 1}, False, "WK-KAD-016", 'write "maxPods"'),
    ({"maxPods": 1}, False, "WK-KAD-017", "set max_pods"),
    ({"authentication": {}}, False, "WK-KAD-017", "connects the node to its cluster"),
    ({"kubeAPIQPS": "50"}, False, "WK-KAD-018", "write a whole number"),
    ({"kubeAPIQPS": True}, False, "WK-KAD-018", "write a whole number"),
    ({"allowedUnsafeSysctls": "net.*"}, False, "WK-KAD-018", "write a list"),
    ({"nodeStatusUpdateFrequency": 10}, False, "WK-KAD-018", "write a text"),
    ({"enableServer": "yes"}, False, "WK-KAD-018", "write true or false"),
    ({"evictionSoft": []}, False, "WK-KAD-018", "write an object"),
    ({"seccompDefault": True}, True, "WK-KAD-019", "these nodes run Windows"),
]


@pytest.mark.parametrize(("fields", "windows", "code", "words"), FIELDS)
def test_a_wrong_kubelet_field_is_refused(fields: dict[str, Any], windows: bool, code: str, words: str):
    found = text(check_kubelet_fields("1.36", fields, windows=windows))
    assert words in found
    assert found.endswith(f"[{code}]")


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
def test_every_field_that_we_write_is_known_to_the_minor(minor: str):
    made = cluster(minor)
    linux, windows = kubelet.linux_kubelet_configuration(made), kubelet.windows_kubelet_configuration(made)
    assert {*linux, *windows} - {"apiVersion", "kind"} <= set(known_fields(minor))
    assert set(flags.FIELDS_OWNED) | set(flags.FIELDS_FIXED) | set(flags.FIELDS_OF_LINUX) <= set(known_fields(minor))


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
def test_log_query_is_written_where_its_gate_is_on(minor: str):
    """A kubelet that is given the field and has the gate off does not start."""
    on = flags.known_gates(minor)["NodeLogQuery"][1]
    assert ("enableSystemLogQuery" in kubelet.windows_kubelet_configuration(cluster(minor))) == on


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
def test_every_flag_that_kubelets_are_given_is_one_of_the_minor(minor: str):
    node = NodeConfig(labels={"a": "b"}, ecr_credentials=True)
    written = {*kubelet.linux_kubelet_arguments(node), *kubelet.windows_kubelet_arguments(node)}
    assert written <= set(known_flags("kubelet", minor))


def test_gates_are_read_from_go_source_as_of_the_minor():
    source = (
        '\tAlpha featuregate.Feature = "AlphaGate"\n'
        "\tAlpha: {\n"
        '\t\t{Version: version.MustParse("1.34"), Default: false, PreRelease: featuregate.Alpha},\n'
        '\t\t{Version: version.MustParse("1.36"), Default: true, LockToDefault: true, PreRelease: featuregate.GA},\n'
        "\t},\n"
    )
    assert gates_of(source, "1.33") == {}
    assert gates_of(source, "1.35") == {"AlphaGate": ["Alpha", False, False]}
    assert gates_of(source, "1.36") == {"AlphaGate": ["GA", True, True]}


def test_fields_are_read_from_go_source():
    source = (
        'type KubeletConfiguration struct {\n\tA *int32 `json:"a,omitempty"`\n\tB map[string]string `json:"b"`\n}\n'
    )
    assert fields_of(source) == {"a": "integer", "b": "object"}
