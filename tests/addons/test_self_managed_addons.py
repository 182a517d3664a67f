"""Add-ons of self-managed clusters, logs of Windows nodes, and the smoke test."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from winkube.addons import self_managed_addons
from winkube.addons.chart_values import at
from winkube.addons.fluent_bit import log_manifests
from winkube.addons.sample_workloads import (
    SampleWorkloads,
    SampleWorkloadsArgs,
    check_sample_workloads,
    sample_manifests,
)
from winkube.addons.self_managed_addons import (
    SelfManagedAddon,
    SelfManagedAddons,
    SelfManagedAddonsArgs,
    check_self_managed_addons,
)
from winkube.addons.self_managed_table import (
    ELSEWHERE,
    LIFECYCLE_EVENTS,
    SELF_MANAGED_ADDONS,
    TERMINATION_HANDLER,
    WEBHOOK,
    queue_policy,
    termination_handler,
)
from winkube.addons.windows_logs import CHANNELS, WindowsLogs, WindowsLogsArgs, check_windows_logs
from winkube.preview.model import Plan

from tests.golden import NEWEST, OLDEST

from ..kubernetes.conftest import said

TAGS = {"team": "platform"}
ISSUER = "https://oidc.prod.example.com"
PROVIDER = "arn:aws:iam::111122223333:oidc-provider/oidc.prod.example.com"
WITH_ROLE = [name for name, row in SELF_MANAGED_ADDONS.items() if row.service_account]
ALL = tuple(SelfManagedAddon(name=name) for name in SELF_MANAGED_ADDONS)
ARGS = SelfManagedAddonsArgs(
    cluster_name="prod", kubernetes_version="1.36", region="eu-central-1", addons=ALL, vpc_id="vpc-1",
    oidc_provider_arn=PROVIDER, oidc_issuer=ISSUER, tags=TAGS,
)  # fmt: skip


def releases(plan: Plan) -> dict[str, Any]:
    return {it.inputs["name"]: it for it in plan.resources if it.type == "kubernetes:helm.sh/v3:Release"}


@pytest.mark.parametrize("preview", [True, False])
def test_every_addon_is_a_chart_at_a_fixed_version(record: Callable[..., Plan], preview: bool):
    plan = record(lambda: SelfManagedAddons("addons", ARGS), preview=preview)
    made = releases(plan)
    assert set(made) == set(SELF_MANAGED_ADDONS)
    for name, release in made.items():
        assert release.inputs["version"] == SELF_MANAGED_ADDONS[name].chart.version
    component = next(it for it in plan.resources if it.name == "addons")
    assert set(component.outputs["roleArns"]) == set(WITH_ROLE)


def test_linux_parts_are_kept_on_linux(record: Callable[..., Plan]):
    made = releases(record(lambda: SelfManagedAddons("addons", ARGS), preview=False))
    for name, release in made.items():
        for keys in SELF_MANAGED_ADDONS[name].linux_selectors:
            assert at(release.inputs["values"], keys) == {"kubernetes.io/os": "linux"}


def test_roles_come_before_those_who_take_them(record: Callable[..., Plan]):
    """And the webhook that gives pods their tokens before both."""
    plan = record(lambda: SelfManagedAddons("addons", ARGS), preview=False)
    made = releases(plan)
    webhook, manager = made[WEBHOOK].urn, made["cert-manager"].urn
    assert manager in made[WEBHOOK].options.dependencies
    for name in WITH_ROLE:
        assert webhook in made[name].options.dependencies
        assert any("IrsaRole" in urn for urn in made[name].options.dependencies)


def test_storage_reaches_windows_disks_without_a_proxy(record: Callable[..., Plan]):
    made = releases(record(lambda: SelfManagedAddons("addons", ARGS), preview=False))
    driver = made["aws-ebs-csi-driver"].inputs["values"]
    assert driver["node"] == {"enableWindows": True, "windowsHostProcess": True}
    assert driver["controller"]["serviceAccount"]["annotations"]["eks.amazonaws.com/role-arn"]
    balancers = made["aws-load-balancer-controller"].inputs["values"]
    assert (balancers["defaultTargetType"], balancers["vpcId"]) == ("instance", "vpc-1")


def test_the_termination_handler_hears_by_its_queue(record: Callable[..., Plan]):
    plan = record(lambda: SelfManagedAddons("addons", ARGS), preview=False)
    values = releases(plan)[TERMINATION_HANDLER].inputs["values"]
    assert values["enableSqsTerminationDraining"] is True
    assert values["useProviderId"] is True
    assert values["managedTag"] == "kubernetes.io/cluster/prod"
    assert values["queueURL"]
    queue = next(it for it in plan.resources if it.type == "aws:sqs/queue:Queue")
    assert queue.inputs["sqsManagedSseEnabled"] is True
    assert queue.inputs["tags"].items() >= TAGS.items()
    rules = [it for it in plan.resources if it.type == "aws:cloudwatch/eventRule:EventRule"]
    assert len(rules) == len(LIFECYCLE_EVENTS)
    assert all(json.loads(it.inputs["eventPattern"])["source"] for it in rules)


def test_its_rights_are_for_this_cluster_s_queue_and_groups():
    statements = {it["Sid"]: it for it in termination_handler("arn:q", "prod")["Statement"]}
    assert statements["HearOfEnds"]["Resource"] == ["arn:q"]
    condition = statements["FinishEnds"]["Condition"]["StringEquals"]
    assert condition == {"aws:ResourceTag/kubernetes.io/cluster/prod": "owned"}
    (statement,) = queue_policy("arn:q", ["arn:b", "arn:a"])["Statement"]
    assert statement["Condition"] == {"ArnEquals": {"aws:SourceArn": ["arn:a", "arn:b"]}}


@pytest.mark.parametrize(
    ("addons", "change", "code", "path", "words"),
    [
        (["metrics-sever"], {}, "WK-K8S-044", ("addons", 0, "name"), 'write "metrics-server"'),
        (["karpenter"], {}, "WK-K8S-044", ("addons", 0, "name"), "cluster-autoscaler"),
        (["metrics-server", "metrics-server"], {}, "WK-K8S-044", ("addons", 1, "name"), "merge"),
        ([WEBHOOK], {}, "WK-K8S-045", ("addons", 0, "name"), 'add "cert-manager"'),
        (["cluster-autoscaler"], {}, "WK-K8S-045", ("addons", 0, "name"), f'add "{WEBHOOK}"'),
        (["cert-manager", WEBHOOK, "aws-load-balancer-controller"], {"vpc_id": None}, "WK-K8S-045",
         ("addons", 2, "name"), "vpc_id"),
        (["prometheus-windows-exporter"], {"windows": False}, "WK-K8S-045", ("addons", 0, "name"), "Windows nodes"),
        (["cert-manager", WEBHOOK, "aws-ebs-csi-driver"], {"oidc_issuer": None}, "WK-ADD-021", ("oidc_issuer",),
         "issuer"),
        (["metrics-server"], {"kubernetes_version": "1.30"}, "WK-K8S-031", ("kubernetes_version",), OLDEST),
    ],
)  # fmt: skip
def test_what_addons_lack_is_said(addons: list[str], change: dict[str, Any], code: str, path: Any, words: str):
    args = replace(ARGS, addons=[SelfManagedAddon(name=name) for name in addons], **change)
    mistake = said(check_self_managed_addons(args), code)
    assert mistake.path == path
    assert words in mistake.text()


def test_a_minor_without_a_release_of_the_autoscaler_needs_its_tag(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(self_managed_addons, "AUTOSCALER_IMAGES", {})
    addons = [SelfManagedAddon(name=name) for name in ("cert-manager", WEBHOOK, "cluster-autoscaler")]
    mistake = said(check_self_managed_addons(replace(ARGS, addons=addons, kubernetes_version=NEWEST)), "WK-K8S-045")
    assert mistake.path == ("addons", 2, "values", "image", "tag")
    assert f"v{NEWEST}.0" in mistake.text()


@pytest.mark.parametrize(
    ("choice", "code", "path"),
    [
        (SelfManagedAddon(name="metrics-server", version="4.0.0"), "WK-K8S-046", ("addons", 0, "version")),
        (SelfManagedAddon(name="metrics-server", version="3.13"), "WK-K8S-046", ("addons", 0, "version")),
        (SelfManagedAddon(name="metrics-server", role_arn="arn:aws:iam::1:role/x"), "WK-K8S-044",
         ("addons", 0, "role_arn")),
        (SelfManagedAddon(name="metrics-server", values={"nodeSelector": {"kubernetes.io/os": "windows"}}),
         "WK-ADD-009", ("addons", 0, "values", "nodeSelector", "kubernetes.io/os")),
    ],
)  # fmt: skip
def test_a_choice_that_cannot_be_is_refused(choice: SelfManagedAddon, code: str, path: Any):
    assert said(check_self_managed_addons(replace(ARGS, addons=[choice])), code).path == path


def test_the_places_of_others_are_not_in_the_table():
    assert not ELSEWHERE.keys() & SELF_MANAGED_ADDONS.keys()


def test_logs_of_windows_nodes_come_from_every_node(record: Callable[..., Plan], validated: Callable[..., None]):
    """The event logs that each Windows has; the channel EKS is not among them."""
    manifests = log_manifests("kube-system", "eu-central-1", "/winkube/prod/windows", "logs:v1", CHANNELS)
    for manifest in manifests.values():
        validated(manifest)
    text = manifests["configuration"]["data"]["fluent-bit.conf"]
    assert "Channels            System, Application" in text
    assert "EKS" not in text
    args = WindowsLogsArgs(cluster_name="prod", region="eu-central-1", tags=TAGS)
    plan = record(lambda: WindowsLogs("logs", args), preview=False)
    group = next(it for it in plan.resources if it.type.endswith(":LogGroup"))
    assert group.inputs["name"] == "/winkube/prod/windows"
    assert said(check_windows_logs(replace(args, log_retention_days=91)), "WK-EKS-007").path == ("log_retention_days",)
    assert said(check_windows_logs(replace(args, image="x")), "WK-K8S-029").path == ("image",)


def test_the_smoke_test_asks_every_release_from_linux(record: Callable[..., Plan], validated: Callable[..., None]):
    manifests = sample_manifests(("2022", "2025"), "smoke", 1, "client:v1")
    for manifest in manifests.values():
        validated(manifest)
    images = {
        manifests[f"server-{it}"]["spec"]["template"]["spec"]["containers"][0]["image"] for it in ("2022", "2025")
    }
    assert {it.rpartition("-")[2] for it in images} == {"ltsc2022", "ltsc2025"}
    pod = manifests["client"]["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"kubernetes.io/os": "linux"}
    assert pod["containers"][0]["command"][4:] == ["http://web-windows-2022.smoke", "http://web-windows-2025.smoke"]
    plan = record(lambda: SampleWorkloads("smoke", SampleWorkloadsArgs(releases=("2022", "2025"))))
    component = next(it for it in plan.resources if it.name == "smoke")
    assert component.outputs["job"] == "winkube-sample/web-client"


@pytest.mark.parametrize(
    ("change", "code", "path"),
    [
        ({"namespace": "default"}, "WK-K8S-047", ("namespace",)),
        ({"replicas": 0}, "WK-K8S-047", ("replicas",)),
        ({"releases": ()}, "WK-K8S-001", ("releases",)),
        ({"client_image": "busybox"}, "WK-K8S-029", ("client_image",)),
    ],
)
def test_a_smoke_test_that_tries_nothing_is_refused(change: dict[str, Any], code: str, path: Any):
    assert said(check_sample_workloads(replace(SampleWorkloadsArgs(), **change)), code).path == path
