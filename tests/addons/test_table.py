"""The table of add-ons: each row complete, and its values in the right place."""

import re

import pytest
from winkube.addons import addon_policies
from winkube.addons.addon_rules import check_values
from winkube.addons.addon_table import ADDONS, ELSEWHERE, OS_LABEL, Slot
from winkube.addons.chart_values import MISSING, at, filled, merged, plain_slots, rendered_values, walked
from winkube.roles.policy_documents import managed_policy_arn
from winkube.roles.role_rules import check_external_policies
from winkube.tables.kubernetes import AUTOSCALER_IMAGES, EKS_KNOWN_MINORS
from winkube.tables.windows import WINDOWS_RELEASES

ROWS = ADDONS.values()
SLOTS = plain_slots("1.36", windows=True, region="eu-central-1") | {
    Slot.CLUSTER_NAME: "dev",
    Slot.VPC_ID: "vpc-1",
    Slot.QUEUE: "dev-queue",
}
ROLE = "arn:aws:iam::111122223333:role/r"


def rendered(name: str, **slots):
    return rendered_values(ADDONS[name], {}, SLOTS | {Slot[key.upper()]: value for key, value in slots.items()}, ROLE)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_says_whether_it_runs_on_windows_and_why_not(row):
    assert row.windows != bool(row.not_on_windows)
    assert row.source.startswith("https://")
    if row.windows:
        assert re.fullmatch(r"\d+\.\d+\.\d+", row.windows_since)
        assert set(row.releases_since) <= set(WINDOWS_RELEASES)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_role_has_a_service_account_and_something_to_allow(row):
    """A chart also says where the role's annotation goes; EKS add-ons take the role as an argument."""
    rights = bool(row.managed_policies or row.document or row.policy_for)
    assert rights == (row.service_account is not None)
    assert bool(row.role_annotations) == (row.chart is not None and row.service_account is not None)
    if row.document:
        assert callable(getattr(addon_policies, row.document))
    arns = [managed_policy_arn(policy) for policy in (*row.managed_policies, *row.windows_node_policies)]
    assert not check_external_policies(list(dict.fromkeys(arns)), partition="aws")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_linux_part_of_a_chart_stays_on_linux(row):
    """The values that we write hold the label at each selector of the row, for charts that do not do it themselves."""
    if row.chart is not None:
        values = rendered(row.name)
        assert [at(values, (*keys, OS_LABEL)) for keys in row.linux_selectors] == ["linux"] * len(row.linux_selectors)
        assert row.linux_selectors or row.closed_selectors


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_our_own_values_pass_our_own_rules(row):
    """But for the Windows switch, which only we may set."""
    codes = {mistake.rule.code for mistake in check_values(row, rendered(row.name))}
    assert codes <= {"WK-ADD-011", "WK-ADD-017"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_slot_is_left_in_rendered_values(row):
    for empty in (SLOTS, {}):
        for _, inner in walked(rendered_values(row, {}, empty, ROLE)):
            leaves = inner.values() if isinstance(inner, dict) else inner
            assert not [leaf for leaf in leaves if isinstance(leaf, Slot) or leaf is MISSING]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_what_a_row_refers_to_is_in_the_table(row):
    assert {*row.needs, *row.after} <= set(ADDONS)
    assert row.name not in ELSEWHERE


@pytest.mark.parametrize("windows", [True, False])
def test_windows_parts_are_switched_as_the_facts_say(windows: bool):
    """EBS takes a boolean at node.enableWindows, SMB at windows.enabled."""
    assert rendered("aws-ebs-csi-driver", windows=windows) == {"node": {"enableWindows": windows}}
    smb = rendered("csi-driver-smb", windows=windows)["windows"]
    assert smb["enabled"] is windows
    assert smb["useHostProcessContainers"] is True


def test_the_smb_driver_reaches_tainted_windows_nodes():
    """Its chart tolerates node.kubernetes.io/os, not the os=windows that EKS nodes usually carry."""
    assert rendered("csi-driver-smb")["windows"]["tolerations"] == [{"operator": "Exists"}]


def test_the_balancer_controller_knows_what_it_cannot_look_up():
    values = rendered("aws-load-balancer-controller")
    assert (values["clusterName"], values["region"], values["vpcId"]) == ("dev", "eu-central-1", "vpc-1")
    assert values["defaultTargetType"] == "ip"
    assert values["serviceAccount"]["annotations"] == {"eks.amazonaws.com/role-arn": ROLE}
    assert values["serviceAccount"]["name"] == ADDONS["aws-load-balancer-controller"].service_account


def test_the_autoscaler_is_of_the_clusters_minor():
    for minor, image in AUTOSCALER_IMAGES.items():
        slots = plain_slots(minor, windows=True, region="eu-central-1")
        assert rendered_values(ADDONS["cluster-autoscaler"], {}, slots)["image"]["tag"] == image
        assert image.startswith(f"v{minor}.")
    assert set(EKS_KNOWN_MINORS) <= set(AUTOSCALER_IMAGES)


def test_the_service_accounts_of_charts_are_named_as_their_roles_trust():
    names = {
        "cluster-autoscaler": ("rbac", "serviceAccount", "name"),
        "karpenter": ("serviceAccount", "name"),
        "aws-load-balancer-controller": ("serviceAccount", "name"),
    }
    for name, keys in names.items():
        assert at(rendered(name), keys) == ADDONS[name].service_account


def test_the_gmsa_chart_makes_no_credential_of_its_own():
    assert rendered("windows-gmsa")["credential"] == {"enabled": False}


def test_an_empty_slot_leaves_nothing_behind():
    assert "interruptionQueue" not in rendered_values(ADDONS["karpenter"], {}, {Slot.CLUSTER_NAME: "dev"})["settings"]
    assert filled({"a": {"b": Slot.QUEUE}, "c": {}}, {}) == {"c": {}}


def test_user_values_lie_upon_ours_and_leave_the_rest():
    values = rendered_values(ADDONS["metrics-server"], {"replicas": 2, "nodeSelector": {"team": "x"}}, SLOTS)
    assert values == {"replicas": 2, "nodeSelector": {OS_LABEL: "linux", "team": "x"}}


def test_merging_changes_neither_side():
    base, over = {"a": {"b": 1}}, {"a": {"c": 2}}
    assert merged(base, over) == {"a": {"b": 1, "c": 2}}
    assert (base, over) == ({"a": {"b": 1}}, {"a": {"c": 2}})
