"""What the nodes of a control plane are told, and what lies in the state bucket for them. Pure.

One document per slot, the same for every machine that ever stands in it; rendered from kubeadm's documents
(:mod:`..kubeadm`) and what a machine needs (:mod:`..node_agent`). It has no secret in it: those are objects of the
bucket that the control plane's role alone can read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from ..core.errors import WinkubeError
from ..ec2.proxy import Proxy
from ..instance_groups.images import IMAGES
from ..kubeadm import paths
from ..kubeadm.api_server import EncryptionKey, api_server_files, encryption_configuration
from ..kubeadm.config import ClusterConfig, NodeConfig, ServiceAccountIssuer
from ..kubeadm.kubeadm_documents import init_documents, join_document, node_files
from ..kubeadm.kubeconfig import discovery_kubeconfig
from ..kubeadm.rendering import render
from ..node_agent.loader import LoaderSettings, NodeProxy
from ..node_agent.loader import user_data as loader
from ..node_agent.node_document import (
    LinuxNode,
    NodeAuthorities,
    NodeBackup,
    NodeCluster,
    NodeDocument,
    NodeKubeadm,
    NodeSecret,
    NodeToken,
    check_document,
    linux_node_document,
)
from ..node_agent.node_files import NodeFile
from ..state_bucket.layout import ClusterLayout
from ..tables.instance_types import architecture
from ..tables.releases import release
from .args import LinuxControlPlaneArgs
from .cluster import cluster_config
from .key_set import key_set_url
from .slots import GROUP

SECRETBOX_KEY = "key1"
"""Stands in front of every value in etcd; a rotation puts a key of another name before it."""
ENCRYPTION_FILE = "encryption.yaml"
AUTHORITY_FILES = (
    "ca.crt", "ca.key", "etcd/ca.crt", "etcd/ca.key", "front-proxy-ca.crt", "front-proxy-ca.key", "sa.key", "sa.pub",
)  # fmt: skip
"""Files below kubeadm's folder that all nodes of a control plane share."""
PUBLISHED_CERTIFICATE, PUBLISHED_KUBECONFIG = "ca.crt", "admin.conf"
"""What the nodes put into the bucket for programs, where they make the authorities."""
NODE_SECRETBOX_KEY = "${SECRETBOX_KEY}"
"""Stands for the key of the Kubernetes secrets where the nodes make it."""
ETCD_VOLUME_SCRIPT = "/opt/winkube/etcd-volume.sh"
ETCD_VOLUME_SERVICE = "winkube-etcd-volume.service"
_ETCD_VOLUME_UNIT = f"""\
[Unit]
Description=Volume of etcd
Before=kubelet.service
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh {ETCD_VOLUME_SCRIPT}
[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True, kw_only=True)
class ClusterFacts:
    """What other resources compute and the documents need."""

    bucket: str
    certificate_authority: str | None
    """None where the nodes make it."""
    token_key_arn: str
    secrets_kms_key_arn: str
    issuer: str | None = None
    api_names: Sequence[str] = ()
    """Names of the load balancers themselves, for the API server's certificate."""


@dataclass(frozen=True, slots=True)
class SecretFile:
    """A file of the authorities on a node, and the object that it comes from."""

    file: str
    """Its name in the bucket."""
    path: str
    mode: int


def pki_files(files: Sequence[str]) -> tuple[SecretFile, ...]:
    """Files below kubeadm's folder, in the bucket under one name each.

    >>> pki_files(["etcd/ca.key"])[0].file
    'etcd-ca.key'
    """
    return tuple(
        SecretFile(file.replace("/", "-"), f"{paths.PKI}/{file}", 0o600 if file.endswith(".key") else 0o644)
        for file in files
    )


def encryption_file() -> SecretFile:
    """The file with the key of the Kubernetes secrets, for ``secretbox``."""
    return SecretFile(ENCRYPTION_FILE, paths.ENCRYPTION, 0o600)


def encryption_text(args: LinuxControlPlaneArgs, key: str) -> str:
    """The content of that file: a secret."""
    return render(encryption_configuration(cluster_config(args), [EncryptionKey(name=SECRETBOX_KEY, secret=key)]))


def issuer_settings(issuer: str | None) -> ServiceAccountIssuer | None:
    """The issuer as the API servers are told of it."""
    return ServiceAccountIssuer(issuer=issuer, jwks_uri=key_set_url(issuer)) if issuer else None


def node_document(
    args: LinuxControlPlaneArgs, facts: ClusterFacts, slot: str, slots: Sequence[str], secrets: Sequence[SecretFile]
) -> NodeDocument:
    """What the machine in one slot is told.

    :raises WinkubeError: for what the agent could not work with (``WK-ART-013`` to ``WK-ART-019``).
    """
    layout = ClusterLayout(args.cluster_name)
    cluster = cluster_config(
        args, issuer=issuer_settings(facts.issuer), kms_key_arn=facts.secrets_kms_key_arn, api_names=facts.api_names
    )
    node = NodeConfig(runtime=args.runtime)
    keep = args.backup_retention
    made = linux_node_document(
        LinuxNode(
            role="control_plane",
            group=GROUP,
            slot=slot,
            slots=list(slots),
            region=args.region,
            minor=args.kubernetes_version,
            architecture=architecture(args.instance_types[0]) or "x86_64",
            runtime="cri-o" if args.runtime == "cri-o" else "containerd",
            cluster=NodeCluster(
                name=args.cluster_name,
                kubernetes_version=cluster.release.patch,
                endpoint=cluster.endpoint,
                incarnation=args.incarnation,
                pod_cidr=args.pod_cidr,
                service_cidr=args.service_cidr,
            ),
            bucket=facts.bucket,
            prefix=layout.prefix,
            token=NodeToken(parameter=args.token_parameter, key_arn=facts.token_key_arn),
            kubeadm=_kubeadm(cluster, node, facts),
            files=_files(cluster, node),
            secrets=[_secret(args, secret) for secret in secrets],
            authorities=NodeAuthorities(
                prefix=layout.pki_prefix(args.incarnation),
                key_arn=facts.token_key_arn,
                admin_seconds=args.admin_certificate_hours * 3600,
            )
            if args.pki == "node"
            else None,
            images=control_plane_images(args),
            pause_image=_pause_image(args),
            proxy=node_proxy(args.proxy),
            mirror=args.mirror,
            registry_mirrors=args.registry_mirrors,
            artefact_digests=args.artefact_digests,
            backup=NodeBackup(
                interval_seconds=args.backup_interval_minutes * 60,
                keep_last=keep.keep_last,
                keep_hourly=keep.keep_hourly,
                keep_daily=keep.keep_daily,
            ),
        )
    )
    if args.etcd_volume_size_gib is not None:
        made = _with_etcd_volume(made)
    if found := check_document(made):
        raise WinkubeError(f"the node document of {slot} cannot be used", found)
    return made


def user_data(args: LinuxControlPlaneArgs, bucket: str, agent_key: str, document_key: str) -> str:
    """The user data of a slot, as cloud-init reads it."""
    return loader(
        LoaderSettings(
            region=args.region,
            bucket=bucket,
            agent_key=agent_key,
            document_key=document_key,
            proxy=node_proxy(args.proxy),
        )
    )


def control_plane_images(args: LinuxControlPlaneArgs) -> tuple[str, ...]:
    """The images that kubeadm starts, pulled while the node waits for its turn."""
    row = release(args.kubernetes_version)
    registry = args.image_repository or "registry.k8s.io"
    programs = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy")
    own = tuple(f"{registry}/{program}:{row.tag}" for program in programs)
    plugin = (args.kms_plugin_image,) if args.secrets_encryption == "kms" and args.kms_plugin_image else ()
    # kubeadm asks for it before it begins; in a repository of one's own it lies beside the others.
    dns = f"{registry}/coredns" if args.image_repository else f"{registry}/coredns/coredns"
    return (*own, f"{registry}/etcd:{row.etcd_image_tag}", f"{dns}:{row.coredns_tag}", *plugin)


def image_parameter(args: LinuxControlPlaneArgs) -> str:
    """The public SSM parameter with the newest image of the nodes' Linux."""
    return IMAGES[args.linux].ami_parameter(architecture(args.instance_types[0]) or "x86_64")


def root_device(linux: str) -> str:
    """The device of the root volume."""
    return IMAGES[linux].root_device


def node_proxy(proxy: Proxy | None) -> NodeProxy | None:
    """The proxy as the node agent is told of it."""
    return None if proxy is None else NodeProxy(https=proxy.https, http=proxy.http, no_proxy=proxy.no_proxy)


def _secret(args: LinuxControlPlaneArgs, secret: SecretFile) -> NodeSecret:
    made = args.pki == "node" and secret.file == ENCRYPTION_FILE
    return NodeSecret(
        path=secret.path,
        key=ClusterLayout(args.cluster_name).pki(secret.file, args.incarnation),
        mode=secret.mode,
        content=encryption_text(args, NODE_SECRETBOX_KEY) if made else None,
    )


def _kubeadm(cluster: ClusterConfig, node: NodeConfig, facts: ClusterFacts) -> NodeKubeadm:
    discovery = discovery_kubeconfig(cluster.cluster_name, cluster.endpoint, facts.certificate_authority)
    return NodeKubeadm(
        init=render(init_documents(cluster, node)),
        join=render(join_document(node, control_plane=True)),
        discovery=render(discovery),
    )


def _files(cluster: ClusterConfig, node: NodeConfig) -> list[NodeFile]:
    documents: Mapping[str, object] = {**api_server_files(cluster), **node_files(node)}
    return [NodeFile(path, render(text), 0o600) for path, text in documents.items()]  # pyright: ignore[reportArgumentType]


def _pause_image(args: LinuxControlPlaneArgs) -> str | None:
    if args.image_repository is None:
        return None
    return f"{args.image_repository}/{release(args.kubernetes_version).pause_image.rpartition('/')[2]}"


def _with_etcd_volume(made: NodeDocument) -> NodeDocument:
    files = (
        NodeFile(ETCD_VOLUME_SCRIPT, etcd_volume_script(), 0o700),
        NodeFile(f"/etc/systemd/system/{ETCD_VOLUME_SERVICE}", _ETCD_VOLUME_UNIT),
    )
    # First: what is started next must not write below the place where the volume will be.
    return replace(made, files=(*made.files, *files), services=(ETCD_VOLUME_SERVICE, *made.services))


@cache
def etcd_volume_script() -> str:
    """The script that finds, formats and mounts the volume of etcd."""
    return Path(__file__).with_name("etcd_volume.sh").read_text(encoding="utf-8")
