"""Who may do what, and what is kept secret."""

from . import account, documents, keys, node_roles, permissions, principals, secrets, trust

RULES = (
    permissions.iam_no_administrator_policy,
    permissions.iam_no_whole_service,
    documents.iam_policy_shape,
    documents.iam_policy_actions,
    permissions.iam_no_decrypt_on_all_keys,
    trust.iam_role_trust_closed,
    trust.iam_federated_trust_narrow,
    principals.iam_no_administrator_access,
    principals.iam_no_user_policies,
    principals.iam_no_access_keys,
    node_roles.node_role_least_privilege,
    node_roles.nodes_managed_by_ssm,
    keys.kms_key_rotation,
    keys.kms_key_deletion,
    keys.resource_policy_not_public,
    secrets.secrets_rotated,
    secrets.secret_recoverable,
    secrets.parameter_secure,
    account.ssm_document_private,
    account.trail_complete,
    account.guardduty_watches_eks,
)
"""The rules in the order of the reference page."""
