"""What must hold for the identity of a service account: its name, the provider it trusts, its way to a role. Pure."""

import re
from typing import Any

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from .addon_policies import issuer_host

IRSA_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html"
SUBJECT = Rule("WK-ADD-020", "A service account role names exactly one service account, without wildcards.", IRSA_PAGE)
OIDC = Rule("WK-ADD-021", "A service account role must trust the OIDC provider of the cluster's own issuer.", IRSA_PAGE)
IDENTITY = Rule(
    "WK-ADD-022",
    "A service account gets its role through irsa or pod_identity.",
    "https://docs.aws.amazon.com/eks/latest/userguide/service-accounts.html",
)

IDENTITIES = ("irsa", "pod_identity")
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_PROVIDER = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:oidc-provider/(?P<host>.+)")
_ISSUER = re.compile(r"https://[^\s/]+(/[^\s]*)?")


def check_subject(namespace: str, service_account: str) -> Mistakes:
    """Whether these name exactly one service account (``WK-ADD-020``)."""
    found = Mistakes()
    for name, value, form in (("namespace", namespace, _LABEL), ("service_account", service_account, _SUBDOMAIN)):
        if "*" in value or "?" in value:
            found.add(SUBJECT, (name,), "a wildcard would give the role to other service accounts too",
                      "write the exact name", value)  # fmt: skip
        elif not form.fullmatch(value):
            found.add(SUBJECT, (name,), "a Kubernetes name has lower-case letters, digits and hyphens",
                      f'write a name such as "{"kube-system" if name == "namespace" else "ebs-csi-controller-sa"}"',
                      value)  # fmt: skip
    return found


def check_oidc(provider_arn: Any, issuer: Any, path: Path = ()) -> Mistakes:
    """Whether provider and issuer are there and belong together; what is not known yet is not judged (WK-ADD-021)."""
    found = Mistakes()
    parts: re.Match[str] | None = None
    if provider_arn is None:
        found.add(OIDC, (*path, "oidc_provider_arn"), "a service account role must trust the cluster's OIDC provider",
                  "create an aws.iam.OpenIdConnectProvider for the cluster's issuer and write its ARN")  # fmt: skip
    elif isinstance(provider_arn, str):
        parts = _PROVIDER.fullmatch(provider_arn)
        if parts is None:
            found.add(OIDC, (*path, "oidc_provider_arn"), "is not the ARN of an OIDC provider",
                      'write it as "arn:aws:iam::111122223333:oidc-provider/oidc.eks.…"', provider_arn)  # fmt: skip
    if issuer is None:
        found.add(
            OIDC, (*path, "oidc_issuer"), "the trust policy needs the cluster's issuer", "write EksCluster.oidc_issuer"
        )
    elif isinstance(issuer, str):
        if not _ISSUER.fullmatch(issuer):
            found.add(OIDC, (*path, "oidc_issuer"), "the issuer must be an https URL",
                      'write it as "https://oidc.eks.<region>.amazonaws.com/id/…"', issuer)  # fmt: skip
        elif parts is not None and parts["host"] != issuer_host(issuer):
            found.add(
                OIDC,
                (*path, "oidc_issuer"),
                "is not the issuer of the OIDC provider, so it would accept no token",
                f'write "https://{parts["host"]}", or use the OIDC provider of this issuer',
                issuer,
            )
    return found


def check_identity(identity: str, path: Path = ("identity",)) -> Mistakes:
    """Whether this is a way in which service accounts get roles (``WK-ADD-022``)."""
    found = Mistakes()
    if identity not in IDENTITIES:
        guess = nearest(identity, IDENTITIES)
        found.add(IDENTITY, path, f"a service account gets its role through {one_of(IDENTITIES)}",
                  f'write "{guess}"' if guess else 'write "irsa"', identity)  # fmt: skip
    return found
