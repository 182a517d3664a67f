"""A control plane for tests: the arguments, and its plan with real keys and certificates."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from winkube.control_plane.args import LinuxControlPlaneArgs
from winkube.control_plane.control_plane import LinuxControlPlane
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import Plan

from tests.tls_mocks import TLS

CLUSTER = "prod.example.com"
BUCKET_ARN = "arn:aws:s3:::clusters-example-com"
BUCKET_KEY = "arn:aws:kms:eu-central-1:111122223333:key/0c5f5a52-6f1a-4f0b-a2d4-2ad2fd1d2d3a"
CLUSTER_KEY = "arn:aws:kms:eu-central-1:111122223333:key/1d6f6b63-7f2b-5f1c-b3e5-3be3fe2e3e4b"
DEFAULTS: Mapping[str, Any] = {
    "cluster_name": CLUSTER,
    "region": "eu-central-1",
    "kubernetes_version": "1.36",
    "vpc_id": "vpc-1",
    "vpc_cidrs": ("10.0.0.0/16",),
    "zones": ("eu-central-1a", "eu-central-1b", "eu-central-1c"),
    "subnet_ids": ("subnet-0a", "subnet-0b", "subnet-0c"),
    "domain": "example.com",
    "zone_ids": {"private": "Z1"},
    "bucket": "clusters-example-com",
    "bucket_arn": BUCKET_ARN,
    "bucket_key_arn": BUCKET_KEY,
    "image_id": "ami-0123456789abcdef0",
}


def control_plane_args(**changes: Any) -> LinuxControlPlaneArgs:
    """Valid arguments, with some of them changed."""
    return LinuxControlPlaneArgs(**{**DEFAULTS, **changes})


def update(**changes: Any) -> Plan:
    """The plan as after an update, with real keys and certificates."""
    args = control_plane_args(**changes)
    return evaluate_function(lambda: LinuxControlPlane("cp", args), mode="update", mocks=TLS)


@cache
def usual(mode: str = "update") -> Plan:
    """The plan of the usual control plane: three slots, IRSA."""
    from winkube.control_plane.args import IrsaIssuer

    args = control_plane_args(irsa=IrsaIssuer(), kms_key_arn=CLUSTER_KEY)
    return evaluate_function(lambda: LinuxControlPlane("cp", args), mode=mode, mocks=TLS)
