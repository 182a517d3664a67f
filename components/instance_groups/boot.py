"""What the nodes of a group start with: their document, and the user data that leads to it. Pure.

One function for each system, behind one table. The document lies in the bucket under its digest, and the user data
names the digests of code and document: whatever changes in them changes the launch template, and nothing else does.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from ..core.mistakes import Mistakes
from ..ec2.proxy import Proxy
from ..kubeadm.config import NodeConfig
from ..kubeadm.kubeadm_documents import join_document, node_files
from ..kubeadm.kubeconfig import discovery_kubeconfig
from ..kubeadm.rendering import render
from ..node_agent.loader import LoaderSettings, NodeProxy, check_loader, user_data
from ..node_agent.node_document import (
    LinuxNode,
    NodeCluster,
    NodeKubeadm,
    NodeToken,
    check_document,
    linux_node_document,
)
from ..node_agent.node_files import NodeFile
from ..tables.artefacts import Runtime
from ..tables.releases import release
from ..windows_boot.containerd import pause_image
from ..windows_boot.user_data import BootSource, check_user_data, windows_user_data
from ..windows_boot.windows_node_document import WindowsNode, check_windows_boot, node_document
from .access import status_prefix
from .between_rules import wants_ecr_credentials, wants_kubelet_log
from .group_args import InstanceGroupArgs
from .join_target import JoinTarget
from .scaling import LAUNCH_HOOK, TERMINATE_HOOK
from .spec import GroupSpec, auto_scaling_group_name

LONGEST_BUCKET = "b" * 63
"""A name of a bucket as long as S3 has them: what is not known before the deployment is taken to be long."""


@dataclass(frozen=True, slots=True)
class Boot:
    """What one group's nodes start with."""

    document: str
    """The node document, as text."""
    document_key: str
    """Where it lies in the bucket."""
    user_data: str
    """User data, as text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BootFacts:
    """What is known of a cluster only when it is there."""

    certificate_authority: str
    """PEM."""
    bucket: str
    """Name of the bucket."""
    token_key_arn: str | None = None
    """ARN of the key of the join token."""


PLACEHOLDER = BootFacts(certificate_authority="-----BEGIN CERTIFICATE-----\n", bucket=LONGEST_BUCKET)
"""Facts by which a group is judged before they are known."""


def boot_of(args: InstanceGroupArgs, spec: GroupSpec, code_key: str, facts: BootFacts) -> Boot:
    """Document and user data of a group; the same for the same arguments.

    :param code_key: where the boot code lies; its last part is its digest.
    """
    document, write = _SYSTEMS[spec.system]
    text = document(args, spec, facts)
    digest = hashlib.sha256(text.encode()).hexdigest()
    key = args.target.layout.node_document(args.name, digest)
    return Boot(text, key, write(_Source(args.target, facts.bucket, code_key, key)))


def check_boot(args: InstanceGroupArgs, spec: GroupSpec, code_key: str) -> Mistakes:
    """What would stop the nodes from booting, with placeholders for unknown values (``WK-WIN``, ``WK-ART``)."""
    target = args.target
    bucket = target.bucket if isinstance(target.bucket, str) else LONGEST_BUCKET
    key = target.layout.node_document(args.name, "0" * 64)
    source = _Source(target, bucket, code_key, key)
    if spec.system == "windows":
        found = check_windows_boot(_windows_node(args, spec, PLACEHOLDER))
        found.take(check_user_data(windows_user_data(_boot_source(source), target.proxy), ("name",)))
        return found
    return check_loader(_loader_settings(source), ("target", "proxy"))


@dataclass(frozen=True, slots=True)
class _Source:
    target: JoinTarget
    bucket: str
    code_key: str
    document_key: str


def windows_node(target: JoinTarget, facts: BootFacts, **own: Any) -> WindowsNode:
    """A Windows node of a cluster; ``own`` is what its group, or its image, says of it."""
    return WindowsNode(
        cluster_name=target.cluster_name,
        kubernetes_version=target.kubernetes_version,
        endpoint=target.endpoint,
        certificate_authority=facts.certificate_authority,
        region=target.region,
        bucket=facts.bucket,
        token_parameter=target.token_parameter,
        pod_cidr=target.pod_cidr,
        service_cidr=target.service_cidr,
        cluster_domain=target.cluster_domain,
        dns_service_ip=target.dns_service_ip,
        pod_network=target.pod_network,
        cloud_provider=target.cloud_provider,
        image_repository=target.image_repository,
        registry_mirrors=target.registry_mirrors,
        mirror=target.mirror,
        artefact_digests=target.artefact_digests,
        proxy=target.proxy,
        **own,
    )


def _windows_node(args: InstanceGroupArgs, spec: GroupSpec, facts: BootFacts) -> WindowsNode:
    target = args.target
    return windows_node(
        target,
        facts,
        group=args.name,
        windows=args.windows or "",
        labels=spec.labels,
        taints=spec.taints,
        kubelet=args.kubelet,
        kubelet_log=wants_kubelet_log(args, target),
        ecr_credentials=wants_ecr_credentials(args, target),
        auto_scaling_group=auto_scaling_group_name(args.name, target.cluster_name),
        launch_hook=LAUNCH_HOOK,
        terminate_hook=TERMINATE_HOOK,
        status_prefix=status_prefix(target.layout, target.incarnation),
        images=args.container_images,
        page_file_mib=args.page_file_mib,
        bitlocker=args.bitlocker,
        drain_seconds=args.drain_seconds,
    )


def _windows_document(args: InstanceGroupArgs, spec: GroupSpec, facts: BootFacts) -> str:
    return node_document(_windows_node(args, spec, facts))


def _boot_source(source: _Source) -> BootSource:
    return BootSource(
        region=source.target.region,
        bucket=source.bucket,
        bundle_key=source.code_key,
        bundle_sha256=source.code_key.rpartition("/")[2],
        document_key=source.document_key,
        document_sha256=source.document_key.rpartition("/")[2].removesuffix(".json"),
    )


def _windows_user_data(source: _Source) -> str:
    return windows_user_data(_boot_source(source), source.target.proxy)


def _linux_document(args: InstanceGroupArgs, spec: GroupSpec, facts: BootFacts) -> str:
    target = args.target
    version = release(target.kubernetes_version)
    node = NodeConfig(
        labels=spec.labels,
        taints=spec.taints,
        kubelet=args.kubelet,
        runtime=args.runtime,
        cloud_provider=target.cloud_provider,
        ecr_credentials=wants_ecr_credentials(args, target),
    )
    document = linux_node_document(
        LinuxNode(
            role="worker",
            group=args.name,
            region=target.region,
            minor=target.kubernetes_version,
            cluster=NodeCluster(
                name=target.cluster_name,
                kubernetes_version=version.patch,
                endpoint=target.endpoint,
                incarnation=target.incarnation,
                pod_cidr=target.pod_cidr,
                service_cidr=target.service_cidr,
            ),
            bucket=facts.bucket,
            prefix=target.layout.prefix,
            token=NodeToken(parameter=target.token_parameter, key_arn=facts.token_key_arn),
            kubeadm=NodeKubeadm(
                join=render(join_document(node)),
                discovery=render(
                    discovery_kubeconfig(target.cluster_name, target.endpoint, facts.certificate_authority)
                ),
            ),
            architecture=spec.architecture,
            runtime=cast("Runtime", args.runtime),
            files=[NodeFile(path, render(text)) for path, text in node_files(node).items()],
            images=args.container_images,
            pause_image=pause_image(version.pause_image, target.image_repository),
            proxy=_node_proxy(target),
            mirror=target.mirror,
            registry_mirrors=target.registry_mirrors,
            artefact_digests=target.artefact_digests,
        )
    )
    if found := check_document(document):
        raise ValueError("; ".join(mistake.text() for mistake in found))
    return document.text()


def _node_proxy(target: JoinTarget) -> NodeProxy | None:
    proxy: Proxy | None = target.proxy
    if proxy is None:
        return None
    direct = (target.endpoint.rpartition(":")[0], f".{target.cluster_domain}", *proxy.no_proxy)
    return NodeProxy(https=proxy.https, http=proxy.http, no_proxy=direct)


def _loader_settings(source: _Source) -> LoaderSettings:
    return LoaderSettings(
        region=source.target.region,
        bucket=source.bucket,
        agent_key=source.code_key,
        document_key=source.document_key,
        proxy=_node_proxy(source.target),
    )


def _linux_user_data(source: _Source) -> str:
    return user_data(_loader_settings(source))


_Document = Callable[[InstanceGroupArgs, GroupSpec, BootFacts], str]
_SYSTEMS: Mapping[str, tuple[_Document, Callable[[_Source], str]]] = {
    "windows": (_windows_document, _windows_user_data),
    "linux": (_linux_document, _linux_user_data),
}
