"""The boot code of nodes in the cluster's bucket: one object for each system, under the digest of its content."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pulumi
import pulumi_aws as aws

from ..core.assets import file_asset
from ..core.component import Component
from ..core.mistakes import Mistakes, Rule, nearest, one_of
from ..core.tags import check_tags, named
from ..node_agent.zipapp import zipapp, zipapp_sha256
from ..state_bucket.layout import ClusterLayout, check_key_part
from ..windows_boot.bundle import bundle, bundle_digest

BOOT_SYSTEMS = Rule("WK-IG-050", "Boot code exists for Windows and Linux nodes.")

CODE: Mapping[str, Callable[[], bytes]] = {"windows": bundle, "linux": zipapp}
"""System to its boot code."""
DIGESTS: Mapping[str, Callable[[], str]] = {"windows": bundle_digest, "linux": zipapp_sha256}
"""System to the digest of its boot code."""
OBJECT_TAG_LIMIT = 10
"""Tags of an object in S3."""


@dataclass(frozen=True, kw_only=True)
class BootCodeArgs:
    """The arguments of shared boot code."""

    cluster_name: str
    """The cluster's name, which is the first part of the object keys."""
    bucket: pulumi.Input[str]
    """Name of the bucket."""
    systems: Sequence[str] = ("linux", "windows")
    """``linux`` and ``windows`` (default), or one of them."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of the objects; S3 allows at most ten."""


def check_boot_code(args: BootCodeArgs) -> Mistakes:
    """Every mistake in the arguments."""
    found = check_key_part(args.cluster_name, ("cluster_name",))
    for index, system in enumerate(args.systems):
        if system not in CODE:
            found.add(BOOT_SYSTEMS, ("systems", index), f"boot code exists for {one_of(CODE)}",
                      f'write "{nearest(system, tuple(CODE)) or "windows"}"', system)  # fmt: skip
    found.take(check_tags(args.tags))
    return found


def boot_key(system: str, cluster_name: str) -> str:
    """The key of a system's boot code."""
    return ClusterLayout(cluster_name).boot_code(DIGESTS[system]())


class BootCode(Component):
    """The boot code of a cluster's nodes, which instance groups can share.

    :raises WinkubeError: ``WK-IG-050``, ``WK-BKT-009``, ``WK-TAG``.
    """

    keys: Mapping[str, str]
    """Operating system to the object key of its boot code."""

    def __init__(self, name: str, args: BootCodeArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_boot_code(args))
        self.keys = {system: boot_key(system, args.cluster_name) for system in args.systems}
        for system, key in self.keys.items():
            aws.s3.BucketObjectv2(
                f"{name}-{system}",
                bucket=args.bucket,
                key=key,
                source=file_asset(CODE[system]()),
                # The file's place differs from machine to machine; its digest says whether it is another one.
                source_hash=DIGESTS[system](),
                content_type="application/zip",
                tags=object_tags(args.tags, f"{name}-{system}"),
                opts=self.child(**KEPT),
            )
        self.register_outputs({"keys": dict(self.keys)})


KEPT: Mapping[str, bool] = {"retain_on_delete": True}
"""Options of objects that are addressed by their digest: nodes of an older launch template start from them again, and
what another group put there under the same digest is the same."""


def object_tags(tags: Mapping[str, str], name: str) -> dict[str, str]:
    """Tags of an object: all of them, or the name alone where they are more than S3 takes."""
    every = named(tags, name)
    return every if len(every) <= OBJECT_TAG_LIMIT else named({}, name)
