"""What lies where in the state bucket, and the least that is needed to reach it. Pure.

Whoever reads all of a cluster's state administers the cluster, so a statement for a node names one object, and one for
a control plane the prefix of one purpose; a statement for the whole bucket cannot be made here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ..core.mistakes import Mistakes, Path, Rule
from ..roles.policy_documents import Statement, allow

KEY_OF_CLUSTER = Rule(
    "WK-BKT-008", "A statement must be limited to an object or prefix of one cluster, never the whole bucket."
)
KEY_PART = Rule(
    "WK-BKT-009",
    "A part of an object key has letters, digits, dots, hyphens and underscores.",
    "https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html",
)
ADMIN_CREDENTIAL = Rule("WK-BKT-010", "A service account must not use an administrator's credential.")

ROOT = "clusterconfigs"
"""First part of every key: the clusters of a team share a bucket."""
OBJECTS_WITH_KEYS = f"{ROOT}/*/pki/*"
"""What a cluster encrypts with its own key, and not with the bucket's: workers use the bucket's too."""
ADMIN_NAMES = ("admin", "cluster-admin", "kubernetes-admin", "super-admin")
Access = Literal["read", "write", "manage"]
OBJECT_ACTIONS: Mapping[Access, tuple[str, ...]] = {
    "read": ("s3:GetObject",),
    "write": ("s3:PutObject", "s3:AbortMultipartUpload"),
    "manage": ("s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:DeleteObject"),
}
KEY_ACTIONS: Mapping[Access, tuple[str, ...]] = {
    "read": ("kms:Decrypt",),
    # The parts of a multipart upload are read back when they are put together.
    "write": ("kms:Decrypt", "kms:GenerateDataKey"),
    "manage": ("kms:Decrypt", "kms:GenerateDataKey"),
}
_PART = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,252}")


@dataclass(frozen=True, slots=True)
class ClusterLayout:
    """The keys of one cluster.

    :raises ValueError: for a name that cannot be part of a key (``WK-BKT-009``).
    """

    cluster_name: str

    def __post_init__(self) -> None:
        _raise(check_key_part(self.cluster_name, ("cluster_name",)))

    @property
    def prefix(self) -> str:
        """Everything of the cluster.

        >>> ClusterLayout("dev").prefix
        'clusterconfigs/dev/'
        """
        return f"{ROOT}/{self.cluster_name}/"

    def service_account_kubeconfig(self, name: str) -> str:
        """The kubeconfig of a service account, for what runs on a node outside of any pod.

        >>> ClusterLayout("dev").service_account_kubeconfig("flannel")
        'clusterconfigs/dev/serviceaccount/flannel.kcfg'

        :raises ValueError: for the name of an administrator (``WK-BKT-010``).
        """
        _raise(check_service_account(name))
        return f"{self.prefix}serviceaccount/{name}.kcfg"

    def boot_code(self, sha256: str) -> str:
        """Code that nodes fetch when they boot, under the digest of its content."""
        return self._key("boot", sha256)

    def node_document(self, group: str, sha256: str) -> str:
        """What differs between groups of nodes, under the digest of its content."""
        return self._key("nodes", group, f"{sha256}.json")

    def pki(self, file: str, incarnation: int = 1) -> str:
        """A file of the cluster's certificate authorities: for the control plane alone.

        >>> ClusterLayout("dev").pki("ca.key")
        'clusterconfigs/dev/pki/1/ca.key'
        """
        return self._key("pki", str(incarnation), file)

    def pki_prefix(self, incarnation: int = 1) -> str:
        """All files of the certificate authorities."""
        return f"{self._key('pki', str(incarnation))}/"

    @property
    def etcd_backups_prefix(self) -> str:
        """The backups of every incarnation: a new one may be restored from an old one's."""
        return f"{self.prefix}backups/etcd/"

    def etcd_backups(self, member: str, incarnation: int = 1) -> str:
        """Where an etcd member keeps its backups: a prefix."""
        return f"{self.backups_prefix(incarnation)}{self._part(member)}/"

    def backups_prefix(self, incarnation: int = 1) -> str:
        """The backups of one incarnation."""
        return f"{self._key('backups', 'etcd', str(incarnation))}/"

    def bootstrap(self, name: str, incarnation: int = 1) -> str:
        """An object by which control-plane nodes agree, made with a conditional write: ``lock``, ``initialized``,
        ``join-lock``, ``token-leader``, ``restore``.

        The incarnation is a plain number: a new one is a new cluster in the same bucket, while a control plane whose
        machines were all replaced finds what its predecessors left.
        """
        return self._key("bootstrap", str(incarnation), name)

    def bootstrap_prefix(self, incarnation: int = 1) -> str:
        """Everything by which control-plane nodes agree."""
        return f"{self._key('bootstrap', str(incarnation))}/"

    def status(self, of: str, incarnation: int = 1) -> str:
        """What a slot's or an instance's agent says of itself, as JSON.

        >>> ClusterLayout("dev").status("cp-0")
        'clusterconfigs/dev/bootstrap/1/status/cp-0.json'
        """
        return self._key("bootstrap", str(incarnation), "status", f"{of}.json")

    @property
    def boot_prefix(self) -> str:
        """All boot code."""
        return f"{self.prefix}boot/"

    def node_documents_prefix(self, group: str) -> str:
        """All documents of a group, older ones included."""
        return f"{self._key('nodes', group)}/"

    def _part(self, part: str) -> str:
        _raise(check_key_part(part, ("key",)))
        return part

    def _key(self, *parts: str) -> str:
        for part in parts:
            _raise(check_key_part(part, ("key",)))
        return self.prefix + "/".join(parts)


def state_store_url(bucket: str, cluster_name: str = "") -> str:
    """The state as a URL: of one cluster, or of all.

    >>> state_store_url("clusters-example-com", "dev")
    's3://clusters-example-com/clusterconfigs/dev'
    """
    below = f"/{ClusterLayout(cluster_name).prefix}".rstrip("/") if cluster_name else ""
    return f"s3://{bucket}{below}"


def object_access(bucket_arn: str, key: str, access: Access = "read") -> Statement:
    """Reach exactly one object.

    >>> object_access("arn:aws:s3:::state", "clusterconfigs/dev/serviceaccount/flannel.kcfg")["Action"]
    ['s3:GetObject']

    :raises ValueError: for a prefix, a pattern, or a key outside of a cluster (``WK-BKT-008``).
    """
    _raise(check_key(key))
    return allow(OBJECT_ACTIONS[access], f"{bucket_arn}/{key}")


def prefix_access(bucket_arn: str, prefix: str, access: Access = "read") -> list[Statement]:
    """Reach what lies below a prefix, and list it.

    :raises ValueError: for a prefix that is wider than one cluster's, or a pattern (``WK-BKT-008``).
    """
    _raise(check_key(prefix, prefix=True))
    return [
        allow(OBJECT_ACTIONS[access], f"{bucket_arn}/{prefix}*"),
        allow("s3:ListBucket", bucket_arn, conditions={"StringLike": {"s3:prefix": f"{prefix}*"}}),
    ]


def key_access(key_arn: str, bucket_arn: str, access: Access = "read", prefix: str = "") -> Statement:
    """Use a key for objects of the bucket, and for nothing else.

    The context of the encryption is the bucket where bucket keys are on, as they are here, and the object elsewhere.

    :param prefix: of the objects, for a key that encrypts these alone; all of them by default.
    """
    context = {"kms:EncryptionContext:aws:s3:arn": [bucket_arn, f"{bucket_arn}/{prefix}*"]}
    return allow(KEY_ACTIONS[access], key_arn, conditions={"StringLike": context})


def check_key(key: str, path: Path = ("key",), *, prefix: bool = False) -> Mistakes:
    """Whether a key, or a prefix, lies in one cluster's part of the bucket (``WK-BKT-008``)."""
    found = Mistakes()
    parts = key.split("/")
    depth = 3 if prefix else 4  # root, cluster, and what is behind the last slash; an object lies in a folder
    valid = len(parts) >= depth and parts[0] == ROOT and all(map(_PART.fullmatch, parts[:-1]))
    if not valid or (parts[-1] != "" if prefix else not _PART.fullmatch(parts[-1])):
        form = f"{ROOT}/<cluster>/" if prefix else f"{ROOT}/<cluster>/<folder>/<name>"
        kind = "a prefix of one cluster" if prefix else "the key of one object of a cluster"
        found.add(KEY_OF_CLUSTER, path, f"is not {kind}", f'write it as "{form}"', key)
    return found


def check_key_part(part: str, path: Path) -> Mistakes:
    """Whether a name can be a part of a key (``WK-BKT-009``)."""
    found = Mistakes()
    if not _PART.fullmatch(part):
        found.add(KEY_PART, path, "a part of a key has letters, digits, dots, hyphens and underscores, and must not "
                  "begin with a dot", "correct the value", part)  # fmt: skip
    return found


def check_service_account(name: str, path: Path = ("service_account",)) -> Mistakes:
    """Whether a credential may be kept for nodes: never an administrator's (``WK-BKT-009``, ``WK-BKT-010``)."""
    found = check_key_part(name, path)
    if name.lower().removesuffix(".conf") in ADMIN_NAMES:
        found.add(ADMIN_CREDENTIAL, path, "every node that reads this could administer the cluster",
                  'use a service account with the needed permissions, such as "flannel"', name)  # fmt: skip
    return found


def _raise(found: Mistakes) -> None:
    if found:
        raise ValueError("; ".join(mistake.text() for mistake in found))
