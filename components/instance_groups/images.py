"""Images of self-managed nodes: Windows Server and Linux as their makers publish them. Pure.

State of 2026-11-21. Sources: EC2 user guides, "AWS Windows AMIs" and "Find an AMI" (public SSM parameters); Canonical,
"Find Ubuntu images with the AWS CLI". Images of EKS are of no use here: their bootstrap joins EKS alone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..core.mistakes import Mistakes, Rule
from ..tables.windows import EDITIONS, WINDOWS_ROOT_DEVICE

IMAGE_ID = Rule(
    "WK-IG-029",
    "An AMI ID is ami- followed by 8 or 17 hexadecimal digits.",
    "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/resource-ids.html",
)
_IMAGE_ID = re.compile(r"ami-[0-9a-f]{8}([0-9a-f]{9})?")


@dataclass(frozen=True, slots=True)
class NodeImage:
    """One operating system that nodes can run."""

    system: str
    """``windows`` or ``linux``."""
    name: str
    """The word that settings use: ``2022``, ``al2023``."""
    root_device: str
    minimum_gib: int
    """The smallest root volume with room for container images."""
    default_gib: int
    parameter: str
    """The public SSM parameter with ``{architecture}`` or ``{edition}``."""
    architectures: Mapping[str, str]
    """The architectures that there are images of, with the word in the parameter."""

    def ami_parameter(self, architecture: str, edition: str = "") -> str:
        """The public SSM parameter that holds the id of the newest image.

        >>> IMAGES["2022"].ami_parameter("x86_64", "core")
        '/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-Base'
        >>> IMAGES["ubuntu2404"].ami_parameter("arm64")
        '/aws/service/canonical/ubuntu/server/24.04/stable/current/arm64/hvm/ebs-gp3/ami-id'
        """
        return self.parameter.format(architecture=self.architectures[architecture], edition=EDITIONS.get(edition, ""))


def _windows(release: str) -> NodeImage:
    # Windows itself takes some 20 GB, and a servercore image unpacks to 5 to 10 GB more.
    return NodeImage(
        "windows", release, WINDOWS_ROOT_DEVICE, 100, 100,
        f"/aws/service/ami-windows-latest/Windows_Server-{release}-English-{{edition}}-Base", {"x86_64": "x86_64"},
    )  # fmt: skip


IMAGES: Mapping[str, NodeImage] = {
    image.name: image
    for image in (
        _windows("2022"),
        _windows("2025"),
        NodeImage(
            "linux", "al2023", "/dev/xvda", 20, 50,
            "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-{architecture}",
            {"x86_64": "x86_64", "arm64": "arm64"},
        ),
        NodeImage(
            "linux", "ubuntu2404", "/dev/sda1", 20, 50,
            "/aws/service/canonical/ubuntu/server/24.04/stable/current/{architecture}/hvm/ebs-gp3/ami-id",
            {"x86_64": "amd64", "arm64": "arm64"},
        ),
    )
}  # fmt: skip
"""The images by the word that settings use."""
LINUX = tuple(image.name for image in IMAGES.values() if image.system == "linux")
"""The Linux systems."""


def check_image_id(image_id: Any) -> Mistakes:
    """Whether this is the id of an image (``WK-IG-029``); what another resource computes is not known yet."""
    found = Mistakes()
    if isinstance(image_id, str) and not _IMAGE_ID.fullmatch(image_id):
        system = "linux" if image_id in LINUX else "windows" if image_id in IMAGES else ""
        meant = f', or set {system} to "{image_id}" and leave it out' if system else ""
        found.add(IMAGE_ID, ("image_id",), "an AMI ID is ami- followed by 8 or 17 hexadecimal digits",
                  f"write the ID of an AMI in the cluster's Region{meant}", image_id)  # fmt: skip
    return found
