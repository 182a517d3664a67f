"""What watches over the account, and what it shows to others."""

from collections.abc import Iterator

from ...frameworks import cis_aws, controls_page, fsbp
from ...model import Planned, Settings, resource_rule
from ...resource_types import DETECTOR, DETECTOR_FEATURE, SSM_DOCUMENT, TRAIL


@resource_rule(
    "ssm-document-private",
    "Systems Manager documents are not public",
    types=[SSM_DOCUMENT],
    severity="high",
    references=[fsbp("SSM.4"), fsbp("SSM.7")],
    steps="list the accounts in permissions",
    url=controls_page("ssm"),
)
def ssm_document_private(resource: Planned, settings: Settings) -> Iterator[str]:
    """Documents reveal how machines are set up."""
    # A map, whose keys no SDK translates.
    accounts = [resource["permissions"][name].text or "" for name in ("account_ids", "accountIds")]
    if "all" in (account.lower() for account in accounts):
        yield "the document is shared with every AWS account"


@resource_rule(
    "trail-complete",
    "Trails cover all regions, are encrypted and have validated log files",
    types=[TRAIL],
    references=[
        fsbp("CloudTrail.1"), fsbp("CloudTrail.2"), fsbp("CloudTrail.4"), fsbp("CloudTrail.5"), cis_aws("3.1"),
        cis_aws("3.2"), cis_aws("3.5"),
    ],
    steps="set is_multi_region_trail and enable_log_file_validation to true, kms_key_id to a key, and "
    "cloud_watch_logs_group_arn to a log group",
    url=controls_page("cloudtrail"),
)  # fmt: skip
def trail_complete(resource: Planned, settings: Settings) -> Iterator[str]:
    """One finding lists everything that is missing."""
    missing = [name for name in ("isMultiRegionTrail", "enableLogFileValidation") if not resource[name].flag]
    missing += [name for name in ("kmsKeyId", "cloudWatchLogsGroupArn") if not resource[name].given]
    if resource["enableLogging"].flag is False:
        missing.append("enableLogging")
    if missing:
        yield f"the trail lacks {', '.join(missing)}"


@resource_rule(
    "guardduty-watches-eks",
    "GuardDuty is on and monitors EKS",
    types=[DETECTOR, DETECTOR_FEATURE],
    severity="high",
    references=[fsbp("GuardDuty.1"), fsbp("GuardDuty.5"), fsbp("GuardDuty.7")],
    steps="set enable to true, and status of EKS_AUDIT_LOGS and EKS_RUNTIME_MONITORING to ENABLED; runtime monitoring "
    "supports Linux nodes only",
    url=controls_page("guardduty"),
)
def guardduty_watches_eks(resource: Planned, settings: Settings) -> Iterator[str]:
    """A program without GuardDuty resources is not judged."""
    if resource.type == DETECTOR:
        if resource["enable"].flag is False:
            yield "GuardDuty is switched off"
        return
    name = resource["name"].text or ""
    if resource["status"].text == "DISABLED" and name in (
        "EKS_AUDIT_LOGS",
        "EKS_RUNTIME_MONITORING",
        "RUNTIME_MONITORING",
    ):
        yield f"GuardDuty's feature {name} is switched off"
