"""kubeadm's own documents: what ``kubeadm init`` and ``kubeadm join`` are given. Pure.

Only ``kubeadm.k8s.io/v1beta4`` is written: 1.37 reads nothing older. What only a node knows stays a placeholder
(:mod:`.paths`). Source: https://kubernetes.io/docs/reference/config-api/kubeadm-config.v1beta4/.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from . import api_server, paths
from .config import ClusterConfig, NodeConfig
from .kube_proxy import linux_kube_proxy_configuration
from .kubelet import (
    credential_provider_config,
    kubelet_patch,
    linux_kubelet_arguments,
    linux_kubelet_configuration,
    taint_document,
)
from .rendering import Document

KUBEADM_API = "kubeadm.k8s.io/v1beta4"
API_PORT = 6443
TOKEN_TTL = "1h0m0s"  # noqa: S105 (a duration)
"""The token of ``kubeadm init``; the agent makes the next one before it ends."""

TIMEOUTS: Mapping[str, str] = {
    "controlPlaneComponentHealthCheck": "6m0s",
    "discovery": "10m0s",
    "etcdAPICall": "5m0s",
    "kubeletHealthCheck": "4m0s",
    # A load balancer takes three to five minutes to open for a new target, and init of 1.35 and 1.36 goes through it.
    "kubernetesAPICall": "8m0s",
    "tlsBootstrap": "10m0s",
}


def init_documents(cluster: ClusterConfig, node: NodeConfig | None = None) -> Sequence[Document]:
    """All documents of ``kubeadm init --config``: init, cluster, kubelet, kube-proxy."""
    node = node or NodeConfig()
    return (
        {
            "apiVersion": KUBEADM_API,
            "kind": "InitConfiguration",
            "bootstrapTokens": [
                {
                    # Without a token: kubeadm makes one that nobody reads. Nodes join by those of the agent.
                    "description": "winkube: joins of the first hour",
                    "ttl": TOKEN_TTL,
                    # Not "signing": nothing reads cluster-info, nodes find the cluster by file.
                    "usages": ["authentication"],
                    "groups": ["system:bootstrappers:kubeadm:default-node-token"],
                }
            ],
            "nodeRegistration": _registration(node),
            "localAPIEndpoint": _local_endpoint(),
            **_patches(node),
            "timeouts": dict(TIMEOUTS),
        },
        cluster_configuration(cluster),
        linux_kubelet_configuration(cluster),
        linux_kube_proxy_configuration(cluster),
    )


def join_document(node: NodeConfig | None = None, *, control_plane: bool = False) -> Document:
    """The JoinConfiguration of a Linux node: by file discovery, with the token in the file.

    There is no ``certificateKey``: the PKI lies on the machine before the join.
    """
    node = node or NodeConfig()
    return {
        "apiVersion": KUBEADM_API,
        "kind": "JoinConfiguration",
        "nodeRegistration": _registration(node),
        "caCertPath": paths.CLUSTER_CA,
        "discovery": {"file": {"kubeConfigPath": paths.DISCOVERY}},
        **({"controlPlane": {"localAPIEndpoint": _local_endpoint()}} if control_plane else {}),
        **_patches(node),
        "timeouts": dict(TIMEOUTS),
    }


def cluster_configuration(cluster: ClusterConfig) -> Document:
    """The ClusterConfiguration, with every flag of the control plane."""
    extra = cluster.extra_arguments
    validity = f"{cluster.certificate_validity_days * 24}h0m0s"
    return {
        "apiVersion": KUBEADM_API,
        "kind": "ClusterConfiguration",
        "clusterName": cluster.cluster_name,
        "kubernetesVersion": cluster.release.tag,
        "controlPlaneEndpoint": cluster.endpoint,
        "certificatesDir": paths.PKI,
        "certificateValidityPeriod": validity,
        "encryptionAlgorithm": cluster.encryption_algorithm,
        **({"imageRepository": cluster.image_repository} if cluster.image_repository else {}),
        "networking": {
            "podSubnet": cluster.pod_cidr,
            "serviceSubnet": cluster.service_cidr,
            "dnsDomain": cluster.cluster_domain,
        },
        "apiServer": {
            # Names of the node itself beside those of the cluster: cloud controllers ask the API beside them.
            "certSANs": [*dict.fromkeys([cluster.host, "localhost", "127.0.0.1", *cluster.api_server_names])],
            "extraArgs": arguments({**api_server.api_server_arguments(cluster), **extra.api_server}),
            **api_server.volumes(cluster),
        },
        "controllerManager": {
            "extraArgs": arguments({**controller_manager_arguments(cluster), **extra.controller_manager})
        },
        "scheduler": {"extraArgs": arguments({**scheduler_arguments(cluster), **extra.scheduler})},
        "etcd": {
            "local": {"dataDir": paths.ETCD_DATA, "extraArgs": arguments({**etcd_arguments(cluster), **extra.etcd})}
        },
        "dns": {},
        "proxy": {},
    }


def controller_manager_arguments(cluster: ClusterConfig) -> dict[str, str]:
    """Flags of kube-controller-manager that kubeadm does not set itself."""
    return {
        "cloud-provider": "external",
        "node-cidr-mask-size": str(cluster.node_cidr_mask),
        "profiling": "false",
        # CIS 1.3.1: the default keeps 12,500 pods that have ended.
        "terminated-pod-gc-threshold": "1000",
        "tls-min-version": api_server.TLS_MINIMUM,
        "tls-cipher-suites": ",".join(api_server.TLS_CIPHERS),
        **api_server.feature_gates(cluster),
    }


def scheduler_arguments(cluster: ClusterConfig) -> dict[str, str]:
    """Flags of kube-scheduler that kubeadm does not set itself."""
    return {
        "profiling": "false",
        "tls-min-version": api_server.TLS_MINIMUM,
        "tls-cipher-suites": ",".join(api_server.TLS_CIPHERS),
        **api_server.feature_gates(cluster),
    }


def etcd_arguments(cluster: ClusterConfig) -> dict[str, str]:
    """Flags of etcd that kubeadm does not set itself."""
    return {
        "cipher-suites": ",".join(api_server.TLS_CIPHERS),
        "quota-backend-bytes": str(cluster.etcd_quota_gib * 1024**3),
    }


def arguments(flags: Mapping[str, str]) -> list[dict[str, str]]:
    """Flags as v1beta4 writes them: a list in which a name may stand twice; sorted, so that a text stays the same.

    >>> arguments({"b": "1", "a": "2"})
    [{'name': 'a', 'value': '2'}, {'name': 'b', 'value': '1'}]
    """
    return [{"name": name, "value": value} for name, value in sorted(flags.items())]


def _registration(node: NodeConfig) -> dict[str, Any]:
    return {
        "name": paths.INSTANCE_ID,
        "criSocket": paths.SOCKETS[node.runtime],
        # Absent, kubeadm gives a control plane its taint; an empty list would take it away.
        **({"taints": [taint_document(taint) for taint in node.taints]} if node.taints is not None else {}),
        "kubeletExtraArgs": arguments(linux_kubelet_arguments(node)),
        **({"ignorePreflightErrors": list(node.ignored_preflight_errors)} if node.ignored_preflight_errors else {}),
        "imagePullPolicy": "IfNotPresent",
        "imagePullSerial": False,
    }


def _local_endpoint() -> dict[str, Any]:
    return {"advertiseAddress": paths.PRIVATE_IP, "bindPort": API_PORT}


def _patches(node: NodeConfig) -> dict[str, Any]:
    return {"patches": {"directory": paths.PATCHES}} if kubelet_patch(node.kubelet) else {}


def node_files(node: NodeConfig) -> dict[str, Document]:
    """Files of a Linux node that its join needs: path to document; without secrets."""
    files: dict[str, Document] = {}
    if (patch := kubelet_patch(node.kubelet)) is not None:
        files[paths.KUBELET_PATCH] = patch
    if node.ecr_credentials:
        files[paths.CREDENTIAL_PROVIDER_CONFIG] = credential_provider_config()
    return files
