"""The pack as the CLI sees it, and as the previewer runs it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
import pytest
import yaml
from pulumi_policy import EnforcementLevel
from winkube.policies.pack import POLICIES, RULES, make_policies
from winkube.preview.checks.policy_runner import run_policies
from winkube.preview.errors import PreviewError
from winkube.preview.model import Finding, Plan, Severity

from .servicer import verdicts_of_servicer

FOLDER = Path(__file__).parents[2] / "policies"


@pytest.mark.parametrize("arguments", [[str(FOLDER)], ["-m", "winkube.policies"]])
def test_the_pack_is_served_as_a_folder_and_as_a_module(arguments: list[str]) -> None:
    """It prints the port of its server, as every pack does, and stays."""
    with subprocess.Popen([sys.executable, "-u", *arguments], stdout=subprocess.PIPE, text=True, cwd=FOLDER) as served:
        try:
            assert served.stdout is not None
            assert served.stdout.readline().strip().isdigit()
            assert served.poll() is None
        finally:
            served.kill()


def test_the_pack_states_its_runtime_and_version() -> None:
    content = yaml.safe_load((FOLDER / "PulumiPolicy.yaml").read_text())
    assert content["runtime"]["name"] == "python"
    assert content["version"]


def test_importing_the_policies_serves_nothing_and_tells_everything() -> None:
    assert [policy.name for policy in POLICIES] == [rule.name for rule in RULES]
    for policy, rule in zip(POLICIES, RULES, strict=True):
        assert policy.enforcement_level is EnforcementLevel(rule.level)
        assert all([policy.severity, policy.remediation_steps, policy.url])
        assert policy.tags == [str(reference) for reference in rule.references]
        assert bool(policy.config_schema) == bool(rule.options)


def test_the_pack_finds_the_library_beside_it_where_it_is_not_installed() -> None:
    """As a folder of a checkout, with the SDK alone."""
    code = (
        "import sys, importlib.util as u; sys.meta_path[:] = [f for f in sys.meta_path if 'editable' not in repr(f)];"
        f"sys.path.insert(0, {str(FOLDER)!r}); import runpy;"
        "space = runpy.run_path(sys.path[0]); print(len(space['policies']()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=FOLDER)
    assert done.stdout.strip() == str(len(RULES)), done.stderr


def cluster(*, shared: bool = False, tokens: str = "required", addon: bool = True, config_map: bool = False) -> None:
    """A small cluster with a Linux and a Windows group."""
    control = aws.iam.Role("control", assume_role_policy="{}")
    main = aws.eks.Cluster("main", role_arn=control.arn, vpc_config={"subnet_ids": ["a"]}, version="1.36")
    roles = {name: aws.iam.Role(name, assume_role_policy="{}") for name in ("linux", "windows")}
    for name, ami in (("linux", "AL2023_x86_64_STANDARD"), ("windows", "WINDOWS_CORE_2022_x86_64")):
        template = aws.ec2.LaunchTemplate(name, metadata_options={"http_tokens": tokens})
        aws.eks.NodeGroup(
            name, cluster_name=main.name, node_role_arn=roles["linux" if shared else name].arn, ami_type=ami,
            subnet_ids=["a"], scaling_config={"min_size": 1, "max_size": 1, "desired_size": 1},
            launch_template={"id": template.id, "version": "1"},
        )  # fmt: skip
    if addon:
        values = '{"enableWindowsIpam": "true"}'
        aws.eks.Addon("cni", cluster_name=main.name, addon_name="vpc-cni", configuration_values=values)
    if config_map:
        provider = kubernetes.Provider("k8s", kubeconfig=main.endpoint)
        kubernetes.core.v1.ConfigMap(
            "ipam", metadata={"name": "amazon-vpc-cni", "namespace": "kube-system"},
            data={"enable-windows-ipam": "true"}, opts=pulumi.ResourceOptions(provider=provider),
        )  # fmt: skip


def found_by(names: set[str], record: Callable[..., Plan], build: Callable[[], None], preview: bool) -> list[Finding]:
    """What some policies find; the small cluster keeps few of the others."""
    off = {"all": "disabled"} | dict.fromkeys(names, "mandatory")
    return run_policies(record(build, preview=preview), FOLDER, off)


WINDOWS = {"imdsv2-required", "windows-node-role-not-shared", "windows-ipam-once"}


@pytest.mark.parametrize("preview", [True, False])
class TestOverARealPlan:
    def test_a_good_cluster_passes(self, record: Callable[..., Plan], preview: bool) -> None:
        assert found_by(WINDOWS, record, cluster, preview) == []

    def test_every_rule_finds_its_mistake(self, record: Callable[..., Plan], preview: bool) -> None:
        found = found_by(WINDOWS, record, lambda: cluster(shared=True, tokens="optional", config_map=True), preview)
        assert {(finding.code, finding.severity) for finding in found} == {
            (f"policy/winkube/{name}", Severity.ERROR) for name in WINDOWS
        }
        assert {finding.urn.rsplit("::", 1)[-1] for finding in found} == {"linux", "windows", "main"}
        assert all(finding.source and finding.remedy for finding in found)

    def test_the_shared_role_is_found_by_its_origin(self, record: Callable[..., Plan], preview: bool) -> None:
        (found,) = found_by(WINDOWS, record, lambda: cluster(shared=True), preview)
        assert found.message == 'the node role "linux" is shared by "windows" (Windows) and "linux" (Linux)'


def test_what_a_preview_cannot_know_is_a_note(record: Callable[..., Plan]) -> None:
    def build() -> None:
        role = aws.iam.Role("role", assume_role_policy="{}")
        aws.ec2.LaunchTemplate("late", metadata_options=role.arn.apply(lambda _: {"http_tokens": "optional"}))

    (found,) = found_by({"imdsv2-required"}, record, build, preview=True)
    assert (found.severity, found.path) == (Severity.NOTE, "metadataOptions")
    assert found.message.startswith("cannot be decided before the deployment")
    (found,) = found_by({"imdsv2-required"}, record, build, preview=False)
    assert found.severity is Severity.ERROR


def test_a_document_that_is_made_late_is_no_note(record: Callable[..., Plan]) -> None:
    """Policy documents name other resources: before the first deployment hardly any is known."""

    def build() -> None:
        role = aws.iam.Role("role", assume_role_policy="{}")
        everything = role.arn.apply(lambda _: '{"Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}')
        aws.iam.RolePolicy("late", role=role.name, policy=everything)

    names = {"iam-no-administrator-policy"}
    assert found_by(names, record, build, preview=True) == []
    (found,) = found_by(names, record, build, preview=False)
    assert found.severity is Severity.ERROR


def test_a_rule_is_configured_by_its_options(record: Callable[..., Plan]) -> None:
    def build() -> None:
        aws.ec2.LaunchTemplate("two", metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 2})

    plan = record(build)
    assert [finding.code for finding in run_policies(plan, FOLDER)] == ["policy/winkube/metadata-hop-limit"]
    assert run_policies(plan, FOLDER, {"metadata-hop-limit": {"maximum": 2}}) == []
    with pytest.raises(PreviewError, match=r"metadata-hop-limit\.maximum: 0 is less than the minimum of 1"):
        run_policies(plan, FOLDER, {"metadata-hop-limit": {"maximum": 0}})


def test_what_was_decoded_for_one_plan_is_not_used_for_another(record: Callable[..., Plan]) -> None:
    """The policies remember a resource from one rule to the next, and begin anew with the next round."""
    policies = make_policies()

    def found(tokens: str) -> list[str]:
        plan = record(lambda: aws.ec2.LaunchTemplate("same", metadata_options={"http_tokens": tokens}))
        return [policy for policy, *_ in verdicts_of_servicer(plan, policies)]

    assert (found("optional"), found("required"), found("optional")) == (["imdsv2-required"], [], ["imdsv2-required"])


@pytest.mark.parametrize(("chart", "found"), [("calico", False), ("podinfo", True)])
def test_a_chart_that_enforces_policies_is_seen_in_a_real_plan(
    record: Callable[..., Plan], chart: str, found: bool
) -> None:
    """Stack rules get the types that are known to the pack: charts are among them, though no rule judges one."""

    def build() -> None:
        aws.eks.Addon("cni", cluster_name="prod", addon_name="vpc-cni")
        kubernetes.networking.v1.NetworkPolicy("deny", metadata={"namespace": "shop"}, spec={"pod_selector": {}})
        kubernetes.helm.v3.Release(chart, chart=chart)

    assert bool(found_by({"network-policies-enforced"}, record, build, preview=True)) is found
