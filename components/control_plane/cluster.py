"""The cluster that a control plane runs, as kubeadm's documents are rendered from it. Pure."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from ..kubeadm.config import (
    AuditLog,
    ClusterConfig,
    ExtraArguments,
    KmsPlugin,
    KubeletSettings,
    PodSecurity,
    ServiceAccountIssuer,
)
from ..network.ports import Ports
from ..tables.regions import REGIONS
from ..zone.names import api_name


class ClusterLike(Protocol):
    """What kubeadm needs of a control plane, in the arguments and in the settings."""

    @property
    def cluster_name(self) -> str: ...  # noqa: D102
    @property
    def region(self) -> str: ...  # noqa: D102
    @property
    def kubernetes_version(self) -> str: ...  # noqa: D102
    @property
    def pod_cidr(self) -> str: ...  # noqa: D102
    @property
    def service_cidr(self) -> str: ...  # noqa: D102
    @property
    def node_cidr_mask(self) -> int: ...  # noqa: D102
    @property
    def cluster_domain(self) -> str: ...  # noqa: D102
    @property
    def api_server_names(self) -> Sequence[str]: ...  # noqa: D102
    @property
    def image_repository(self) -> str | None: ...  # noqa: D102
    @property
    def encryption_algorithm(self) -> str: ...  # noqa: D102
    @property
    def anonymous_access(self) -> str: ...  # noqa: D102
    @property
    def audit(self) -> AuditLog | None: ...  # noqa: D102
    @property
    def secrets_encryption(self) -> str: ...  # noqa: D102
    @property
    def kms_plugin_image(self) -> str | None: ...  # noqa: D102
    @property
    def pod_security(self) -> PodSecurity: ...  # noqa: D102
    @property
    def feature_gates(self) -> Mapping[str, bool]: ...  # noqa: D102
    @property
    def extra_arguments(self) -> ExtraArguments: ...  # noqa: D102
    @property
    def kubelet(self) -> KubeletSettings: ...  # noqa: D102


def endpoint(cluster_name: str) -> str:
    """The API of a cluster as ``host:port``.

    >>> endpoint("dev.example.com")
    'api.dev.example.com:6443'
    """
    return f"{api_name(cluster_name)}:{Ports.api}"


def token_parameter(cluster_name: str) -> str:
    """Name of the SSM parameter that holds a cluster's join token.

    >>> token_parameter("dev.example.com")
    '/winkube/dev.example.com/join-token'
    """
    return f"/winkube/{cluster_name}/join-token"


def cluster_config(
    plane: ClusterLike,
    *,
    issuer: ServiceAccountIssuer | None = None,
    kms_key_arn: str | None = None,
    api_names: Sequence[str] = (),
) -> ClusterConfig:
    """The cluster's configuration; what other resources compute comes beside.

    :param kms_key_arn: of the Kubernetes secrets; None while it is not known, for a check of all the rest.
    :param api_names: of the load balancers themselves, for the API server's certificate.
    """
    kms = None
    if plane.secrets_encryption == "kms":
        key = kms_key_arn or _placeholder_key(plane.region)
        kms = KmsPlugin(image=plane.kms_plugin_image or "", key_arn=key, region=plane.region)
    return ClusterConfig(
        cluster_name=plane.cluster_name,
        kubernetes_version=plane.kubernetes_version,
        endpoint=endpoint(plane.cluster_name),
        pod_cidr=plane.pod_cidr,
        service_cidr=plane.service_cidr,
        node_cidr_mask=plane.node_cidr_mask,
        cluster_domain=plane.cluster_domain,
        api_server_names=[*plane.api_server_names, *api_names],
        image_repository=plane.image_repository,
        encryption_algorithm=plane.encryption_algorithm,
        service_account_issuer=issuer,
        anonymous_access=plane.anonymous_access,
        audit=plane.audit,
        secrets_encryption=plane.secrets_encryption,
        kms=kms,
        pod_security=plane.pod_security,
        feature_gates=plane.feature_gates,
        extra_arguments=plane.extra_arguments,
        kubelet=plane.kubelet,
    )


def _placeholder_key(region: str) -> str:
    partition = REGIONS[region].partition if region in REGIONS else "aws"
    return f"arn:{partition}:kms:{region}:000000000000:key/computed"
