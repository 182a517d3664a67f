"""The certificate authorities of a self-managed cluster, made before any of its nodes.

- three authorities, as kubeadm has them: the cluster's, the front proxy's, etcd's;
- the RSA key pair that signs ServiceAccount tokens (RS256, the one that IAM takes);
- the key by which Kubernetes secrets are encrypted in etcd;
- an administrator's client certificate of short life, in a group that RBAC can take its rights from.

All private keys are secrets of the Pulumi state; nothing here leaves it.
Source: https://kubernetes.io/docs/setup/best-practices/certificates/.
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

import pulumi
import pulumi_tls as tls

from ..core.component import Component
from ..core.mistakes import Mistakes
from .control_plane_rules import check_authorities

AUTHORITIES: Mapping[str, tuple[str, str]] = {
    "ca": ("kubernetes", "ca"),
    "front-proxy-ca": ("kubernetes-front-proxy-ca", "front-proxy-ca"),
    "etcd-ca": ("etcd-ca", "etcd/ca"),
}
"""Name of an authority to its common name, and to its file below kubeadm's folder, without an end."""
AUTHORITY_USES = ("cert_signing", "crl_signing", "digital_signature", "key_encipherment")
AUTHORITY_HOURS = 10 * 365 * 24
"""Ten years, as kubeadm's own: nothing renews an authority, a cluster that gets this old is rebuilt."""
ADMIN_NAME = "winkube-admin"
ADMIN_GROUP = "kubeadm:cluster-admins"
"""Bound to cluster-admin by RBAC, so that it can be taken away; ``system:masters`` could not."""


@dataclass(frozen=True, kw_only=True)
class ClusterAuthoritiesArgs:
    """What the authorities of a cluster are made from."""

    encryption_algorithm: str = "ECDSA-P256"
    """Of all keys but the one of the ServiceAccounts: ``ECDSA-P256`` (default), ``ECDSA-P384``, ``RSA-2048``,
    ``RSA-3072`` or ``RSA-4096``. It cannot be changed on a cluster that lives."""
    admin_certificate_hours: int = 24
    """How long the administrator's certificate is valid, in hours; 24 by default. Each deployment in its last third
    renews it."""
    deletion_protection: bool = False
    """Whether the keys refuse to be deleted: with them goes every certificate of the cluster."""


@dataclass(frozen=True, slots=True)
class _Pair:
    certificate: pulumi.Output[str]
    key: pulumi.Output[str]


def check_authorities_args(args: ClusterAuthoritiesArgs) -> Mistakes:
    """Every mistake in the arguments (``WK-CP-010``, ``WK-CP-011``)."""
    return check_authorities(args.encryption_algorithm, args.admin_certificate_hours)


class ClusterAuthorities(Component):
    """The certificate authorities and keys of a cluster, and an administrator's certificate.

    :raises WinkubeError: ``WK-CP-010``, ``WK-CP-011``.
    """

    certificate_authority: pulumi.Output[str]
    """The cluster's authority as PEM: no secret."""
    service_account_public_key: pulumi.Output[str]
    """The public key of ServiceAccount tokens as PEM: no secret."""
    files: Mapping[str, pulumi.Output[str]]
    """File below kubeadm's folder to its content, secret where it holds a private key: ``ca.crt``, ``ca.key``, …"""
    secretbox_key: pulumi.Output[str]
    """32 random bytes in base64, for the encryption of Kubernetes secrets: a secret."""
    admin_certificate: pulumi.Output[str]
    """The administrator's certificate as PEM."""
    admin_key: pulumi.Output[str]
    """The administrator's private key as PEM: a secret."""

    def __init__(self, name: str, args: ClusterAuthoritiesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_authorities_args(args))
        self._name, self._args = name, args
        pairs = {authority: self._create_authority(authority) for authority in AUTHORITIES}
        accounts = self._create_key("sa", "RSA-2048")
        self.certificate_authority = pairs["ca"].certificate
        self.service_account_public_key = accounts.public_key_pem
        files: dict[str, pulumi.Output[str]] = {
            "sa.key": pulumi.Output.secret(accounts.private_key_pem), "sa.pub": accounts.public_key_pem,
        }  # fmt: skip
        for authority, (_, file) in AUTHORITIES.items():
            files |= {f"{file}.crt": pairs[authority].certificate, f"{file}.key": pairs[authority].key}
        self.files = dict(sorted(files.items()))
        self.secretbox_key = self._create_secretbox_key()
        self._create_admin(pairs["ca"])
        self.register_outputs({
            "certificateAuthority": self.certificate_authority,
            "serviceAccountPublicKey": self.service_account_public_key,
        })  # fmt: skip

    def _create_key(self, use: str, algorithm: str) -> tls.PrivateKey:
        kind, _, size = algorithm.partition("-")
        return tls.PrivateKey(
            f"{self._name}-{use}-key",
            algorithm=kind,
            ecdsa_curve=size if kind == "ECDSA" else None,
            rsa_bits=int(size) if kind == "RSA" else None,
            opts=self.child(protect=self._args.deletion_protection or None),
        )

    def _create_authority(self, use: str) -> _Pair:
        key = self._create_key(use, self._args.encryption_algorithm)
        secret = pulumi.Output.secret(key.private_key_pem)
        certificate = tls.SelfSignedCert(
            f"{self._name}-{use}",
            private_key_pem=secret,
            subject={"common_name": AUTHORITIES[use][0]},
            is_ca_certificate=True,
            set_subject_key_id=True,
            allowed_uses=list(AUTHORITY_USES),
            validity_period_hours=AUTHORITY_HOURS,
            opts=self.child(protect=self._args.deletion_protection or None),
        )
        return _Pair(certificate.cert_pem, secret)

    def _create_secretbox_key(self) -> pulumi.Output[str]:
        # A private key is random and stays the same; its hash has the 32 bytes that secretbox wants.
        key = self._create_key("secrets", "ED25519")
        return pulumi.Output.secret(key.private_key_pem).apply(secretbox_key)

    def _create_admin(self, authority: _Pair) -> None:
        hours = self._args.admin_certificate_hours
        key = self._create_key("admin", self._args.encryption_algorithm)
        self.admin_key = pulumi.Output.secret(key.private_key_pem)
        request = tls.CertRequest(
            f"{self._name}-admin-request",
            private_key_pem=self.admin_key,
            subject={"common_name": ADMIN_NAME, "organization": ADMIN_GROUP},
            opts=self.child(),
        )
        self.admin_certificate = tls.LocallySignedCert(
            f"{self._name}-admin",
            cert_request_pem=request.cert_request_pem,
            ca_private_key_pem=authority.key,
            ca_cert_pem=authority.certificate,
            allowed_uses=["client_auth", "digital_signature", "key_encipherment"],
            validity_period_hours=hours,
            early_renewal_hours=hours // 3,
            opts=self.child(),
        ).cert_pem


def secretbox_key(private_key_pem: str) -> str:
    """32 bytes in base64 that are as random as the key."""
    return b64encode(sha256(private_key_pem.encode()).digest()).decode()
