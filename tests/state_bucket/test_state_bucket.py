"""The state bucket: what is refused, and what is registered."""

import json
from dataclasses import dataclass, field, fields
from fnmatch import fnmatch

import pytest
from winkube.core.errors import WinkubeError
from winkube.core.mistakes import Mistake
from winkube.preview.model import UNKNOWN, Plan
from winkube.state_bucket.bucket_policies import bucket_policy, key_policy
from winkube.state_bucket.bucket_rules import StateBucketLike, check_bucket_name, check_state_bucket, suggested_name
from winkube.state_bucket.layout import ClusterLayout
from winkube.state_bucket.state_bucket import StateBucket, StateBucketArgs

BUCKET = "arn:aws:s3:::clusters-example-com"
KEY = "arn:aws:kms:eu-central-1:111122223333:key/0c5f5a52-6f1a-4f0b-a2d4-2ad2fd1d2d3a"
READER = "arn:aws:iam::111122223333:role/k8s/reader"
WRITER = "arn:aws:iam::111122223333:role/k8s/writer"


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A bucket as the settings describe it."""

    bucket_name: str | None = None
    allow_dots: bool = False
    noncurrent_days: int = 90
    kms_key_arn: object = None
    reader_principals: tuple[object, ...] = ()
    writer_principals: tuple[object, ...] = ()
    allowed_principals: tuple[str, ...] = ()
    tags: dict[str, str] = field(default_factory=dict[str, str])


def only(found: list[Mistake], code: str) -> Mistake:
    (mistake,) = found
    assert mistake.rule.code == code
    return mistake


def by_kind(plan: Plan) -> dict:
    return {resource.type.rpartition(":")[2]: resource for resource in plan.resources}


def statements(policy: dict) -> dict[str, dict]:
    return {statement["Sid"]: statement for statement in policy["Statement"]}


def test_the_arguments_have_what_is_judged():
    properties = {name for name, value in vars(StateBucketLike).items() if isinstance(value, property)}
    assert properties <= {field.name for field in fields(StateBucketArgs)}


@pytest.mark.parametrize("name", ["abc", "clusters-dev-example-com", "0-0", "a" * 63])
def test_bucket_names_are_accepted(name: str):
    assert not check_bucket_name(name)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("Clusters_Example", 'write "clusters-example"'),
        ("ab", '"clusters-example-com"'),
        ("a" * 64, f'write "{"a" * 63}"'),
        ("-clusters", 'write "clusters"'),
        ("clusters..example", 'write "clusters-example"'),
        ("192.168.5.4", 'write "192-168-5-4"'),
    ],
)
def test_what_is_no_bucket_name_is_refused(name: str, remedy: str):
    """WK-BKT-001."""
    mistake = only(check_bucket_name(name), "WK-BKT-001")
    assert (mistake.path, mistake.got) == (("bucket_name",), name)
    assert f"this one has {len(name)} characters" in mistake.message
    assert remedy in mistake.remedy


@pytest.mark.parametrize("name", ["xn--clusters", "sthree-x", "clusters-s3alias", "clusters--x-s3", "amzn-s3-demo-x"])
def test_names_of_aws_are_refused(name: str):
    """WK-BKT-002."""
    assert only(check_bucket_name(name), "WK-BKT-002").got == name


def test_dots_are_refused_unless_they_are_wanted():
    """WK-BKT-003: the bucket named after its zone, as was the custom, fails the TLS check of its host name."""
    mistake = only(check_bucket_name("clusters.dev.example.com"), "WK-BKT-003")
    assert mistake.remedy == 'write "clusters-dev-example-com", or set allow_dots to true'
    assert not check_state_bucket(Shape(bucket_name="clusters.dev.example.com", allow_dots=True))


def test_a_name_is_suggested_from_a_domain():
    assert suggested_name("dev.example.com") == "clusters-dev-example-com"
    long = [suggested_name(f"{'x' * 80}{n}.example.com") for n in range(2)]
    assert long[0] != long[1]
    assert not any(check_bucket_name(name) for name in long)


@pytest.mark.parametrize("days", [0, -5])
def test_versions_are_kept_for_a_day_at_least(days: int):
    """WK-BKT-004."""
    mistake = only(check_state_bucket(Shape(noncurrent_days=days)), "WK-BKT-004")
    assert (mistake.path, mistake.got) == (("noncurrent_days",), days)
    assert "1 or more" in mistake.remedy


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("reader_principals", "*"),
        ("writer_principals", "arn:aws:iam::111122223333:role/*"),
        ("reader_principals", "arn:aws:iam::111122223333:policy/x"),
        ("allowed_principals", "111122223333"),
    ],
)
def test_principals_are_named_by_their_arn(name: str, value: str):
    """WK-BKT-005; only allowed_principals takes patterns, and no bucket admits everybody."""
    found = [mistake for mistake in check_state_bucket(Shape(**{name: (value,)})) if mistake.rule.code == "WK-BKT-005"]
    mistake = only(found, "WK-BKT-005")
    assert (mistake.path, mistake.got) == ((name, 0), value)
    assert "arn:aws:iam::<account>:role/<name>" in mistake.remedy


@pytest.mark.parametrize("key", ["alias/state", "0c5f5a52", "arn:aws:kms:eu-central-1:111122223333:alias/state"])
def test_a_key_is_named_by_its_arn(key: str):
    """WK-BKT-006: the bucket's policy compares ARNs of keys."""
    mistake = only(check_state_bucket(Shape(kms_key_arn=key)), "WK-BKT-006")
    assert (mistake.path, mistake.got) == (("kms_key_arn",), key)
    assert not check_state_bucket(Shape(kms_key_arn=KEY))


def test_readers_and_writers_are_among_the_allowed():
    """WK-BKT-007: else the bucket would admit and refuse them at once."""
    shape = Shape(reader_principals=(READER,), writer_principals=(WRITER,), allowed_principals=(READER,))
    mistake = only(check_state_bucket(shape), "WK-BKT-007")
    assert (mistake.path, mistake.got) == (("writer_principals", 0), WRITER)
    wide = Shape(reader_principals=(READER,), allowed_principals=("arn:aws:iam::111122223333:role/k8s/*",))
    assert not check_state_bucket(wide)


def test_computed_values_are_left_alone():
    """What another resource computes is not known yet."""
    assert not check_state_bucket(Shape(kms_key_arn=object(), reader_principals=(object(),)))


def test_all_mistakes_come_at_once():
    shape = Shape(bucket_name="A", noncurrent_days=0, kms_key_arn="x", reader_principals=("*",), tags={"aws:x": "y"})
    assert [mistake.rule.code for mistake in check_state_bucket(shape)] == [
        "WK-BKT-001",
        "WK-BKT-004",
        "WK-BKT-006",
        "WK-BKT-005",
        "WK-TAG-002",
    ]


def test_the_bucket_refuses_plain_connections_and_other_keys():
    """Whatever a caller's own policies say."""
    policy = statements(bucket_policy(BUCKET, KEY))
    assert set(policy) == {"DenyWithoutTls", "DenyOldTls", "DenyOtherEncryption", "DenyOtherKey"}
    assert all(statement["Effect"] == "Deny" and statement["Principal"] == "*" for statement in policy.values())
    assert policy["DenyWithoutTls"]["Resource"] == [BUCKET, f"{BUCKET}/*"]
    assert policy["DenyWithoutTls"]["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert policy["DenyOldTls"]["Condition"] == {"NumericLessThan": {"s3:TlsVersion": "1.2"}}
    assert policy["DenyOtherKey"]["Condition"]["StringNotEquals"] == {
        "s3:x-amz-server-side-encryption-aws-kms-key-id": KEY
    }


def test_certificate_authorities_may_have_a_key_of_their_own():
    """That of their cluster, which workers may not use for them: everything else has the bucket's."""
    statement = statements(bucket_policy(BUCKET, KEY))["DenyOtherKey"]
    assert "Resource" not in statement
    (pattern,) = statement["NotResource"]
    layout = ClusterLayout("prod.example.com")
    assert fnmatch(f"{BUCKET}/{layout.pki('ca.key')}", pattern)
    for key in (layout.boot_code("0"), layout.bootstrap("lock"), f"{layout.etcd_backups('cp-0')}snapshot.db"):
        assert not fnmatch(f"{BUCKET}/{key}", pattern)


def test_the_bucket_admits_those_that_are_named_and_on_wish_nobody_else():
    policy = statements(bucket_policy(BUCKET, KEY, readers=[READER], writers=[WRITER], allowed=[READER, WRITER]))
    assert policy["Readers"]["Action"] == ["s3:GetObject"]
    assert policy["Readers"]["Principal"] == {"AWS": [READER]}
    assert "s3:DeleteObject" in policy["Writers"]["Action"]
    others = policy["DenyOthers"]
    assert others["Condition"]["ArnNotLike"] == {"aws:PrincipalArn": [READER, WRITER]}
    assert "s3:GetObject*" in others["Action"]


def test_the_key_is_administered_by_its_account_and_used_for_this_bucket():
    policy = statements(key_policy(KEY, BUCKET, readers=[READER], writers=[WRITER]))
    assert policy["Account"]["Principal"] == {"AWS": ["arn:aws:iam::111122223333:root"]}
    assert policy["Readers"]["Action"] == ["kms:Decrypt"]
    assert policy["Writers"]["Action"] == ["kms:Decrypt", "kms:GenerateDataKey"]
    assert policy["Writers"]["Condition"] == {
        "StringLike": {"kms:EncryptionContext:aws:s3:arn": [BUCKET, f"{BUCKET}/*"]}
    }
    assert set(statements(key_policy(KEY, BUCKET))) == {"Account"}


@pytest.mark.parametrize("preview", [True, False])
def test_the_bucket_is_private_versioned_encrypted_and_kept(record, preview: bool):
    plan = record(lambda: StateBucket("state", StateBucketArgs(tags={"team": "platform"})), preview=preview)
    made = by_kind(plan)
    assert made["Bucket"].inputs["forceDestroy"] is False
    assert made["Bucket"].inputs["tags"] == {"Name": "state-bucket", "team": "platform"}
    assert "bucket" not in made["Bucket"].inputs
    block = made["BucketPublicAccessBlock"].inputs
    assert all(block[name] is True for name in block if name != "bucket")
    assert len(block) == 5
    assert made["BucketOwnershipControls"].inputs["rule"] == {"objectOwnership": "BucketOwnerEnforced"}
    assert made["BucketVersioning"].inputs["versioningConfiguration"] == {"status": "Enabled"}
    (rule,) = made["BucketServerSideEncryptionConfiguration"].inputs["rules"]
    assert rule["applyServerSideEncryptionByDefault"]["sseAlgorithm"] == "aws:kms"
    assert rule["bucketKeyEnabled"] is True
    assert made["Key"].inputs["enableKeyRotation"] is True
    assert made["Key"].options.protect
    assert made["Bucket"].options.protect
    outputs = made["StateBucket"].outputs
    assert set(outputs) == {"bucket", "arn", "kmsKeyArn"}
    assert (outputs["arn"] is UNKNOWN) == preview


def test_old_versions_markers_and_broken_uploads_go_away(record):
    plan = record(lambda: StateBucket("state", StateBucketArgs(noncurrent_days=30)))
    life_cycle = by_kind(plan)["BucketLifecycleConfiguration"]
    rules = {rule["id"]: rule for rule in life_cycle.inputs["rules"]}
    assert all(rule["status"] == "Enabled" for rule in rules.values())
    assert rules["replaced-versions"]["noncurrentVersionExpiration"] == {"noncurrentDays": 30}
    assert rules["replaced-versions"]["expiration"] == {"expiredObjectDeleteMarker": True}
    assert rules["broken-uploads"]["abortIncompleteMultipartUpload"] == {"daysAfterInitiation": 7}
    assert any("BucketVersioning" in urn for urn in life_cycle.options.dependencies)


def test_the_encryption_comes_last_and_the_name_with_it(record):
    """Whoever uses the name waits until the bucket is private; a given name is known in a preview."""
    plan = record(lambda: StateBucket("state", StateBucketArgs(bucket_name="clusters-x")), preview=True)
    made = by_kind(plan)
    waited = made["BucketServerSideEncryptionConfiguration"].options.dependencies
    kinds = {urn.split("::")[2].rpartition(":")[2] for urn in waited}
    assert kinds >= {
        "BucketPublicAccessBlock",
        "BucketOwnershipControls",
        "BucketPolicy",
        "BucketVersioning",
        "BucketLifecycleConfiguration",
    }
    assert made["StateBucket"].outputs["bucket"] == "clusters-x"


def test_a_given_key_is_used_and_none_made(record):
    plan = record(lambda: StateBucket("state", StateBucketArgs(kms_key_arn=KEY)), preview=False)
    made = by_kind(plan)
    assert "Key" not in made
    assert "KeyPolicy" not in made
    assert made["StateBucket"].outputs["kmsKeyArn"] == KEY
    (rule,) = made["BucketServerSideEncryptionConfiguration"].inputs["rules"]
    assert rule["applyServerSideEncryptionByDefault"]["kmsMasterKeyId"] == KEY


def test_policies_follow_the_arguments(record):
    args = StateBucketArgs(
        reader_principals=[READER],
        allowed_principals=["arn:aws:iam::111122223333:role/k8s/*"],
        access_log_bucket="logs",
        deletion_protection=False,
    )
    made = by_kind(record(lambda: StateBucket("state", args), preview=False))
    policy = statements(json.loads(made["BucketPolicy"].inputs["policy"]))
    assert {"DenyOthers", "Readers", "ReadersList"} <= set(policy)
    assert "Readers" in statements(json.loads(made["KeyPolicy"].inputs["policy"]))
    assert made["BucketLogging"].inputs["targetBucket"] == "logs"
    assert not made["Bucket"].options.protect


def test_mistakes_are_raised_before_anything_is_registered(record):
    def build():
        with pytest.raises(WinkubeError, match=r"StateBucket\(state\)\.bucket_name: .*WK-BKT-003"):
            StateBucket("state", StateBucketArgs(bucket_name="clusters.example.com"))

    assert record(build).resources == []
