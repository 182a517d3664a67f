"""What lies where in the state bucket, and how little is needed to reach it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.core.mistakes import Mistake
from winkube.roles.patterns import arns_can_meet
from winkube.roles.validation import check_policy_documents
from winkube.state_bucket.layout import (
    ClusterLayout,
    check_key,
    check_key_part,
    check_service_account,
    key_access,
    object_access,
    prefix_access,
    state_store_url,
)

BUCKET = "arn:aws:s3:::clusters-example-com"
KEY = "arn:aws:kms:eu-central-1:111122223333:key/0c5f5a52-6f1a-4f0b-a2d4-2ad2fd1d2d3a"
DEV = ClusterLayout("dev.example.com")
names = st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,30}", fullmatch=True)


def only(found: list[Mistake], code: str) -> Mistake:
    (mistake,) = found
    assert mistake.rule.code == code
    return mistake


def test_the_keys_of_a_cluster():
    """Written out once, because nodes in the field look for them there."""
    assert DEV.service_account_kubeconfig("flannel") == "clusterconfigs/dev.example.com/serviceaccount/flannel.kcfg"
    assert DEV.boot_code("ab12") == "clusterconfigs/dev.example.com/boot/ab12"
    assert DEV.node_document("win-2022", "ab12") == "clusterconfigs/dev.example.com/nodes/win-2022/ab12.json"
    assert DEV.boot_prefix == "clusterconfigs/dev.example.com/boot/"
    assert DEV.node_documents_prefix("win-2022") == "clusterconfigs/dev.example.com/nodes/win-2022/"
    assert DEV.pki("ca.key") == "clusterconfigs/dev.example.com/pki/1/ca.key"
    assert DEV.pki_prefix(2) == "clusterconfigs/dev.example.com/pki/2/"
    assert DEV.etcd_backups("i-0a") == "clusterconfigs/dev.example.com/backups/etcd/1/i-0a/"
    assert DEV.backups_prefix(2) == "clusterconfigs/dev.example.com/backups/etcd/2/"
    assert DEV.etcd_backups_prefix == "clusterconfigs/dev.example.com/backups/etcd/"
    assert DEV.bootstrap("join-lock") == "clusterconfigs/dev.example.com/bootstrap/1/join-lock"
    assert DEV.bootstrap_prefix(2) == "clusterconfigs/dev.example.com/bootstrap/2/"
    assert DEV.status("cp-0", 2) == "clusterconfigs/dev.example.com/bootstrap/2/status/cp-0.json"


@given(st.integers(1, 99), st.integers(1, 99))
def test_incarnations_of_a_cluster_share_no_state(one: int, other: int):
    """A new number is a new cluster in the same bucket, also where one number begins like the other."""
    pairs = (
        (DEV.bootstrap("lock", one), DEV.bootstrap_prefix(other)),
        (DEV.status("cp-0", one), DEV.bootstrap_prefix(other)),
        (DEV.pki("ca.key", one), DEV.pki_prefix(other)),
        (DEV.etcd_backups("i-0a", one), DEV.backups_prefix(other)),
    )
    assert {key.startswith(prefix) for key, prefix in pairs} == {one == other}


def test_the_state_store_as_a_url():
    assert state_store_url("clusters-example-com") == "s3://clusters-example-com"
    assert state_store_url("clusters-example-com", "dev") == "s3://clusters-example-com/clusterconfigs/dev"


@given(names, names)
def test_clusters_never_share_a_key(one: str, other: str):
    """What lies below one cluster's prefix is not below another's, even where one name begins with the other."""
    left, right = ClusterLayout(one), ClusterLayout(other)
    if one != other:
        assert not left.bootstrap("lock").startswith(right.prefix)
    assert not check_key(left.bootstrap("lock"))
    assert not check_key(left.prefix, prefix=True)


def test_a_node_reads_one_object_and_nothing_else():
    """One action on one ARN: no list, no pattern."""
    statement = object_access(BUCKET, DEV.service_account_kubeconfig("flannel"))
    assert statement == {
        "Effect": "Allow",
        "Action": ["s3:GetObject"],
        "Resource": [f"{BUCKET}/clusterconfigs/dev.example.com/serviceaccount/flannel.kcfg"],
    }


@given(names, names)
def test_no_statement_reaches_another_cluster(one: str, other: str):
    """Not by an object and not by a prefix."""
    theirs = f"{BUCKET}/{ClusterLayout(other).bootstrap('lock')}"
    mine = [
        object_access(BUCKET, ClusterLayout(one).bootstrap("lock")),
        *prefix_access(BUCKET, ClusterLayout(one).prefix),
    ]
    reached = any(arns_can_meet(resource, theirs) for statement in mine for resource in statement["Resource"])
    assert reached == (one == other)


def test_a_prefix_is_listed_by_its_own_name_only():
    read, listed = prefix_access(BUCKET, DEV.pki_prefix())
    assert read["Resource"] == [f"{BUCKET}/clusterconfigs/dev.example.com/pki/1/*"]
    assert listed["Action"] == ["s3:ListBucket"]
    assert listed["Condition"] == {"StringLike": {"s3:prefix": "clusterconfigs/dev.example.com/pki/1/*"}}


@pytest.mark.parametrize(
    ("access", "objects", "keys"),
    [
        ("read", {"s3:GetObject"}, {"kms:Decrypt"}),
        ("write", {"s3:PutObject", "s3:AbortMultipartUpload"}, {"kms:Decrypt", "kms:GenerateDataKey"}),
        (
            "manage",
            {"s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:DeleteObject"},
            {"kms:Decrypt", "kms:GenerateDataKey"},
        ),
    ],
)
def test_accesses_are_told_apart(access, objects: set[str], keys: set[str]):
    """A writer cannot read objects; the key serves this bucket only."""
    assert set(object_access(BUCKET, DEV.bootstrap("lock"), access)["Action"]) == objects
    statement = key_access(KEY, BUCKET, access)
    assert set(statement["Action"]) == keys
    assert statement["Resource"] == [KEY]
    assert statement["Condition"] == {
        "StringLike": {"kms:EncryptionContext:aws:s3:arn": [BUCKET, f"{BUCKET}/*"]},
    }
    wide = prefix_access(BUCKET, DEV.pki_prefix(), access)
    policy = [object_access(BUCKET, DEV.bootstrap("lock"), access), *wide, statement]
    assert not check_policy_documents([policy], partition="aws")


@pytest.mark.parametrize(
    "key",
    [
        "",
        "*",
        "clusterconfigs/",
        "clusterconfigs/dev",
        "clusterconfigs/dev/",
        "clusterconfigs/*/pki/ca.key",
        "clusterconfigs/dev/pki/*",
        "clusterconfigs//pki/ca.key",
        "clusterconfigs/../pki/ca.key",
        "other/dev/pki/ca.key",
        "/clusterconfigs/dev/pki/ca.key",
    ],
)
def test_a_statement_for_more_than_one_object_cannot_be_made(key: str):
    """WK-BKT-008."""
    mistake = only(check_key(key), "WK-BKT-008")
    assert (mistake.path, mistake.got) == (("key",), key)
    assert "clusterconfigs/<cluster>/<folder>/<name>" in mistake.remedy
    with pytest.raises(ValueError, match="WK-BKT-008"):
        object_access(BUCKET, key)


@pytest.mark.parametrize(
    "prefix", ["", "*", "/", "clusterconfigs/", "clusterconfigs/*/", "clusterconfigs/dev", "clusterconfigs/dev/pki"]
)
def test_a_statement_for_more_than_one_cluster_cannot_be_made(prefix: str):
    """WK-BKT-008: a prefix without its slash would reach clusters whose names begin alike."""
    mistake = only(check_key(prefix, prefix=True), "WK-BKT-008")
    assert "clusterconfigs/<cluster>/" in mistake.remedy
    with pytest.raises(ValueError, match="WK-BKT-008"):
        prefix_access(BUCKET, prefix)


@pytest.mark.parametrize("name", ["", "a/b", "*", "..", ".hidden", "a b", "x" * 254])
def test_a_name_that_is_no_part_of_a_key_is_refused(name: str):
    """WK-BKT-009."""
    mistake = only(check_key_part(name, ("cluster_name",)), "WK-BKT-009")
    assert (mistake.path, mistake.got) == (("cluster_name",), name)
    with pytest.raises(ValueError, match="WK-BKT-009"):
        ClusterLayout(name)
    with pytest.raises(ValueError, match="WK-BKT-009"):
        DEV.pki(name)


@pytest.mark.parametrize("name", ["admin", "super-admin", "admin.conf", "Admin", "kubernetes-admin"])
def test_the_credential_of_an_administrator_is_not_kept_for_nodes(name: str):
    """WK-BKT-010."""
    mistake = only(check_service_account(name), "WK-BKT-010")
    assert (mistake.path, mistake.got) == (("service_account",), name)
    assert "flannel" in mistake.remedy
    with pytest.raises(ValueError, match="WK-BKT-010"):
        DEV.service_account_kubeconfig(name)
