"""Who may do what, decided from the rendered policies: control plane and workers, this cluster and others."""

import json
from functools import cache
from typing import Any

import pytest
from policy_sentry.querying.actions import get_actions_for_service
from winkube.control_plane.control_plane import LinuxControlPlane
from winkube.control_plane.control_plane_policies import cluster_state, secrets_key_user
from winkube.instance_groups.access import node_access
from winkube.instance_groups.join_target import JoinTarget
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import Plan
from winkube.roles.policy_documents import self_managed_node, session_manager
from winkube.roles.validation import check_policy_documents
from winkube.state_bucket.layout import ClusterLayout

from tests.tls_mocks import TLS
from tests.validators.linter import lint

from .iam import Policies, policies_of
from .planes import BUCKET_ARN, BUCKET_KEY, CLUSTER, CLUSTER_KEY, control_plane_args

LAYOUT, OTHER = ClusterLayout(CLUSTER), ClusterLayout("dev.example.com")
OWNED = {f"aws:ResourceTag/kubernetes.io/cluster/{CLUSTER}": "owned"}
FOREIGN = {"aws:ResourceTag/kubernetes.io/cluster/dev.example.com": "owned"}
PARAMETER = f"arn:aws:ssm:eu-central-1:111122223333:parameter/winkube/{CLUSTER}/join-token"
S3_CONTEXT = {"kms:EncryptionContext:aws:s3:arn": BUCKET_ARN}
LIMIT = 10_240
"""Characters of all inline policies of a role: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html"""

EXPLAINED = (
    # parliament's table is older than this condition key, which AWS's own has.
    "Unknown condition elasticloadbalancing:CreateAction",
    # The action is asked of the group and of its VPC; a VPC has no tag of the request.
    "[{'action': 'ec2:CreateSecurityGroup', 'required_format': 'arn:*:ec2:*:*:security-group/*'}]",
)


@cache
def plan(**changes: Any) -> Plan:
    args = control_plane_args(kms_key_arn=CLUSTER_KEY, **changes)
    return evaluate_function(lambda: LinuxControlPlane("cp", args), mode="update", mocks=TLS)


@cache
def control_plane() -> Policies:
    """The rendered policies, with the parameter's ARN in the place of its placeholder."""
    found = policies_of(plan(), "cp-nodes-")
    text = json.dumps(found.statements).replace("arn:aws:placeholder:::placeholder/cp-join-token.arn", PARAMETER)
    assert "placeholder" not in text
    return Policies([{"Statement": json.loads(text)}])


@cache
def worker() -> Policies:
    """The policies of a worker of this cluster, as its instance group renders them."""
    target = JoinTarget(
        cluster_name=CLUSTER, kubernetes_version="1.36", region="eu-central-1", endpoint=f"api.{CLUSTER}:6443",
        token_parameter=f"/winkube/{CLUSTER}/join-token", certificate_authority="CA", vpc_id="vpc-1",
        bucket="clusters-example-com", bucket_arn=BUCKET_ARN,
    )  # fmt: skip
    own = node_access(
        target, "windows", bucket_arn=BUCKET_ARN, bucket_key_arn=BUCKET_KEY, token_key_arn=CLUSTER_KEY
    )  # fmt: skip
    return Policies([own, self_managed_node(), session_manager()])


def s3(key: str) -> str:
    return f"{BUCKET_ARN}/{key}"


SECRET_KEYS = [
    LAYOUT.pki("ca.key"), LAYOUT.pki("etcd-ca.key"), LAYOUT.pki("sa.key"), LAYOUT.pki("encryption.yaml"),
    LAYOUT.pki("ca.key", 2), f"{LAYOUT.etcd_backups('i-0a')}snapshot.db", LAYOUT.bootstrap("lock"),
    LAYOUT.bootstrap("restore"), LAYOUT.node_document("control-plane", "0" * 64), OTHER.pki("ca.key"),
]  # fmt: skip


@pytest.mark.parametrize("action", ["s3:GetObject", "s3:GetObjectVersion", "s3:PutObject", "s3:DeleteObject"])
@pytest.mark.parametrize("key", SECRET_KEYS)
def test_a_worker_reaches_no_key_no_backup_and_no_lock(key: str, action: str) -> None:
    """A worker that is taken over is a worker, not the cluster."""
    assert not worker().allow(action, s3(key))


def test_a_worker_reads_its_code_and_its_token_and_no_other_parameter() -> None:
    assert worker().allow("s3:GetObject", s3(LAYOUT.boot_code("0" * 64)))
    assert worker().allow("ssm:GetParameter", PARAMETER)
    for name in ("winkube/dev.example.com/join-token", "database/password", f"winkube/{CLUSTER}/join-token2"):
        assert not worker().allow("ssm:GetParameter", f"arn:aws:ssm:eu-central-1:111122223333:parameter/{name}")
    assert not worker().allow("ssm:PutParameter", PARAMETER)
    for action in ("ssm:GetParameters", "ssm:GetParametersByPath", "ssm:GetParameterHistory"):
        assert not worker().allow(action, PARAMETER)


def test_a_worker_lists_nothing() -> None:
    assert not worker().allow("s3:ListBucket", BUCKET_ARN, **{"s3:prefix": LAYOUT.pki_prefix()})
    assert not worker().allow("s3:ListBucket", BUCKET_ARN)


@pytest.mark.parametrize(
    ("action", "key"),
    [
        ("s3:GetObject", LAYOUT.pki("ca.key")),
        ("s3:GetObject", LAYOUT.boot_code("0" * 64)),
        ("s3:GetObject", LAYOUT.node_document("control-plane", "0" * 64)),
        ("s3:GetObject", LAYOUT.bootstrap("restore")),
        ("s3:PutObject", LAYOUT.bootstrap("lock")),
        ("s3:PutObject", LAYOUT.status("cp-0")),
        ("s3:DeleteObject", LAYOUT.bootstrap("join-lock")),
        ("s3:PutObject", f"{LAYOUT.etcd_backups('i-0a')}snapshot.db"),
        ("s3:DeleteObject", f"{LAYOUT.etcd_backups('i-0a')}snapshot.db"),
        ("s3:GetObject", f"{LAYOUT.etcd_backups('i-0a', 7)}snapshot.db"),
    ],
)
def test_the_control_plane_reaches_what_its_agent_needs(action: str, key: str) -> None:
    assert control_plane().allow(action, s3(key))
    assert not control_plane().allow(action, s3(key.replace(CLUSTER, "dev.example.com")))
    assert not control_plane().allow(action, s3(key.replace(CLUSTER, f"{CLUSTER}.evil")))


@pytest.mark.parametrize(
    ("action", "key"),
    [
        ("s3:PutObject", LAYOUT.pki("ca.key")),
        ("s3:DeleteObject", LAYOUT.pki("ca.key")),
        ("s3:GetObject", LAYOUT.pki("ca.key", 2)),
        ("s3:PutObject", LAYOUT.bootstrap("lock", 2)),
        ("s3:PutObject", f"{LAYOUT.etcd_backups('i-0a', 7)}snapshot.db"),
        ("s3:DeleteObject", f"{LAYOUT.etcd_backups('i-0a', 7)}snapshot.db"),
        ("s3:PutObject", LAYOUT.boot_code("0" * 64)),
        ("s3:PutObject", LAYOUT.node_document("windows", "0" * 64)),
        ("s3:GetObject", LAYOUT.node_document("windows", "0" * 64)),
        ("s3:DeleteObjectVersion", f"{LAYOUT.etcd_backups('i-0a')}snapshot.db"),
        ("s3:PutBucketPolicy", ""),
    ],
)
def test_the_control_plane_changes_no_code_no_authority_and_no_older_incarnation(action: str, key: str) -> None:
    """Who takes over a control-plane node cannot plant code for workers, nor destroy the backups of the past."""
    assert not control_plane().allow(action, s3(key))


def test_the_control_plane_lists_below_its_own_prefixes_alone() -> None:
    for prefix in (LAYOUT.bootstrap_prefix(), LAYOUT.etcd_backups_prefix, LAYOUT.pki_prefix()):
        assert control_plane().allow("s3:ListBucket", BUCKET_ARN, **{"s3:prefix": prefix})
    for prefix in ("", "clusterconfigs/", LAYOUT.prefix, OTHER.pki_prefix(), f"clusterconfigs/{CLUSTER}"):
        assert not control_plane().allow("s3:ListBucket", BUCKET_ARN, **{"s3:prefix": prefix})
    assert not control_plane().allow("s3:ListBucket", BUCKET_ARN)


def test_keys_are_used_for_their_one_purpose() -> None:
    """The bucket's for the bucket, the cluster's for the token."""
    token = {"kms:EncryptionContext:PARAMETER_ARN": PARAMETER}
    other = {"kms:EncryptionContext:PARAMETER_ARN": PARAMETER.replace(CLUSTER, "dev.example.com")}
    for policies in (control_plane(), worker()):
        assert policies.allow("kms:Decrypt", CLUSTER_KEY, **token)
        assert not policies.allow("kms:Decrypt", CLUSTER_KEY, **other)
        assert not policies.allow("kms:Decrypt", CLUSTER_KEY)
        assert policies.allow("kms:Decrypt", BUCKET_KEY, **S3_CONTEXT)
        assert not policies.allow("kms:Decrypt", BUCKET_KEY)
        assert not policies.allow("kms:CreateGrant", CLUSTER_KEY, **token)
    assert control_plane().allow("kms:Encrypt", CLUSTER_KEY, **token)
    assert not worker().allow("kms:Encrypt", CLUSTER_KEY, **token)


def secret_objects() -> list[tuple[str, str]]:
    """Key and KMS key of every object of the authorities, as they are registered."""
    found = [r.inputs for r in plan().resources if r.type.endswith(":BucketObjectv2")]
    return [(str(it["key"]), it.get("kmsKeyId", BUCKET_KEY)) for it in found if "/pki/" in str(it["key"])]


def contexts(key: str) -> list[dict[str, str]]:
    """With which S3 asks KMS for an object: its own, or the bucket's where bucket keys are on."""
    return [{"kms:EncryptionContext:aws:s3:arn": arn} for arn in (s3(key), BUCKET_ARN)]


def test_the_authorities_files_have_the_cluster_s_key() -> None:
    objects = secret_objects()
    assert {key.rpartition("/")[2] for key, _ in objects} >= {"ca.key", "etcd-ca.key", "sa.key", "encryption.yaml"}
    assert {key_arn for _, key_arn in objects} == {CLUSTER_KEY}
    for resource in plan().resources:
        if resource.type.endswith(":BucketObjectv2") and "/pki/" in str(resource.inputs["key"]):
            assert resource.inputs["serverSideEncryption"] == "aws:kms"


@pytest.mark.parametrize(("key", "key_arn"), secret_objects())
def test_the_control_plane_decrypts_the_authorities_and_a_worker_does_not(key: str, key_arn: str) -> None:
    """Were the bucket's policies wrong, a worker would still read nothing but cipher text."""
    assert control_plane().allow("s3:GetObject", s3(key))
    for context in contexts(key):
        assert control_plane().allow("kms:Decrypt", key_arn, **context)
        assert not control_plane().allow("kms:GenerateDataKey", key_arn, **context), "it would write them"
        for action in ("kms:Decrypt", "kms:GenerateDataKey", "kms:ReEncryptFrom", "kms:CreateGrant"):
            assert not worker().allow(action, key_arn, **context)
    foreign = {"kms:EncryptionContext:aws:s3:arn": s3(OTHER.pki("ca.key"))}
    assert not control_plane().allow("kms:Decrypt", key_arn, **foreign)


def test_the_cloud_controller_changes_what_is_the_cluster_s() -> None:
    group = "arn:aws:ec2:eu-central-1:111122223333:security-group/sg-1"
    balancer = "arn:aws:elasticloadbalancing:eu-central-1:111122223333:loadbalancer/net/a/1"
    for action, resource in (
        ("ec2:AuthorizeSecurityGroupIngress", group),
        ("ec2:DeleteSecurityGroup", group),
        ("elasticloadbalancing:DeleteLoadBalancer", balancer),
        ("elasticloadbalancing:ModifyLoadBalancerAttributes", balancer),
    ):
        assert control_plane().allow(action, resource, **OWNED)
        assert not control_plane().allow(action, resource, **FOREIGN)
        assert not control_plane().allow(action, resource)
        assert not worker().allow(action, resource, **OWNED)
    for action in ("ec2:RunInstances", "ec2:TerminateInstances", "iam:PassRole", "sts:AssumeRole", "ec2:CreateRoute"):
        assert not control_plane().allow(action, "*", **OWNED)


def test_what_is_made_carries_the_cluster_s_tag_from_the_start() -> None:
    """Else the tag, by which everything else is bound, could be put on what is others'."""
    made = {f"aws:RequestTag/kubernetes.io/cluster/{CLUSTER}": "owned"}
    group = "arn:aws:ec2:eu-central-1:111122223333:security-group/sg-1"
    policies = control_plane()
    assert policies.allow("ec2:CreateSecurityGroup", group, **made)
    assert not policies.allow("ec2:CreateSecurityGroup", group)
    assert policies.allow("ec2:CreateTags", group, **made, **{"ec2:CreateAction": "CreateSecurityGroup"})
    assert not policies.allow("ec2:CreateTags", group, **made)
    balancer = "arn:aws:elasticloadbalancing:eu-central-1:111122223333:loadbalancer/net/a/1"
    assert not policies.allow("elasticloadbalancing:AddTags", balancer, **made)


def test_a_node_leaves_by_the_hook_of_a_slot_of_its_own_cluster() -> None:
    group = "arn:aws:autoscaling:eu-central-1:111122223333:autoScalingGroup:1:autoScalingGroupName/x"
    slot = {"aws:ResourceTag/winkube.io/cluster": CLUSTER, "aws:ResourceTag/winkube.io/slot": "cp-1"}
    action = "autoscaling:CompleteLifecycleAction"
    assert control_plane().allow(action, group, **slot)
    assert not control_plane().allow(action, group, **{**slot, "aws:ResourceTag/winkube.io/cluster": "dev.example.com"})
    assert not control_plane().allow(action, group, **{"aws:ResourceTag/winkube.io/cluster": CLUSTER})
    assert not worker().allow(action, group, **slot)


def test_the_node_mode_writes_authorities_and_never_deletes_them() -> None:
    key = LAYOUT.pki("ca.key")
    policies = Policies([
        cluster_state(
            LAYOUT, BUCKET_ARN, None, key_arn=CLUSTER_KEY, incarnation=1, group="control-plane", pki="node"
        )
    ])  # fmt: skip
    assert policies.allow("s3:PutObject", s3(key))
    assert not policies.allow("s3:DeleteObject", s3(key))
    for context in contexts(key):
        assert policies.allow("kms:GenerateDataKey", CLUSTER_KEY, **context)
        assert policies.allow("kms:Decrypt", CLUSTER_KEY, **context)


def rendered() -> list[tuple[str, str]]:
    texts = {
        resource.name: resource.inputs["policy"]
        for resource in plan().resources
        if resource.type == "aws:iam/rolePolicy:RolePolicy"
    }
    texts["kms"] = json.dumps(secrets_key_user(CLUSTER_KEY))
    return [
        (name, text.replace("arn:aws:placeholder:::placeholder/cp-join-token.arn", PARAMETER))
        for name, text in texts.items()
    ]


@pytest.mark.parametrize(("name", "text"), rendered())
def test_linters_have_nothing_against_a_policy(name: str, text: str) -> None:
    """parliament, the rules of this library, and actions that exist, each written out."""
    assert [finding for finding in lint(text) if not any(mark in finding[1] for mark in EXPLAINED)] == []
    assert check_policy_documents([text], partition="aws") == []
    for statement in json.loads(text)["Statement"]:
        for action in statement["Action"]:
            assert "*" not in action
            assert action in get_actions_for_service(action.partition(":")[0])


def test_there_is_room_for_policies_of_the_user() -> None:
    total = sum(len(text) for _, text in rendered())
    assert total < LIMIT * 3 // 4, f"{total} of {LIMIT} characters"


def test_there_is_no_managed_policy_that_reads_parameters() -> None:
    attached = [r.inputs["policyArn"] for r in plan().resources if r.type.endswith(":RolePolicyAttachment")]
    assert attached == ["arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly"]


def test_a_mirror_that_is_a_bucket_is_read_and_not_written() -> None:
    policies = policies_of(plan(mirror="s3://mirror/winkube"), "cp-nodes-mirror")
    assert policies.allow("s3:GetObject", "arn:aws:s3:::mirror/winkube/dl.k8s.io/x")
    assert not policies.allow("s3:GetObject", "arn:aws:s3:::mirror/other")
    assert not policies.allow("s3:PutObject", "arn:aws:s3:::mirror/winkube/dl.k8s.io/x")
