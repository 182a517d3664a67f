"""The launch template of a node group, as plain data: instance metadata, disks, tags.

The same for every group; a row of the image tables says which devices there are.
Source: EKS user guide, "Customize managed nodes with launch templates".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Volume:
    """One disk of a node."""

    device: str
    size_gib: int | None
    """None keeps the size that the image has."""


def metadata_options(hop_limit: int = 1) -> Any:
    """Instance metadata by session tokens only, out of reach of pods.

    One hop ends at the node itself: a pod that wants credentials gets its own role (IRSA), not the node's.
    """
    return {"http_endpoint": "enabled", "http_tokens": "required", "http_put_response_hop_limit": hop_limit}


def block_device_mappings(volumes: Sequence[Volume], kms_key_arn: Any = None) -> list[Any]:
    """Encrypted gp3 disks that go with their instance. The API wants its switches as text."""
    key = {} if kms_key_arn is None else {"kms_key_id": kms_key_arn}
    return [
        {
            "device_name": volume.device,
            "ebs": {
                **({} if volume.size_gib is None else {"volume_size": volume.size_gib}),
                "volume_type": "gp3",
                "encrypted": "true",
                "delete_on_termination": "true",
                **key,
            },
        }
        for volume in volumes
    ]


TAGGED = ("instance", "volume", "network-interface")


def tag_specifications(tags: Mapping[str, str]) -> list[Any]:
    """Tags for what the template launches: Auto Scaling gives its own to instances only."""
    return [{"resource_type": kind, "tags": dict(tags)} for kind in TAGGED]
