"""``pki="node"``: nothing of the authorities passes through the deployment but what is public, and one kubeconfig."""

import json
from functools import cache
from typing import Any

import pulumi
import pytest
import yaml
from winkube.control_plane.args import IrsaIssuer, check_control_plane_args
from winkube.control_plane.authorities import ClusterAuthorities, ClusterAuthoritiesArgs
from winkube.control_plane.control_plane import LinuxControlPlane
from winkube.control_plane.slot_documents import AUTHORITY_FILES
from winkube.instance_groups.join_target import check_join_target
from winkube.kubeadm import paths
from winkube.node_agent.winkube_agent import document as agent_document
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.evaluation.invokes import Answers
from winkube.preview.model import UNKNOWN, Plan, Secret
from winkube.preview.output.plan_formats import json_text
from winkube.state_bucket.layout import ClusterLayout

from tests.tls_mocks import TLS

from .iam import policies_of
from .planes import BUCKET_ARN, CLUSTER, CLUSTER_KEY, control_plane_args
from .test_control_plane import documents, of_type

LAYOUT = ClusterLayout(CLUSTER)
GET_OBJECT = "aws:s3/getObject:getObject"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
KUBECONFIG = "users:\n- user:\n    client-key-data: c2VjcmV0\n"
PUBLISHED = Answers({GET_OBJECT: (
    ({"key": LAYOUT.pki("ca.crt")}, {"body": CERTIFICATE}),
    ({"key": LAYOUT.pki("admin.conf")}, {"body": KUBECONFIG}),
)})  # fmt: skip


@cache
def plan(mode: str = "update", **changes: Any) -> Plan:
    args = control_plane_args(pki="node", kms_key_arn=CLUSTER_KEY, **changes)
    return evaluate_function(lambda: LinuxControlPlane("cp", args), mode=mode, answers=PUBLISHED)


def plane(found: Plan) -> dict[str, Any]:
    (component,) = of_type(found, "LinuxControlPlane")
    return component.outputs


def test_the_deployment_makes_no_key_and_writes_no_secret() -> None:
    """Neither a resource of the tls provider nor an object of the authorities, and no private key in any of it."""
    for found in (plan("preview"), plan("update")):
        assert not [it.type for it in found.resources if it.type.startswith("tls:")]
        assert not [it.name for it in of_type(found, "BucketObjectv2") if "/pki/" in str(it.inputs["key"])]
        assert "PRIVATE KEY" not in json_text(found)


def test_certificate_and_kubeconfig_come_back_from_the_bucket_as_outputs() -> None:
    outputs = plane(plan())
    assert outputs["certificateAuthority"] == CERTIFICATE
    assert outputs["kubeconfig"] == Secret(KUBECONFIG)
    asked = {it.arguments["key"] for it in plan().invokes if it.token == GET_OBJECT}
    assert asked == {LAYOUT.pki("ca.crt"), LAYOUT.pki("admin.conf")}, "and never the set with the private keys"


def test_a_first_preview_asks_for_nothing_that_is_not_there() -> None:
    """Their keys are known only with the groups, which count as made when their API is healthy."""
    assert not [it for it in plan("preview").invokes if it.token == GET_OBJECT]
    assert plane(plan("preview"))["certificateAuthority"] is UNKNOWN
    assert plane(plan("preview"))["kubeconfig"] == Secret(UNKNOWN)
    assert [it.urn for it in plan("preview").resources] == [it.urn for it in plan("update").resources]


def test_workers_wait_for_the_nodes_that_make_their_authority() -> None:
    targets: list[Any] = []
    told: list[str] = []

    def build() -> None:
        made = LinuxControlPlane("cp", control_plane_args(pki="node"))
        targets.append(made.target)
        pulumi.Output.from_input(made.target.certificate_authority).apply(told.append)

    evaluate_function(build, mode="update", answers=PUBLISHED)
    assert check_join_target(targets[0]) == []
    assert told == [CERTIFICATE]


def test_nodes_are_told_what_to_make_and_where() -> None:
    """The same paths as with the deployment's, one prefix, the cluster's key; the agent reads it."""
    for told in documents(plan()).values():
        read = agent_document.parse(told).authorities
        assert read is not None
        assert (read.prefix, read.key_arn, read.admin_seconds) == (LAYOUT.pki_prefix(), CLUSTER_KEY, 86400)
        rows = {row["path"]: row for row in told["secrets"]}
        assert set(rows) == {f"{paths.PKI}/{file}" for file in AUTHORITY_FILES} | {paths.ENCRYPTION}
        assert all(row["mode"] == "0600" for path, row in rows.items() if path.endswith((".key", ".yaml")))
        config = yaml.safe_load(rows[paths.ENCRYPTION]["content"])
        assert config["resources"][0]["providers"][0]["secretbox"]["keys"][0]["secret"] == "${SECRETBOX_KEY}"


def test_a_join_trusts_the_file_that_lies_on_the_node() -> None:
    """kubeadm embeds it into what the kubelet keeps; the deployment does not know it."""
    (told, *_) = documents(plan()).values()
    (entry,) = yaml.safe_load(told["kubeadm"]["discovery"])["clusters"]
    assert entry["cluster"]["certificate-authority"] == f"{paths.PKI}/ca.crt"
    assert "certificate-authority-data" not in entry["cluster"]


def test_other_lives_and_encryptions_are_told_too() -> None:
    image = f"registry.example.com/aws-encryption-provider@sha256:{'0' * 64}"
    changed = plan(admin_certificate_hours=2, secrets_encryption="kms", kms_plugin_image=image, incarnation=3)
    for told in documents(changed).values():
        assert told["authorities"]["admin_seconds"] == 7200
        assert told["authorities"]["prefix"] == LAYOUT.pki_prefix(3)
        assert paths.ENCRYPTION not in {row["path"] for row in told["secrets"]}


def test_the_deployment_s_nodes_are_told_nothing_of_it() -> None:
    found = evaluate_function(lambda: LinuxControlPlane("cp", control_plane_args()), mode="update", mocks=TLS)
    for told in documents(found).values():
        assert "authorities" not in told
        assert not [row for row in told["secrets"] if "content" in row]


def test_both_ways_have_the_same_files() -> None:
    files: list[str] = []
    evaluate_function(lambda: files.extend(ClusterAuthorities("pki", ClusterAuthoritiesArgs()).files), mocks=TLS)
    assert tuple(files) == AUTHORITY_FILES


def test_the_role_publishes_and_never_deletes() -> None:
    policies = policies_of(plan(), "cp-nodes-state")
    key = f"{BUCKET_ARN}/{LAYOUT.pki('authorities.json')}"
    for context in (key, BUCKET_ARN):
        for action in ("kms:Decrypt", "kms:GenerateDataKey"):
            assert policies.allow(action, CLUSTER_KEY, **{"kms:EncryptionContext:aws:s3:arn": context})
    assert policies.allow("s3:PutObject", key)
    assert not policies.allow("s3:DeleteObject", key)
    assert not policies.allow("s3:PutObject", f"{BUCKET_ARN}/{LAYOUT.pki('authorities.json', 2)}")


def test_an_issuer_needs_the_key_before_there_is_a_node() -> None:
    """WK-CP-017."""
    (mistake,) = check_control_plane_args(control_plane_args(pki="node", irsa=IrsaIssuer()))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-CP-017", ("irsa",), "node")
    assert mistake.remedy == 'set pki to "deployment", or remove irsa'


@pytest.mark.parametrize(("word", "remedy"), [("nodes", 'set pki to "node"'), ("vault", '"deployment" or "node"')])
def test_authorities_are_made_by_one_of_two(word: str, remedy: str) -> None:
    """WK-CP-010."""
    (mistake,) = check_control_plane_args(control_plane_args(pki=word))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-CP-010", ("pki",), word)
    assert remedy in mistake.remedy


def test_user_data_and_documents_hold_no_key() -> None:
    text = json.dumps([it.inputs.get("content") for it in of_type(plan(), "BucketObjectv2")], default=str)
    assert "PRIVATE KEY" not in text
    assert "client-key-data" not in text
