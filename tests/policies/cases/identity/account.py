"""Cases of the rules in ``rules/identity/account.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import DETECTOR, DETECTOR_FEATURE, SSM_DOCUMENT, TRAIL

from ..base import Case, one, planned

COMPLETE = {
    "s3BucketName": "b",
    "isMultiRegionTrail": True,
    "enableLogFileValidation": True,
    "kmsKeyId": UNKNOWN,
    "cloudWatchLogsGroupArn": UNKNOWN,
}

CASES = {
    "ssm-document-private": one(
        SSM_DOCUMENT,
        [{}, {"permissions": {"type": "Share", "account_ids": "123456789012"}}],
        [{"permissions": {"type": "Share", "account_ids": "All"}}],
        [{"permissions": UNKNOWN}],
        "every AWS account",
    ),
    "trail-complete": one(
        TRAIL,
        [COMPLETE],
        [{"s3BucketName": "b"}, {**COMPLETE, "enableLogging": False}],
        [{**COMPLETE, "isMultiRegionTrail": UNKNOWN}],
        "the trail lacks",
    ),
    "guardduty-watches-eks": Case(
        [[planned(DETECTOR, {})], [planned(DETECTOR_FEATURE, {"name": "S3_DATA_EVENTS", "status": "DISABLED"})]],
        [
            [planned(DETECTOR, {"enable": False})],
            [planned(DETECTOR_FEATURE, {"name": "EKS_AUDIT_LOGS", "status": "DISABLED"})],
        ],
        [[planned(DETECTOR, {"enable": UNKNOWN})]],
        "switched off",
    ),
}
