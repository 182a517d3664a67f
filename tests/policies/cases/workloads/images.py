"""Cases of the rules in ``rules/workloads/images.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import POD

from ..base import linux, one

CASES = {
    "image-tag-fixed": one(
        POD,
        [linux(), linux(image="registry:5000/app@sha256:0123"), linux(image="registry:5000/app:1")],
        [linux(image="nginx"), linux(image="registry:5000/app"), linux(image="nginx:latest")],
        [linux(image=UNKNOWN)],
        "which has no fixed tag",
    ),
    "image-registry-approved": one(
        POD,
        [linux()],
        [linux(image="docker.io/library/nginx:1")],
        [linux(image=UNKNOWN)],
        "not from an approved registry",
        {"registries": ["registry.example.com/"]},
    ),
}
