"""Keys of KMS, and the policies of what others are given."""

from collections.abc import Iterator

from ...frameworks import cis_aws, cis_eks, controls_page, fsbp
from ...model import Option, Planned, Settings, resource_rule
from ...resource_types import ECR_POLICY, KMS_KEY, KMS_KEY_POLICY, SECRET, SECRET_POLICY
from ...statements import documents, statements


@resource_rule(
    "kms-key-rotation",
    "Keys are rotated every year",
    types=[KMS_KEY],
    references=[fsbp("KMS.4"), cis_aws("3.6")],
    steps="set enable_key_rotation to true",
    url=controls_page("kms"),
)
def kms_key_rotation(resource: Planned, settings: Settings) -> Iterator[str]:
    """Applies to symmetric keys with key material from AWS; KMS rotates no others automatically."""
    spec = resource["customerMasterKeySpec"].text or "SYMMETRIC_DEFAULT"
    usage = resource["keyUsage"].text or "ENCRYPT_DECRYPT"
    foreign = resource["customKeyStoreId"].given
    rotates = spec == "SYMMETRIC_DEFAULT" and usage == "ENCRYPT_DECRYPT" and not foreign
    if rotates and not resource["enableKeyRotation"].flag:
        yield "the key is never rotated"


@resource_rule(
    "kms-key-deletion",
    "Keys have a long deletion window",
    types=[KMS_KEY],
    references=[fsbp("KMS.3")],
    steps="set deletion_window_in_days to 30, or leave it out",
    url=controls_page("kms"),
    options={
        "minimumDays": Option(14, "minimum deletion window in days", {"type": "integer", "minimum": 7, "maximum": 30})
    },
)
def kms_key_deletion(resource: Planned, settings: Settings) -> Iterator[str]:
    """Data that was encrypted with a deleted key can never be read again."""
    days = resource["deletionWindowInDays"].number
    if days is not None and days < settings["minimumDays"]:
        yield f"the key is deleted after {days} days, and everything that it encrypted is lost"


@resource_rule(
    "resource-policy-not-public",
    "Keys, secrets and registries are not open to everyone",
    types=[KMS_KEY, KMS_KEY_POLICY, ECR_POLICY, SECRET, SECRET_POLICY],
    severity="critical",
    level="mandatory",
    references=[fsbp("KMS.5"), cis_eks("5.1.2")],
    steps="name the accounts or roles, or require aws:PrincipalOrgID or kms:CallerAccount",
    url=controls_page("kms"),
    late=True,
)
def resource_policy_not_public(resource: Planned, settings: Settings) -> Iterator[str]:
    """Reports a principal `*` without a condition on the caller."""
    for document in documents(resource, "policy"):
        if any(statement.allows and statement.public for statement in statements(document)):
            yield "a statement of the policy applies to everyone"
