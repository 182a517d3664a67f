"""An own image of Windows nodes of self-managed clusters: everything that a start would fetch is in it already.

The boot code that nodes run is run here up to where a node begins to be one: features, checked files, containerd,
container images. A group with this image finds each step done, and joins after the first start of Windows.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_aws as aws

from ..core.mistakes import Mistakes
from ..core.tags import check_tags
from ..ec2.instance_rules import check_types
from ..ec2.proxy import powershell_quoted
from ..node_images.builder import ImageArgs, NodeImage
from ..node_images.plan import check_image, powershell_component
from ..roles.policy_documents import Document, allow, document, rendered
from ..state_bucket.layout import key_access
from ..tables.artefacts import DIGEST_UNKNOWN, NodeKind, check_artefacts
from ..tables.releases import check_windows
from ..windows_boot.bundle import ENTRY
from ..windows_boot.windows_node_document import node_document, optional_artefacts
from .access import mirror_access
from .between_rules import known_programs
from .boot import BootFacts, windows_node
from .boot_code import KEPT, BootCode, BootCodeArgs, boot_key, object_tags
from .group_rules import check_edition
from .images import IMAGES
from .join_target import JoinTarget, check_join_target

STATE = r"C:\ProgramData\winkube"
GROUP = "image"
"""The group of the document that the image is made by."""
_SHELL = "-NoLogo -NoProfile -NonInteractive -ExecutionPolicy Bypass"
_WRONG = "an object of the bucket has another digest than its key"


@dataclass(frozen=True, kw_only=True)
class WindowsNodeImageArgs(ImageArgs):
    """The arguments of an AMI for Windows nodes."""

    target: JoinTarget
    """The cluster whose nodes use the image; it decides Kubernetes version, mirrors and digests."""
    boot_code: BootCode | None = None
    """Shared boot code; uploaded with the image by default."""


def check_node_image(args: WindowsNodeImageArgs) -> Mistakes:
    """Every mistake in the arguments."""
    target = args.target
    found = Mistakes()
    found.take(check_join_target(target), "target")
    found.take(check_windows(args.windows, target.kubernetes_version))
    found.take(check_edition(args.edition))
    found.take(check_types(args))
    found.take(check_image(args, IMAGES["2022"].minimum_gib))
    wrong = check_artefacts(
        target.kubernetes_version,
        [NodeKind(os="windows")],
        mirror=target.mirror,
        artefact_digests=target.artefact_digests,
        registry_mirrors=target.registry_mirrors,
        optional=_programs(args),
    )
    found.take((mistake for mistake in wrong if mistake.rule is not DIGEST_UNKNOWN), "target")
    found.take(check_tags(args.tags))
    return found


def _programs(args: WindowsNodeImageArgs) -> tuple[str, ...]:
    log, ecr = known_programs(NodeKind(os="windows"), args.target)
    return optional_artefacts(kubelet_log=log, ecr_credentials=ecr)


def image_document(args: WindowsNodeImageArgs, bucket: str, certificate_authority: str) -> str:
    """The document by which the boot code makes the image: that of a group that nobody joins with."""
    log, ecr = known_programs(NodeKind(os="windows"), args.target)
    node = windows_node(
        args.target,
        BootFacts(certificate_authority=certificate_authority, bucket=bucket),
        group=GROUP,
        windows=args.windows,
        kubelet_log=log,
        ecr_credentials=ecr,
        images=args.cached_images,
        boot_seconds=7200,
    )
    return node_document(node)


def bake_commands(region: str, bucket: str, code_key: str, document_key: str) -> list[str]:
    """Fetches boot code and document by their digests, and runs the one with the other."""
    code, text = code_key.rpartition("/")[2], document_key.rpartition("/")[2].removesuffix(".json")
    folder, data = rf"{STATE}\boot\{code}", rf"{STATE}\documents\{text}.json"
    return [
        rf"New-Item -ItemType Directory -Force -Path '{STATE}\boot', '{STATE}\documents' | Out-Null",
        *_fetch(region, bucket, code_key, code, f"{folder}.zip"),
        *_fetch(region, bucket, document_key, text, data),
        f"Expand-Archive -LiteralPath '{folder}.zip' -DestinationPath '{folder}' -Force",
        rf"& powershell.exe {_SHELL} -File '{folder}\{ENTRY}' -DocumentPath '{data}' -Purpose Image",
        "exit $LASTEXITCODE",
    ]


def _fetch(region: str, bucket: str, key: str, digest: str, path: str) -> list[str]:
    names = f"-BucketName {powershell_quoted(bucket)} -Key {powershell_quoted(key)} -Region {region}"
    return [
        f"Read-S3Object {names} -File '{path}' | Out-Null",
        f"if ((Get-FileHash -LiteralPath '{path}' -Algorithm SHA256).Hash -ne '{digest}') {{ throw '{_WRONG}' }}",
    ]


def builder_access(target: JoinTarget, bucket_arn: str, bucket_key_arn: str | None) -> Document:
    """What the instance that builds reads of the bucket."""
    layout = target.layout
    keys = [f"{bucket_arn}/{layout.boot_prefix}*", f"{bucket_arn}/{layout.node_documents_prefix(GROUP)}*"]
    key = [] if bucket_key_arn is None else [{"Sid": "BucketKey", **key_access(bucket_key_arn, bucket_arn)}]
    return document(allow("s3:GetObject", keys, sid="BootFiles"), *key, *mirror_access(target))


class WindowsNodeImage(NodeImage):
    """An image for Windows nodes of self-managed clusters, for ``image_id`` of a ``WindowsInstanceGroup``.

    :raises WinkubeError: ``WK-IG``, ``WK-KAD``, ``WK-ART``, ``WK-EKS-014`` to ``-018``, ``-095`` to ``-098``,
        ``WK-TAG``.
    """

    def __init__(self, name: str, args: WindowsNodeImageArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        self._args = args
        super().__init__(name, args, args.target.region, opts, check_node_image(args))

    def _parent_parameter(self) -> str:
        return IMAGES[self._args.windows].ami_parameter("x86_64", self._args.edition)

    def _create_components(self) -> list[pulumi.Input[str]]:
        args, target, name = self._args, self._args.target, self._name
        code = args.boot_code or BootCode(
            f"{name}-code",
            BootCodeArgs(cluster_name=target.cluster_name, bucket=target.bucket, systems=("windows",), tags=args.tags),
            self.child(),
        )
        facts = pulumi.Output.all(target.bucket, target.certificate_authority)
        text = facts.apply(lambda known: image_document(args, *known))
        key = text.apply(_document_key(target))
        made = aws.s3.BucketObjectv2(
            f"{name}-document",
            bucket=target.bucket,
            key=key,
            content=text,
            content_type="application/json",
            tags=object_tags(args.tags, f"{name}-document"),
            opts=self.child(**KEPT),
        )
        self._before: list[pulumi.Resource] = [code, made, self._create_access()]
        code_key = boot_key("windows", target.cluster_name)

        def bake(known: Sequence[Any]) -> str:
            bucket, document_key = known
            commands = bake_commands(target.region, bucket, code_key, document_key)
            return powershell_component("winkube-node", "Prepare", commands)

        return [self._create_component("prepare", pulumi.Output.all(target.bucket, key).apply(bake))]

    def _create_before(self) -> list[pulumi.Resource]:
        return self._before

    def _create_access(self) -> aws.iam.RolePolicy:
        target = self._args.target
        facts = pulumi.Output.all(target.bucket_arn, target.bucket_key_arn)
        policy = facts.apply(lambda known: rendered(builder_access(target, *known)))
        return aws.iam.RolePolicy(f"{self._name}-boot", role=self._role.role_name, policy=policy, opts=self.child())


def _document_key(target: JoinTarget) -> Callable[[str], str]:
    def key(text: str) -> str:
        return target.layout.node_document(GROUP, hashlib.sha256(text.encode()).hexdigest())

    return key
