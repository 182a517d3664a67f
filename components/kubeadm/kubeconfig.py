"""Kubeconfigs: how a node finds its cluster, and how a person does. Pure text of plain data."""

from base64 import b64encode
from collections.abc import Mapping

from . import paths
from .rendering import Document


def discovery_kubeconfig(
    cluster_name: str, endpoint: str, certificate_authority: str | None, token: str = paths.JOIN_TOKEN
) -> Document:
    """By which ``kubeadm join`` finds the cluster, and a Windows kubelet asks for its first certificate.

    The token is the user's own: the cluster answers nobody without credentials, so a file without them, or
    ``tlsBootstrapToken`` beside it, would wait for ever. ``endpoint`` is ``host:port``.

    :param certificate_authority: as PEM; None: the file that lies on the node before it joins, for a control plane.
    """
    return _kubeconfig(cluster_name, endpoint, certificate_authority, "winkube-join", {"token": token})


def admin_kubeconfig(
    cluster_name: str,
    endpoint: str,
    certificate_authority: str,
    client_certificate: str,
    client_key: str,
    user: str = "winkube-admin",
) -> Document:
    """For a person: certificate and key are PEM and stand in the file, which is therefore a secret."""
    user_fields = {"client-certificate-data": _data(client_certificate), "client-key-data": _data(client_key)}
    return _kubeconfig(cluster_name, endpoint, certificate_authority, user, user_fields)


def _kubeconfig(
    cluster_name: str, endpoint: str, certificate_authority: str | None, user: str, user_fields: Mapping[str, str]
) -> Document:
    context = f"{user}@{cluster_name}"
    trusted = (
        {"certificate-authority": paths.CLUSTER_CA}
        if certificate_authority is None
        else {"certificate-authority-data": _data(certificate_authority)}
    )
    server = {"server": f"https://{endpoint}", **trusted}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": cluster_name, "cluster": server}],
        "contexts": [{"name": context, "context": {"cluster": cluster_name, "user": user}}],
        "current-context": context,
        "preferences": {},
        "users": [{"name": user, "user": dict(user_fields)}],
    }


def _data(pem: str) -> str:
    return b64encode(pem.encode()).decode()
