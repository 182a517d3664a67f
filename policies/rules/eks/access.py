"""Who gets into a cluster."""

import re
from collections.abc import Iterator

from ...frameworks import cis_eks, cis_kubernetes, eks_guide
from ...inventory import inventory
from ...model import TEXTS, Option, Planned, Settings, Stack, Violation, every, resource_rule, stack_rule, texts
from ...resource_types import ACCESS_ENTRY, ACCESS_POLICY_ASSOCIATION, CLUSTER, CONFIG_MAP, CONFIG_MAP_PATCH

ENTRIES_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html"


@resource_rule(
    "cluster-access-entries",
    "Access to the cluster is granted by access entries",
    types=[CLUSTER],
    references=[cis_eks("4.1.7"), cis_eks("5.5.1")],
    steps='set access_config.authentication_mode to "API"',
    url="https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html",
)
def cluster_access_entries(resource: Planned, settings: Settings) -> Iterator[str]:
    """A mistake in the ConfigMap aws-auth can lock everyone out."""
    mode = resource["accessConfig"]["authenticationMode"].text
    if mode not in ("API", "API_AND_CONFIG_MAP"):
        state = "is not set" if mode is None else f'is "{mode}"'
        yield f"access is granted by the ConfigMap aws-auth alone: accessConfig.authenticationMode {state}"


@stack_rule(
    "aws-auth-has-effect",
    "The ConfigMap aws-auth is used only where the cluster reads it",
    types=[CONFIG_MAP, CONFIG_MAP_PATCH],
    severity="high",
    level="mandatory",
    references=[cis_eks("4.1.7")],
    steps="create access entries instead, or set the cluster's authentication_mode to API_AND_CONFIG_MAP",
    url="https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html",
)
def aws_auth_has_effect(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """In the mode API it grants no access."""

    def check(resource: Planned) -> Iterator[Violation]:
        metadata = resource["metadata"]
        if metadata["name"].text != "aws-auth" or metadata["namespace"].text != "kube-system":
            return
        cluster = stack.by_urn.get(inventory(stack).cluster(resource) or "")
        clusters = stack.of(CLUSTER)
        cluster = cluster or (clusters[0] if len(clusters) == 1 else None)
        if cluster is not None and cluster["accessConfig"]["authenticationMode"].text == "API":
            yield Violation("the cluster's authentication mode is API: it does not read aws-auth", resource.urn)

    yield from every([*stack.of(CONFIG_MAP), *stack.of(CONFIG_MAP_PATCH)], check)


@resource_rule(
    "access-entry-groups",
    "Access entries name no groups that EKS refuses",
    types=[ACCESS_ENTRY],
    severity="high",
    level="mandatory",
    references=[eks_guide("Create access entries"), cis_kubernetes("5.1.7")],
    steps="bind your own group to the intended role, or associate an access policy; entries for nodes accept neither",
    url=ENTRIES_PAGE,
)
def access_entry_groups(resource: Planned, settings: Settings) -> Iterator[str]:
    """EKS refuses groups of Kubernetes and AWS, and any group in an entry for nodes."""
    groups = texts(resource["kubernetesGroups"])
    kind = resource["type"].text or "STANDARD"
    if groups and kind != "STANDARD":
        yield f"an access entry of type {kind} accepts no Kubernetes groups"
        return
    for group in groups:
        if group.startswith(("system:", "eks:", "aws:", "amazon:", "iam:")):
            yield f'EKS refuses the group "{group}" in an access entry'


@resource_rule(
    "cluster-admin-access",
    "Few principals administer the cluster",
    types=[ACCESS_POLICY_ASSOCIATION],
    references=[cis_eks("4.1.1")],
    steps="associate AmazonEKSAdminPolicy or AmazonEKSEditPolicy with the namespaces that the principal works in",
    url="https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html",
    options={
        "principals": Option(
            ["*admin*", "*platform*", "*deploy*", "*breakglass*"],
            "principals that may administer clusters, by the name in their ARN; a star matches any text", TEXTS,
        ),
    },
    late=True,
)  # fmt: skip
def cluster_admin_access(resource: Planned, settings: Settings) -> Iterator[str]:
    """Judged by the principal's name: those that match the option `principals` are accepted."""
    policy = (resource["policyArn"].text or "").rsplit("/", 1)[-1]
    if policy != "AmazonEKSClusterAdminPolicy":
        return
    name = (resource["principalArn"].text or "").rsplit(":", 1)[-1].lower()
    patterns = [re.escape(str(pattern).lower()).replace(r"\*", ".*") for pattern in settings["principals"]]
    if not any(re.fullmatch(pattern, name) or re.fullmatch(pattern, name.rpartition("/")[2]) for pattern in patterns):
        yield "the principal administers the whole cluster"
