"""Linux images of EKS nodes: AL2023 and Bottlerocket, per architecture.

State of 2026-11-21. Sources: botocore's EKS model (``AMITypes``); EKS user guide, pages "Retrieve recommended Amazon
Linux AMI IDs" and "Retrieve recommended Bottlerocket AMI IDs". Amazon Linux 2 ended on 26 November 2025.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LinuxImage:
    """One Linux that EKS has node images of."""

    name: str
    root_device: str
    """The disk that holds images, logs and pods: the one that a group sizes."""
    system_device: str | None
    """The disk of the system itself, where it is another one; its size comes from the image."""
    ami_types: Mapping[str, str]
    """Architecture to what a managed node group calls the image."""
    parameter: str
    """The public SSM parameter with ``{kubernetes}`` and ``{architecture}``."""

    def ami_type(self, architecture: str) -> str:
        """What a managed node group calls the image.

        >>> LINUX_IMAGES["al2023"].ami_type("arm64")
        'AL2023_ARM_64_STANDARD'
        """
        return self.ami_types[architecture]

    def ami_parameter(self, architecture: str, kubernetes_minor: str) -> str:
        """The public SSM parameter that holds the id of the newest image."""
        return self.parameter.format(kubernetes=kubernetes_minor, architecture=architecture)


LINUX_IMAGES: Mapping[str, LinuxImage] = {
    "al2023": LinuxImage(
        "al2023", "/dev/xvda", None, {"x86_64": "AL2023_x86_64_STANDARD", "arm64": "AL2023_ARM_64_STANDARD"},
        "/aws/service/eks/optimized-ami/{kubernetes}/amazon-linux-2023/{architecture}/standard/recommended/image_id",
    ),
    "bottlerocket": LinuxImage(
        "bottlerocket", "/dev/xvdb", "/dev/xvda", {"x86_64": "BOTTLEROCKET_x86_64", "arm64": "BOTTLEROCKET_ARM_64"},
        "/aws/service/bottlerocket/aws-k8s-{kubernetes}/{architecture}/latest/image_id",
    ),
}  # fmt: skip
"""The Linux images by the word that settings use."""
