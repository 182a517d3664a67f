"""Linux images of self-managed nodes: how to find them, and what they have before winkube comes. Pure.

State of 2026-11-21. Sources: SSM parameters as in the pages of Amazon Linux 2023 ("Launching by SSM parameter") and of
Canonical ("Find Ubuntu images on AWS"); what kubeadm asks for: ``cmd/kubeadm/app/preflight/checks_linux.go`` of 1.35.8,
1.36.4 and 1.37.1, the same in all three: ``losetup``, ``mount``, ``cp``, which every image has. conntrack, socat and
ebtables are not asked for since 1.32. The CNI plug-in ``portmap`` runs ``iptables`` (or ``nft``) on the host, but only
for pods with a ``hostPort`` (containernetworking/plugins 1.9.1, ``plugins/meta/portmap``).

So no package is installed at boot, and an air-gapped node needs the state bucket, the mirror and a registry alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LinuxHost:
    """One Linux that self-managed nodes run."""

    name: str
    title: str
    root_device: str
    parameters: Mapping[str, str]
    """Architecture to the public SSM parameter with the id of the newest image."""
    python: str
    """Of ``/usr/bin/python3``, which runs the agent."""
    package_manager: str
    fetches: str
    """How the loader reads the state bucket: ``aws`` (the image has the AWS CLI), or ``curl``, which signs since 8."""
    host_port_package: str | None
    """What pods with a ``hostPort`` need in addition, or None where the image is taken to have it (not tried on an
    instance). Bake it into an image of your own: nothing is installed at boot."""

    def ami_parameter(self, architecture: str) -> str:
        """The public SSM parameter that holds the id of the newest image.

        >>> LINUX_HOSTS["al2023"].ami_parameter("arm64")
        '/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-arm64'
        """
        return self.parameters[architecture]


_CANONICAL = "/aws/service/canonical/ubuntu/server/24.04/stable/current/{}/hvm/ebs-gp3/ami-id"

LINUX_HOSTS: Mapping[str, LinuxHost] = {
    row.name: row
    for row in (
        LinuxHost(
            "al2023", "Amazon Linux 2023", "/dev/xvda",
            {one: f"/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-{one}" for one in
             ("x86_64", "arm64")},
            "3.9", "dnf", "aws", "iptables-nft",
        ),
        LinuxHost(
            "ubuntu2404", "Ubuntu 24.04", "/dev/sda1",
            {"x86_64": _CANONICAL.format("amd64"), "arm64": _CANONICAL.format("arm64")},
            "3.12", "apt", "curl", None,
        ),
    )
}  # fmt: skip
"""The images by the word that settings use; the first is the default."""
