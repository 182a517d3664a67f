"""Secrets and parameters."""

from collections.abc import Iterator

from ...frameworks import cis_eks, controls_page, fsbp
from ...model import WHEN_OPTIONS, Planned, Settings, Stack, Undecided, Violation, applies, resource_rule, stack_rule
from ...resource_types import SECRET, SECRET_ROTATION, SSM_PARAMETER
from ...secret_patterns import SECRET_NAME


@stack_rule(
    "secrets-rotated",
    "Secrets are rotated",
    types=[SECRET],
    references=[fsbp("SecretsManager.1"), fsbp("SecretsManager.4")],
    steps="add an aws.secretsmanager.SecretRotation, or let the service that owns the password rotate it",
    url=controls_page("secretsmanager"),
    options=WHEN_OPTIONS,
)
def secrets_rotated(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """By default, applies in production only."""
    rotated = {
        source.urn for rotation in stack.of(SECRET_ROTATION) for source in stack.sources(rotation, "secretId", SECRET)
    }
    missing = [one for one in stack.of(SECRET) if applies(one, settings) and one.urn not in rotated]
    unclear = [
        one for one in stack.of(SECRET_ROTATION) if one["secretId"].unknown and not one.references.get("secretId")
    ]
    if missing and unclear:
        raise Undecided(f"{unclear[0].name}.secretId")
    for secret in missing:
        yield Violation("the secret is never rotated", secret.urn)


@resource_rule(
    "secret-recoverable",
    "Deleted secrets can be recovered",
    types=[SECRET],
    severity="low",
    steps="leave recovery_window_in_days out, or set it to 7 or more",
    url="https://docs.aws.amazon.com/secretsmanager/latest/userguide/manage_delete-secret.html",
    options=WHEN_OPTIONS,
)
def secret_recoverable(resource: Planned, settings: Settings) -> Iterator[str]:
    """By default, applies in production only: short-lived stacks must be able to reuse names at once."""
    if applies(resource, settings) and resource["recoveryWindowInDays"].number == 0:
        yield "a deleted secret is gone at once"


@resource_rule(
    "parameter-secure",
    "Parameters with secrets are encrypted",
    types=[SSM_PARAMETER],
    severity="high",
    references=[cis_eks("4.4.2")],
    steps='set type to "SecureString"',
    url="https://docs.aws.amazon.com/systems-manager/latest/userguide/sysman-paramstore-securestring.html",
)
def parameter_secure(resource: Planned, settings: Settings) -> Iterator[str]:
    """Reports plain parameters that are named like a password or a token."""
    name = (resource["name"].text or "").rsplit("/", 1)[-1]
    if resource["type"].text in ("String", "StringList") and SECRET_NAME.search(name):
        yield "a parameter that is named like a secret is stored in clear text"
