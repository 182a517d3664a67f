"""Cases of the rules in ``rules/storage/registries.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import ECR_LIFECYCLE, ECR_REPOSITORY

from ..base import Case, one, planned, urn

CASES = {
    "registry-scans": one(
        ECR_REPOSITORY,
        [{"imageScanningConfiguration": {"scanOnPush": True}}],
        [{}, {"imageScanningConfiguration": {"scanOnPush": False}}],
        [{"imageScanningConfiguration": UNKNOWN}],
        "not scanned",
    ),
    "registry-immutable-tags": one(
        ECR_REPOSITORY,
        [{"imageTagMutability": "IMMUTABLE"}, {"imageTagMutability": "IMMUTABLE_WITH_EXCLUSION"}],
        [{}, {"imageTagMutability": "MUTABLE"}],
        [{"imageTagMutability": UNKNOWN}],
        "moved to other images",
    ),
    "registry-lifecycle": Case(
        [
            [
                planned(ECR_REPOSITORY, {}),
                planned(ECR_LIFECYCLE, {"repository": UNKNOWN}, repository=urn(ECR_REPOSITORY, "x")),
            ],
            [planned(ECR_REPOSITORY, {"name": "app"}), planned(ECR_LIFECYCLE, {"repository": "app"})],
        ],
        [
            [planned(ECR_REPOSITORY, {})],
            [planned(ECR_REPOSITORY, {"name": "app"}), planned(ECR_LIFECYCLE, {"repository": "b"})],
        ],
        [[planned(ECR_REPOSITORY, {}), planned(ECR_LIFECYCLE, {"repository": UNKNOWN})]],
        "images are kept forever",
    ),
}
