"""The policies of the state bucket and of its key, as plain data. Pure."""

from collections.abc import Sequence

from ..roles.policy_documents import Document, Statement, account_key, allow, document
from .layout import KEY_ACTIONS, OBJECT_ACTIONS, OBJECTS_WITH_KEYS, Access

OLDEST_TLS = "1.2"


def bucket_policy(
    bucket_arn: str,
    key_arn: str,
    *,
    readers: Sequence[str] = (),
    writers: Sequence[str] = (),
    allowed: Sequence[str] = (),
) -> Document:
    """What the bucket refuses whoever asks, and whom it admits.

    :param readers: ARNs of those who may list and read.
    :param writers: ARNs of those who may list, read, write and delete.
    :param allowed: ARN patterns; everybody else is refused the objects, whatever their own policies say.
    """
    both, objects = [bucket_arn, f"{bucket_arn}/*"], f"{bucket_arn}/*"
    statements = [
        _deny("DenyWithoutTls", "s3:*", both, {"Bool": {"aws:SecureTransport": "false"}}),
        _deny("DenyOldTls", "s3:*", both, {"NumericLessThan": {"s3:TlsVersion": OLDEST_TLS}}),
        # Without the header the bucket's own default applies; these two are about those who ask for something else.
        _deny("DenyOtherEncryption", "s3:PutObject", objects, {
            "Null": {"s3:x-amz-server-side-encryption": "false"},
            "StringNotEquals": {"s3:x-amz-server-side-encryption": "aws:kms"},
        }),
        _but(f"{bucket_arn}/{OBJECTS_WITH_KEYS}", _deny("DenyOtherKey", "s3:PutObject", objects, {
            "Null": {"s3:x-amz-server-side-encryption-aws-kms-key-id": "false"},
            "StringNotEquals": {"s3:x-amz-server-side-encryption-aws-kms-key-id": key_arn},
        })),
    ]  # fmt: skip
    if allowed:
        statements.append(_deny("DenyOthers", ["s3:DeleteObject*", "s3:GetObject*", "s3:PutObject*"], objects, {
            "ArnNotLike": {"aws:PrincipalArn": list(allowed)},
            "Bool": {"aws:PrincipalIsAWSService": "false"},
        }))  # fmt: skip
    for sid, access, principals in _admitted(readers, writers):
        statements.append(_to(principals, allow("s3:ListBucket", bucket_arn, sid=f"{sid}List")))
        statements.append(_to(principals, allow(OBJECT_ACTIONS[access], objects, sid=sid)))
    return document(*statements)


def key_policy(key_arn: str, bucket_arn: str, *, readers: Sequence[str] = (), writers: Sequence[str] = ()) -> Document:
    """The account administers the key through IAM; readers and writers use it for the bucket's objects."""
    context = {"StringLike": {"kms:EncryptionContext:aws:s3:arn": [bucket_arn, f"{bucket_arn}/*"]}}
    statements = [account_key(key_arn)]
    statements += [
        _to(principals, allow(KEY_ACTIONS[access], "*", sid=sid, conditions=context))
        for sid, access, principals in _admitted(readers, writers)
    ]
    return document(*statements)


def _admitted(readers: Sequence[str], writers: Sequence[str]) -> list[tuple[str, Access, Sequence[str]]]:
    rows: list[tuple[str, Access, Sequence[str]]] = [("Readers", "read", readers), ("Writers", "manage", writers)]
    return [row for row in rows if row[2]]


def _deny(
    sid: str, actions: str | Sequence[str], resources: str | Sequence[str], conditions: dict[str, dict[str, object]]
) -> Statement:
    statement = allow(actions, resources, sid=sid, conditions=conditions)
    return statement | {"Effect": "Deny", "Principal": "*"}


def _but(resources: str, statement: Statement) -> Statement:
    """The statement for everything else than these."""
    return {key: value for key, value in statement.items() if key != "Resource"} | {"NotResource": [resources]}


def _to(principals: Sequence[str], statement: Statement) -> Statement:
    return statement | {"Principal": {"AWS": list(principals)}}
