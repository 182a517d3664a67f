"""Who may do what: IAM policies, trust, keys, secrets, accounts."""

from collections.abc import Iterator
from functools import lru_cache

from winkube.core.mistakes import Mistake
from winkube.roles.actions import services
from winkube.roles.validation import (
    ACTION_EVERYTHING,
    ACTION_KNOWN,
    ACTION_WHOLE_SERVICE,
    GRANTS_NOTHING,
    POLICY_VERSION,
    RESOURCE_SHAPE,
    check_policy_documents,
)

from ..frameworks import cis_aws, cis_eks, controls_page, fsbp
from ..inventory import inventory, managed_policies
from ..model import (
    TEXTS,
    WHEN_OPTIONS,
    Option,
    Planned,
    Settings,
    Stack,
    Undecided,
    Value,
    Violation,
    applies,
    every,
    resource_rule,
    stack_rule,
)
from ..resource_types import (
    ACCESS_KEY,
    DETECTOR,
    DETECTOR_FEATURE,
    ECR_POLICY,
    GROUP_POLICY_ATTACHMENT,
    IDENTITY_POLICIES,
    KMS_KEY,
    KMS_KEY_POLICY,
    LAUNCHED,
    NODE_GROUP,
    POLICY_ATTACHMENT,
    ROLE,
    ROLE_POLICY_ATTACHMENT,
    SECRET,
    SECRET_POLICY,
    SECRET_ROTATION,
    SSM_DOCUMENT,
    SSM_PARAMETER,
    TRAIL,
    USER_POLICY,
    USER_POLICY_ATTACHMENT,
)
from ..secret_patterns import SECRET_NAME
from ..statements import Statement, documents, parsed, statements

DECRYPTING = ("kms:decrypt", "kms:reencryptfrom", "kms:reencrypt*")
# What the shape of a policy decides by itself; what needs the table of actions is advice, as tables grow old.
_OTHER_RULES = {rule.code for rule in (ACTION_KNOWN, GRANTS_NOTHING, RESOURCE_SHAPE,
                                       ACTION_EVERYTHING, ACTION_WHOLE_SERVICE, POLICY_VERSION)}  # fmt: skip
_TABLE_RULES = {ACTION_KNOWN.code, GRANTS_NOTHING.code, RESOURCE_SHAPE.code}


def _everything(action: str) -> bool:
    return not action.strip("*:")


@resource_rule(
    "iam-no-administrator-policy",
    "No policy of one's own allows everything",
    types=IDENTITY_POLICIES,
    severity="critical",
    level="mandatory",
    references=[fsbp("IAM.1"), cis_aws("1.16")],
    steps="name the actions and resources that are needed",
    url=controls_page("iam"),
    late=True,
)
def iam_no_administrator_policy(resource: Planned, settings: Settings) -> Iterator[str]:
    """`*` on `*` without a condition."""

    def check(document: Value) -> Iterator[str]:
        for statement in statements(document):
            if _on_everything(statement) and any(_everything(action) for action in statement.actions):
                yield f"{document.path} allows every action on every resource"

    yield from every(documents(resource, "policy"), check)


def _on_everything(statement: Statement) -> bool:
    return statement.allows and not statement.conditions and "*" in statement.resources


@resource_rule(
    "iam-no-whole-service",
    "No policy of one's own allows every action of a service",
    types=IDENTITY_POLICIES,
    severity="medium",
    references=[fsbp("IAM.21"), cis_eks("5.2.1")],
    steps="name the actions that are needed",
    url=controls_page("iam"),
    options={"allowed": Option([], "services whose actions may be allowed as a whole, such as s3", TEXTS)},
    late=True,
)
def iam_no_whole_service(resource: Planned, settings: Settings) -> Iterator[str]:
    """Actions that a service will get later are allowed as well."""
    allowed = {str(service).lower() for service in settings["allowed"]}

    def check(document: Value) -> Iterator[str]:
        for statement in statements(document):
            for action in statement.actions:
                service, _, name = action.lower().partition(":")
                if statement.allows and service.strip("*") and not name.strip("*") and service not in allowed:
                    yield f'{document.path} allows every action of a service: "{action}"'
            if statement.allows and statement.not_actions:
                yield f"{document.path} allows all actions but some: NotAction with Allow"
            elif statement.allows and any(map(_everything, statement.actions)) and not _on_everything(statement):
                yield f"{document.path} allows every action of every service on what it names"

    yield from every(documents(resource, "policy"), check)


@resource_rule(
    "iam-policy-shape",
    "Policies are written as IAM takes them",
    types=IDENTITY_POLICIES,
    severity="high",
    level="mandatory",
    steps="correct the document; IAM refuses it as it stands",
    url="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_grammar.html",
    late=True,
)
def iam_policy_shape(resource: Planned, settings: Settings) -> Iterator[str]:
    """The checks of the role components: elements, effects, ids, conditions."""
    yield from every(documents(resource, "policy"), lambda document: _mistakes(document, others=False))


@resource_rule(
    "iam-policy-actions",
    "Policies allow actions that exist, on resources that these actions have",
    types=IDENTITY_POLICIES,
    severity="medium",
    steps="correct the name; an action that does not exist grants nothing",
    url="https://docs.aws.amazon.com/service-authorization/latest/reference/reference_policies.html",
    late=True,
)
def iam_policy_actions(resource: Planned, settings: Settings) -> Iterator[str]:
    """By the table of actions that comes with the library: newer ones are reported too, so it is advice."""
    yield from every(documents(resource, "policy"), lambda document: _mistakes(document, others=True))


def _mistakes(document: Value, *, others: bool) -> Iterator[str]:
    content = document.known()
    if content is None or (others and parsed(document) is None):
        return
    reported = _TABLE_RULES if _resources_known(document) else _TABLE_RULES - {GRANTS_NOTHING.code}
    found = _found_in(content) if isinstance(content, str) else check_policy_documents([parsed(document) or {}], ())
    for mistake in found:
        if mistake.rule.code in reported if others else mistake.rule.code not in _OTHER_RULES:
            yield f"{document.path}: {_told(mistake)}"


@lru_cache(maxsize=256)
def _found_in(content: str) -> tuple[Mistake, ...]:
    """Remembered, as two rules ask, and roles of one kind have the same documents."""
    return tuple(check_policy_documents([content], ()))


def _resources_known(document: Value) -> bool:
    """Whether the resources are of services that the table knows: what others are, and can be, nobody can tell."""
    arns = [resource.split(":") for statement in statements(document) for resource in statement.resources]
    return all(arn[2] in services() or "*" in arn[2] for arn in arns if len(arn) > 5)


def _told(mistake: Mistake) -> str:
    # Without the value: a document may hold what must not be shown.
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in mistake.path[1:]).lstrip(".")
    return f"{place}: {mistake.message}; {mistake.remedy}" if place else f"{mistake.message}; {mistake.remedy}"


@resource_rule(
    "iam-no-decrypt-on-all-keys",
    "No policy allows decrypting with every key",
    types=IDENTITY_POLICIES,
    references=[fsbp("KMS.1"), fsbp("KMS.2")],
    steps="name the keys by their ARN, or narrow the statement down by kms:ViaService or kms:EncryptionContext",
    url=controls_page("kms"),
    late=True,
)
def iam_no_decrypt_on_all_keys(resource: Planned, settings: Settings) -> Iterator[str]:
    """Statements with a condition are taken as narrowed down."""

    def check(document: Value) -> Iterator[str]:
        for statement in statements(document):
            if _on_everything(statement) and any(action.lower() in DECRYPTING for action in statement.actions):
                yield f"{document.path} allows decrypting with every key of the account"

    yield from every(documents(resource, "policy"), check)


@resource_rule(
    "iam-role-trust-closed",
    "Roles are not open to everybody",
    types=[ROLE],
    severity="critical",
    level="mandatory",
    references=[cis_eks("5.2.1")],
    steps="name the service, the account or the role that may assume it",
    url="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html",
    late=True,
)
def iam_role_trust_closed(resource: Planned, settings: Settings) -> Iterator[str]:
    """A principal `*` without a condition on who it is admits every AWS account of the world."""
    for statement in statements(resource["assumeRolePolicy"]):
        if statement.allows and statement.public and "sts:externalid" not in statement.conditions:
            yield "assumeRolePolicy lets every AWS account of the world assume the role"


@resource_rule(
    "iam-federated-trust-narrow",
    "Roles for identity providers name the subject",
    types=[ROLE],
    severity="high",
    level="mandatory",
    references=[cis_eks("5.2.1")],
    steps='require StringEquals on "<issuer>:sub", such as "system:serviceaccount:<namespace>:<name>" or '
    '"repo:<owner>/<name>:ref:refs/heads/main"',
    url="https://docs.aws.amazon.com/eks/latest/userguide/associate-service-account-role.html",
    late=True,
)
def iam_federated_trust_narrow(resource: Planned, settings: Settings) -> Iterator[str]:
    """Without the subject every pod of the cluster, or every repository of the provider, can take the role."""
    for statement in statements(resource["assumeRolePolicy"]):
        if not statement.allows or "sts:AssumeRoleWithWebIdentity" not in statement.actions:
            continue
        subjects = [value for key, values in statement.conditions.items() for value in values
                    if key.endswith((":sub", ":repository", ":repository_owner", ":amr"))]  # fmt: skip
        if not subjects:
            yield "assumeRolePolicy asks for no subject: everybody whom the provider knows can take the role"
        elif all(subject.strip("*:") in ("", "system:serviceaccount", "repo") for subject in subjects):
            yield "assumeRolePolicy takes every subject of the provider"


@resource_rule(
    "iam-no-administrator-access",
    "Nothing is given AdministratorAccess",
    types=[ROLE_POLICY_ATTACHMENT, USER_POLICY_ATTACHMENT, GROUP_POLICY_ATTACHMENT, POLICY_ATTACHMENT, ROLE],
    severity="high",
    references=[fsbp("IAM.1"), cis_aws("1.16")],
    steps="attach policies for the tasks at hand; for a deployment role write down why it needs more",
    url=controls_page("iam"),
    options={
        "policies": Option(["AdministratorAccess", "PowerUserAccess", "IAMFullAccess"], "managed policies", TEXTS)
    },
    late=True,
)
def iam_no_administrator_access(resource: Planned, settings: Settings) -> Iterator[str]:
    """By the name of the managed policy."""

    def check(arn: Value) -> Iterator[str]:
        name = (arn.text or "").rsplit("/", 1)[-1]
        if name in settings["policies"]:
            yield f"{name} is attached"

    arns = resource["managedPolicyArns"].items() if resource.type == ROLE else [resource["policyArn"]]
    yield from every(arns, check)


@resource_rule(
    "iam-no-user-policies",
    "Users get their permissions from groups and roles",
    types=[USER_POLICY, USER_POLICY_ATTACHMENT],
    severity="low",
    references=[fsbp("IAM.2"), cis_aws("1.15")],
    steps="attach the policy to a group, or use a role of IAM Identity Center",
    url=controls_page("iam"),
    options={"users": Option([], "names of users that may have policies of their own", TEXTS)},
)
def iam_no_user_policies(resource: Planned, settings: Settings) -> Iterator[str]:
    """Permissions of single users are forgotten."""
    if not settings["users"] or resource["user"].text not in settings["users"]:
        yield "the policy is given to a single user"


@resource_rule(
    "iam-no-access-keys",
    "Nobody gets an access key that does not expire",
    types=[ACCESS_KEY],
    references=[cis_aws("1.14"), fsbp("IAM.3")],
    steps="use a role: IRSA for pods, an instance profile for machines, OIDC for pipelines",
    url="https://docs.aws.amazon.com/IAM/latest/UserGuide/best-practices.html",
)
def iam_no_access_keys(resource: Planned, settings: Settings) -> Iterator[str]:
    """The secret part lies in the state of the stack as well."""
    if resource["status"].text != "Inactive":
        yield "the access key does not expire, and its secret lies in the state of the stack"


@stack_rule(
    "node-role-least-privilege",
    "Node roles carry what nodes need, and no more",
    types=[NODE_GROUP, *LAUNCHED],
    severity="high",
    references=[cis_eks("5.1.3"), cis_eks("5.2.1")],
    steps="give the permission to the pods that need it by a role of their service account (IRSA)",
    url="https://docs.aws.amazon.com/eks/latest/userguide/create-node-role.html",
    options={
        "policies": Option(
            ["AdministratorAccess", "PowerUserAccess", "*FullAccess", "AmazonEC2ContainerRegistryPowerUser"],
            "managed policies that node roles do not carry; a star at the beginning means any beginning", TEXTS,
        ),
    },
)  # fmt: skip
def node_role_least_privilege(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Every pod that reaches the node's metadata has the node's role."""
    for role, attached in _node_roles(stack).items():
        for name in sorted(attached):
            if any(name == one or (one[0] == "*" and name.endswith(one[1:])) for one in settings["policies"]):
                yield Violation(f"the role of nodes carries {name}", role)
    for attachment in stack.of(ROLE_POLICY_ATTACHMENT):
        if attachment["policyArn"].unknown and not attachment.references.get("policyArn"):
            raise Undecided(f"{attachment.name}.policyArn")


def _node_roles(stack: Stack) -> dict[str, set[str]]:
    """URN of each role of nodes that the plan makes, with the names of its managed policies."""
    found = inventory(stack)
    uses = [found.role_use(resource) for resource in stack.of(NODE_GROUP, *sorted(LAUNCHED))]
    roles = {use.role for use in uses if use and use.role in stack.by_urn}
    return {role: managed_policies(stack, stack.by_urn[role]) for role in sorted(filter(None, roles))}


@stack_rule(
    "nodes-managed-by-ssm",
    "Nodes can be reached by Systems Manager",
    types=[NODE_GROUP],
    severity="low",
    references=[fsbp("SSM.1")],
    steps="attach AmazonSSMManagedInstanceCore to the node role",
    url="https://docs.aws.amazon.com/systems-manager/latest/userguide/session-manager.html",
)
def nodes_managed_by_ssm(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """The way to a node that needs neither key nor open port, and how patches are counted."""
    roles = _node_roles(stack)
    for role, attached in roles.items():
        if "AmazonSSMManagedInstanceCore" not in attached:
            if any(attachment["policyArn"].unknown for attachment in stack.of(ROLE_POLICY_ATTACHMENT)):
                raise Undecided(f"{stack.by_urn[role].name}: a policy that is attached")
            yield Violation("nodes of this role cannot be reached by Systems Manager", role)


@resource_rule(
    "kms-key-rotation",
    "Keys are rotated every year",
    types=[KMS_KEY],
    references=[fsbp("KMS.4"), cis_aws("3.6")],
    steps="set enable_key_rotation to true",
    url=controls_page("kms"),
)
def kms_key_rotation(resource: Planned, settings: Settings) -> Iterator[str]:
    """Symmetric keys with AWS' own material; KMS rotates no others by itself."""
    spec = resource["customerMasterKeySpec"].text or "SYMMETRIC_DEFAULT"
    usage = resource["keyUsage"].text or "ENCRYPT_DECRYPT"
    foreign = resource["customKeyStoreId"].given
    rotates = spec == "SYMMETRIC_DEFAULT" and usage == "ENCRYPT_DECRYPT" and not foreign
    if rotates and not resource["enableKeyRotation"].flag:
        yield "the key is never rotated"


@resource_rule(
    "kms-key-deletion",
    "Keys are not deleted in a hurry",
    types=[KMS_KEY],
    references=[fsbp("KMS.3")],
    steps="set deletion_window_in_days to 30, or leave it out",
    url=controls_page("kms"),
    options={"minimumDays": Option(14, "days at least", {"type": "integer", "minimum": 7, "maximum": 30})},
)
def kms_key_deletion(resource: Planned, settings: Settings) -> Iterator[str]:
    """What was encrypted with a key that is gone cannot be read again."""
    days = resource["deletionWindowInDays"].number
    if days is not None and days < settings["minimumDays"]:
        yield f"the key is gone {days} days after its deletion, and with it everything that it encrypted"


@resource_rule(
    "resource-policy-not-public",
    "Keys, secrets and registries are not open to everybody",
    types=[KMS_KEY, KMS_KEY_POLICY, ECR_POLICY, SECRET, SECRET_POLICY],
    severity="critical",
    level="mandatory",
    references=[fsbp("KMS.5"), cis_eks("5.1.2")],
    steps="name the accounts or roles, or require aws:PrincipalOrgID or kms:CallerAccount",
    url=controls_page("kms"),
    late=True,
)
def resource_policy_not_public(resource: Planned, settings: Settings) -> Iterator[str]:
    """A principal `*` without a condition on who it is."""
    for document in documents(resource, "policy"):
        if any(statement.allows and statement.public for statement in statements(document)):
            yield "a statement of the policy is for everybody in the world"


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
    """In production, unless the configuration says always."""
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
        yield Violation("the secret is never changed", secret.urn)


@resource_rule(
    "secret-recoverable",
    "Secrets can be recovered for a while",
    types=[SECRET],
    severity="low",
    steps="leave recovery_window_in_days out, or set it to 7 or more",
    url="https://docs.aws.amazon.com/secretsmanager/latest/userguide/manage_delete-secret.html",
    options=WHEN_OPTIONS,
)
def secret_recoverable(resource: Planned, settings: Settings) -> Iterator[str]:
    """In production, unless the configuration says always: throw-away stacks need their names back at once."""
    if applies(resource, settings) and resource["recoveryWindowInDays"].number == 0:
        yield "the secret is gone at once when it is deleted"


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
    """Judged by the name: a plain parameter that is called a password or a token."""
    name = (resource["name"].text or "").rsplit("/", 1)[-1]
    if resource["type"].text in ("String", "StringList") and SECRET_NAME.search(name):
        yield "a parameter with the name of a secret is kept in clear text"


@resource_rule(
    "ssm-document-private",
    "Systems Manager documents are not public",
    types=[SSM_DOCUMENT],
    severity="high",
    references=[fsbp("SSM.4"), fsbp("SSM.7")],
    steps="name the accounts in permissions",
    url=controls_page("ssm"),
)
def ssm_document_private(resource: Planned, settings: Settings) -> Iterator[str]:
    """Documents tell how machines are set up."""
    # A map, whose keys no SDK translates.
    accounts = [resource["permissions"][name].text or "" for name in ("account_ids", "accountIds")]
    if "all" in (account.lower() for account in accounts):
        yield "the document is shared with every AWS account of the world"


@resource_rule(
    "trail-complete",
    "Trails see all regions, are encrypted and cannot be altered unseen",
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
    """Everything that is missing in one finding."""
    missing = [name for name in ("isMultiRegionTrail", "enableLogFileValidation") if not resource[name].flag]
    missing += [name for name in ("kmsKeyId", "cloudWatchLogsGroupArn") if not resource[name].given]
    if resource["enableLogging"].flag is False:
        missing.append("enableLogging")
    if missing:
        yield f"the trail lacks {', '.join(missing)}"


@resource_rule(
    "guardduty-watches-eks",
    "GuardDuty is on, and watches EKS",
    types=[DETECTOR, DETECTOR_FEATURE],
    severity="high",
    references=[fsbp("GuardDuty.1"), fsbp("GuardDuty.5"), fsbp("GuardDuty.7")],
    steps="set enable to true, and status of EKS_AUDIT_LOGS and EKS_RUNTIME_MONITORING to ENABLED; runtime monitoring "
    "watches Linux nodes only",
    url=controls_page("guardduty"),
)
def guardduty_watches_eks(resource: Planned, settings: Settings) -> Iterator[str]:
    """A program that says nothing of GuardDuty is not asked."""
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


RULES = (
    iam_no_administrator_policy,
    iam_no_whole_service,
    iam_policy_shape,
    iam_policy_actions,
    iam_no_decrypt_on_all_keys,
    iam_role_trust_closed,
    iam_federated_trust_narrow,
    iam_no_administrator_access,
    iam_no_user_policies,
    iam_no_access_keys,
    node_role_least_privilege,
    nodes_managed_by_ssm,
    kms_key_rotation,
    kms_key_deletion,
    resource_policy_not_public,
    secrets_rotated,
    secret_recoverable,
    parameter_secure,
    ssm_document_private,
    trail_complete,
    guardduty_watches_eks,
)
