"""Each rule of the add-ons, provoked."""

import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

import pytest
from winkube.addons.addon_rules import check_addons
from winkube.addons.addon_table import ADDONS, ELSEWHERE, Slot
from winkube.addons.legacy import LEFT_OVERS, check_legacy_object


@dataclass
class Choice:
    """A choice as settings or arguments hold it."""

    name: str
    version: str | None = None
    windows: bool | None = None
    values: dict[str, Any] = field(default_factory=dict)
    identity: str = "irsa"
    role_arn: str | None = None
    additional_policies: tuple[Any, ...] = ()


def found(*choices: Choice, windows: bool = True, kubernetes: str = "1.36", **more):
    return check_addons(choices, windows, kubernetes, **more)


def one(*choices: Choice, **more):
    (mistake,) = found(*choices, **more)
    return mistake


POLICY = {"Effect": "Allow", "Action": "s3:ListBucket", "Resource": "arn:aws:s3:::b"}


@pytest.mark.parametrize("windows", [True, False])
def test_the_whole_table_can_be_chosen(windows: bool):
    choices = [Choice(name, additional_policies=(POLICY,) if ADDONS[name].policy_for else ()) for name in ADDONS]
    assert found(*choices, windows=windows, windows_releases=("2022", "2025")) == []


def test_an_unknown_addon_is_named_with_the_nearest():
    mistake = one(Choice("aws-ebs-csi-drivers"))
    assert (mistake.rule.code, mistake.path) == ("WK-ADD-001", ("addons", 0, "name"))
    assert "metrics-server" in mistake.message
    assert mistake.remedy == 'write "aws-ebs-csi-driver"'
    assert "install the chart yourself" in one(Choice("zzz")).remedy


@pytest.mark.parametrize("name", ELSEWHERE)
def test_an_addon_that_lives_elsewhere_is_pointed_to(name: str):
    mistake = one(Choice(name))
    assert (mistake.rule.code, mistake.remedy) == ("WK-ADD-001", ELSEWHERE[name])


def test_an_addon_is_chosen_once():
    mistake = one(Choice("metrics-server"), Choice("metrics-server"))
    assert (mistake.rule.code, mistake.path) == ("WK-ADD-002", ("addons", 1, "name"))
    assert "[0]" in mistake.message


def test_a_windows_part_needs_windows_nodes():
    mistake = one(Choice("aws-ebs-csi-driver", windows=True), windows=False)
    assert (mistake.rule.code, mistake.path) == ("WK-ADD-003", ("addons", 0, "windows"))
    assert mistake.remedy == "add a Windows node group, or remove windows"


@pytest.mark.parametrize("name", [row.name for row in ADDONS.values() if not row.windows])
def test_linux_only_addons_have_no_windows_part(name: str):
    """EFS, S3, the agents and the controllers: the message says what to use instead or why it is not needed."""
    choice = Choice(name, windows=True, additional_policies=(POLICY,) if ADDONS[name].policy_for else ())
    mistake = next(it for it in found(choice) if it.rule.code == "WK-ADD-004")
    assert mistake.path == ("addons", 0, "windows")
    assert ADDONS[name].not_on_windows in mistake.message
    assert mistake.remedy == "remove windows"


def test_pod_identity_does_not_reach_windows_pods():
    choices = (Choice("eks-pod-identity-agent"), Choice("amazon-cloudwatch-observability", identity="pod_identity"))
    mistake = one(*choices)
    assert (mistake.rule.code, mistake.path) == ("WK-ADD-005", ("addons", 1, "identity"))
    assert mistake.remedy == 'set identity to "irsa"'
    assert found(*choices, windows=False) == []


def test_pod_identity_serves_controllers_on_linux_where_its_agent_runs():
    choice = Choice("aws-ebs-csi-driver", identity="pod_identity")
    assert found(choice, Choice("eks-pod-identity-agent")) == []
    mistake = one(choice)
    assert (mistake.rule.code, mistake.path) == ("WK-ADD-012", ("addons", 0, "identity"))
    assert "eks-pod-identity-agent" in mistake.remedy


@pytest.mark.parametrize(
    ("name", "version", "form"),
    [
        ("aws-ebs-csi-driver", "1.66.0", "v1.32.0-eksbuild.1"),
        ("amazon-cloudwatch-observability", "latest", "v1.5.0-eksbuild.1"),
        ("csi-driver-smb", "1.20", "1.20.3"),
        ("cert-manager", ">=1.21", "v1.21.1"),
    ],
)
def test_a_version_is_written_in_full(name: str, version: str, form: str):
    mistake = one(Choice(name, version=version))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-ADD-006", ("addons", 0, "version"), version)
    assert form in mistake.remedy


def test_cloudwatch_needs_1_5_0_for_windows():
    name = "amazon-cloudwatch-observability"
    mistake = one(Choice(name, version="v1.4.0-eksbuild.1"))
    assert (mistake.rule.code, mistake.path) == ("WK-ADD-007", ("addons", 0, "version"))
    assert "from 1.5.0 on" in mistake.message
    assert mistake.remedy == 'set version to "v1.5.0-eksbuild.1" or newer, or leave it out'
    assert found(Choice(name, version="v1.5.0-eksbuild.1")) == []
    assert found(Choice(name, version="v1.10.0-eksbuild.1")) == []
    assert found(Choice(name, version="v1.4.0-eksbuild.1"), windows=False) == []
    assert found(Choice(name, version="v1.4.0-eksbuild.1", windows=False)) == []


def test_server_2025_needs_a_newer_ebs_driver():
    choice = Choice("aws-ebs-csi-driver", version="v1.55.0-eksbuild.1")
    mistake = one(choice, windows_releases=("2022", "2025"))
    assert mistake.rule.code == "WK-ADD-007"
    assert "Windows Server 2025 from 1.56.0 on" in mistake.message
    assert found(choice, windows_releases=("2022",)) == []


def test_a_chart_of_another_major_has_other_values():
    mistake = one(Choice("aws-load-balancer-controller", version="1.13.0"))
    assert (mistake.rule.code, mistake.path) == ("WK-ADD-008", ("addons", 0, "version"))
    assert "version 3 of its chart" in mistake.message
    assert "3.5.0" in mistake.remedy
    assert found(Choice("aws-load-balancer-controller", version="3.6.1")) == []


@pytest.mark.parametrize(
    ("name", "values", "path"),
    [
        ("metrics-server", {"nodeSelector": {"kubernetes.io/os": "windows"}}, ("nodeSelector", "kubernetes.io/os")),
        ("metrics-server", {"nodeSelector": {"kubernetes.io/os": None}}, ("nodeSelector", "kubernetes.io/os")),
        ("metrics-server", {"nodeSelector": None}, ("nodeSelector",)),
        ("cert-manager", {"webhook": None}, ("webhook",)),
        ("amazon-cloudwatch-observability", {"containerLogs": {"fluentBit": {"nodeSelector": None}}},
         ("containerLogs", "fluentBit", "nodeSelector")),
        ("karpenter", {"nodeSelector": {"node.kubernetes.io/windows-build": "10.0.20348"}},
         ("nodeSelector", "node.kubernetes.io/windows-build")),
        ("cluster-autoscaler", {"affinity": {"nodeAffinity": {"x": [{"matchExpressions": [
            {"key": "kubernetes.io/os", "operator": "In", "values": ["windows"]}]}]}}},
         ("affinity", "nodeAffinity", "x", 0, "matchExpressions", 0)),
        ("cluster-autoscaler", {"affinity": {"nodeAffinity": {"x": [{"matchExpressions": [
            {"key": "kubernetes.io/os", "operator": "NotIn", "values": ["linux"]}]}]}}},
         ("affinity", "nodeAffinity", "x", 0, "matchExpressions", 0)),
    ],
)  # fmt: skip
def test_values_do_not_send_a_linux_part_to_windows(name: str, values, path):
    mistake = one(Choice(name, values=values))
    assert mistake.rule.code == "WK-ADD-009"
    assert mistake.path == ("addons", 0, "values", *path)
    assert mistake.remedy


@pytest.mark.parametrize(
    "values",
    [
        {"nodeSelector": {"kubernetes.io/os": "linux", "team": "x"}},
        {"affinity": {"nodeAffinity": {"x": [{"matchExpressions": [
            {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}]}]}}},
        {"tolerations": [{"key": "os", "value": "windows", "effect": "NoSchedule"}]},
    ],
)  # fmt: skip
def test_values_that_stay_on_linux_are_the_users_own(values):
    assert found(Choice("metrics-server", values=values)) == []


@pytest.mark.parametrize("system", ["linux", "windows"])
@pytest.mark.parametrize(
    ("name", "keys"),
    [("aws-ebs-csi-driver", "node"), ("aws-ebs-csi-driver", "controller"), ("csi-driver-smb", "node")],
)
def test_selectors_of_both_systems_name_neither(name: str, keys: str, system: str):
    """The EBS chart writes node.nodeSelector into its Linux and its Windows pods alike."""
    mistake = one(Choice(name, values={keys: {"nodeSelector": {"kubernetes.io/os": system}}}))
    assert mistake.rule.code == "WK-ADD-010"
    assert mistake.path == ("addons", 0, "values", keys, "nodeSelector", "kubernetes.io/os")
    assert mistake.remedy == "remove the label"


def test_the_windows_part_is_switched_in_one_place():
    mistake = one(Choice("aws-ebs-csi-driver", values={"node": {"enableWindows": False}}))
    assert mistake.rule.code == "WK-ADD-011"
    assert mistake.path == ("addons", 0, "values", "node", "enableWindows")
    assert "set windows instead" in mistake.remedy


def test_gmsa_needs_certificates():
    mistake = one(Choice("windows-gmsa"))
    assert (mistake.rule.code, mistake.path) == ("WK-ADD-012", ("addons", 0, "name"))
    assert "certificates.certManager.enabled" in mistake.remedy
    assert found(Choice("windows-gmsa"), Choice("cert-manager")) == []
    own = {"certificates": {"certManager": {"enabled": False}, "caBundle": "…"}}
    assert found(Choice("windows-gmsa", values=own)) == []


@pytest.mark.parametrize(
    ("name", "field"), [("aws-load-balancer-controller", "vpc_id"), ("karpenter", "karpenter_node_role_arns")]
)
def test_what_an_addon_cannot_find_out_is_asked_for(name: str, field: str):
    mistake = one(Choice(name), filled_slots=())
    assert (mistake.rule.code, mistake.remedy) == ("WK-ADD-013", f"set {field}")
    assert found(Choice(name), filled_slots=tuple(Slot)) == []


def test_the_s3_driver_needs_a_policy_for_its_buckets():
    mistake = one(Choice("aws-mountpoint-s3-csi-driver"))
    assert (mistake.rule.code, mistake.path) == ("WK-ADD-014", ("addons", 0, "additional_policies"))
    assert "mounted_buckets" in mistake.message
    assert found(Choice("aws-mountpoint-s3-csi-driver", role_arn="arn:aws:iam::111122223333:role/r")) == []


@pytest.mark.parametrize("more", [{"role_arn": "arn:aws:iam::111122223333:role/r"}, {"additional_policies": (POLICY,)}])
def test_an_addon_that_calls_nobody_gets_no_role(more):
    mistake = one(Choice("metrics-server", **more))
    assert (mistake.rule.code, mistake.path[-1]) == ("WK-ADD-015", next(iter(more)))
    assert mistake.remedy == f"remove {next(iter(more))}"


def test_a_role_of_your_own_carries_its_own_policies():
    role = "arn:aws:iam::111122223333:role/r"
    mistake = one(Choice("aws-ebs-csi-driver", role_arn=role, additional_policies=(POLICY,)))
    assert (mistake.rule.code, mistake.path[-1]) == ("WK-ADD-016", "additional_policies")


def test_the_role_is_not_given_by_a_value():
    annotations = {"eks.amazonaws.com/role-arn": "arn:aws:iam::111122223333:role/r"}
    mistake = one(Choice("karpenter", values={"serviceAccount": {"annotations": annotations}}))
    assert (mistake.rule.code, mistake.remedy) == ("WK-ADD-017", "set role_arn to the ARN")


def test_an_autoscaler_without_a_release_of_the_minor_is_named():
    mistake = one(Choice("cluster-autoscaler"), kubernetes="1.40")
    assert (mistake.rule.code, mistake.path[2:]) == ("WK-ADD-018", ("values", "image", "tag"))
    assert "v1.40.0" in mistake.remedy
    assert found(Choice("cluster-autoscaler", values={"image": {"tag": "v1.40.2"}}), kubernetes="1.40") == []


def test_the_way_to_a_role_is_known():
    mistake = one(Choice("aws-ebs-csi-driver", identity="IRSA"))
    assert (mistake.rule.code, mistake.path, mistake.remedy) == (
        "WK-ADD-022", ("addons", 0, "identity"), 'write "irsa"')  # fmt: skip


def test_all_mistakes_are_told_at_once():
    choices = (
        Choice("coredns"),
        Choice("windows-gmsa", windows=True),
        Choice("metrics-server", values={"nodeSelector": None}, version="1"),
    )
    codes = [it.rule.code for it in found(*choices)]
    assert codes == ["WK-ADD-001", "WK-ADD-004", "WK-ADD-012", "WK-ADD-006", "WK-ADD-009"]


@pytest.mark.parametrize(("kind", "name"), LEFT_OVERS)
def test_left_overs_of_the_legacy_mode_are_found(kind: str, name: str):
    (mistake,) = check_legacy_object(kind, name, "kube-system")
    assert mistake.rule.code == "WK-ADD-070"
    assert (LEFT_OVERS[kind, name] in mistake.message, mistake.got) == (True, name)
    assert "legacy-windows-controllers.md" in mistake.remedy


def test_what_is_still_needed_is_no_left_over():
    assert check_legacy_object("ClusterRoleBinding", "eks:kube-proxy-windows") == []
    assert check_legacy_object("Deployment", "vpc-resource-controller", "team") == []


PURE = (
    *("addons.addon_policies", "addons.addon_rules", "addons.addon_table", "addons.chart_values", "addons.identity"),
    *("addons.legacy", "addons.load_balancer_rules", "addons.storage_rules", "eks.node_classes"),
)


def test_settings_and_policies_can_judge_without_an_sdk():
    """The pure modules import neither Pulumi nor a provider's SDK."""
    names = ", ".join(f"winkube.{name}" for name in PURE)
    code = f"import sys, {names}; print([m for m in sys.modules if m.startswith('pulumi')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
