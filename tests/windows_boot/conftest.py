"""A node with everything in its document, and the scripts as trees."""

import dataclasses
from typing import Any

import pytest
from winkube.ec2.proxy import Proxy
from winkube.kubeadm.config import KubeletSettings
from winkube.scheduling.labels import Taint
from winkube.tables.releases import SELF_MANAGED_RELEASES
from winkube.windows_boot.bundle import SCRIPTS
from winkube.windows_boot.node import WindowsNode

from .powershell import Bundle, bundle_of

DIGEST = "sha256:" + "0" * 64
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"


def node(**changes: Any) -> WindowsNode:
    """A node with every option in use, so that every key of its document has a value."""
    full = WindowsNode(
        cluster_name="prod.example.com",
        kubernetes_version="1.36",
        endpoint="api.prod.example.com:6443",
        certificate_authority=CERTIFICATE,
        region="eu-west-1",
        bucket="example-state",
        token_parameter="/winkube/prod.example.com/join-token",
        group="web",
        windows="2022",
        labels={"example.com/team": "web"},
        taints=(Taint(key="os", value="windows"),),
        kubelet=KubeletSettings(max_pods=50),
        ecr_credentials=True,
        auto_scaling_group="prod-web",
        launch_hook="launch",
        terminate_hook="terminate",
        status_prefix="clusterconfigs/prod.example.com/bootstrap/1/status/",
        registry_mirrors={"registry.k8s.io": "https://mirror.example.com/k8s"},
        artefact_digests={
            key: DIGEST
            for row in SELF_MANAGED_RELEASES.values()
            for name in ("kubelet", "kube-proxy", "kubectl", "kube-log-runner")
            for key in [f"{name}-{row.patch}-windows-amd64"]
        }
        | {"ecr-credential-provider-1.31.7-windows-amd64": DIGEST},
        proxy=Proxy(https="http://proxy.example.com:3128"),
        images=("mcr.microsoft.com/windows/nanoserver:ltsc2022",),
        page_file_mib=8192,
        bitlocker=True,
        data_volume="D",
    )
    return dataclasses.replace(full, **changes)


@pytest.fixture(scope="session")
def scripts() -> Bundle:
    """All scripts, the loader among them."""
    return bundle_of({path.name: path.read_text(encoding="utf-8") for path in sorted(SCRIPTS.glob("*.ps1"))})
