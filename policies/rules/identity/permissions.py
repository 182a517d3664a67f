"""What the program's own policies allow."""

from collections.abc import Iterator

from ...frameworks import cis_aws, cis_eks, controls_page, fsbp
from ...model import TEXTS, Option, Planned, Settings, Value, every, resource_rule
from ...resource_types import IDENTITY_POLICIES
from ...statements import Statement, documents, statements

DECRYPTING = ("kms:decrypt", "kms:reencryptfrom", "kms:reencrypt*")


def _everything(action: str) -> bool:
    return not action.strip("*:")


@resource_rule(
    "iam-no-administrator-policy",
    "No policy allows every action on every resource",
    types=IDENTITY_POLICIES,
    severity="critical",
    level="mandatory",
    references=[fsbp("IAM.1"), cis_aws("1.16")],
    steps="list only the actions and resources that are needed",
    url=controls_page("iam"),
    late=True,
)
def iam_no_administrator_policy(resource: Planned, settings: Settings) -> Iterator[str]:
    """Reports `*` on `*` without a condition."""

    def check(document: Value) -> Iterator[str]:
        for statement in statements(document):
            if _on_everything(statement) and any(_everything(action) for action in statement.actions):
                yield f"{document.path} allows every action on every resource"

    yield from every(documents(resource, "policy"), check)


def _on_everything(statement: Statement) -> bool:
    return statement.allows and not statement.conditions and "*" in statement.resources


@resource_rule(
    "iam-no-whole-service",
    "No policy allows every action of a service",
    types=IDENTITY_POLICIES,
    severity="medium",
    references=[fsbp("IAM.21"), cis_eks("5.2.1")],
    steps="list only the actions that are needed",
    url=controls_page("iam"),
    options={"allowed": Option([], "services whose actions may all be allowed, such as s3", TEXTS)},
    late=True,
)
def iam_no_whole_service(resource: Planned, settings: Settings) -> Iterator[str]:
    """Such a policy also allows actions that the service adds later."""
    allowed = {str(service).lower() for service in settings["allowed"]}

    def check(document: Value) -> Iterator[str]:
        for statement in statements(document):
            for action in statement.actions:
                service, _, name = action.lower().partition(":")
                if statement.allows and service.strip("*") and not name.strip("*") and service not in allowed:
                    yield f'{document.path} allows every action of a service: "{action}"'
            if statement.allows and statement.not_actions:
                yield f"{document.path} allows all actions except some: NotAction with Allow"
            elif statement.allows and any(map(_everything, statement.actions)) and not _on_everything(statement):
                yield f"{document.path} allows every action of every service on the resources that it names"

    yield from every(documents(resource, "policy"), check)


@resource_rule(
    "iam-no-decrypt-on-all-keys",
    "No policy allows decrypting with every key",
    types=IDENTITY_POLICIES,
    references=[fsbp("KMS.1"), fsbp("KMS.2")],
    steps="list the keys by their ARN, or restrict the statement with kms:ViaService or kms:EncryptionContext",
    url=controls_page("kms"),
    late=True,
)
def iam_no_decrypt_on_all_keys(resource: Planned, settings: Settings) -> Iterator[str]:
    """Statements with a condition are accepted."""

    def check(document: Value) -> Iterator[str]:
        for statement in statements(document):
            if _on_everything(statement) and any(action.lower() in DECRYPTING for action in statement.actions):
                yield f"{document.path} allows decrypting with every key of the account"

    yield from every(documents(resource, "policy"), check)
