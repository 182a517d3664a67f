"""EKS clusters, their node groups and add-ons, whatever the operating system."""

import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any, cast

from winkube.core.cidr import network_or_none
from winkube.core.mistakes import Mistake
from winkube.eks.cluster_rules import check_service_cidr
from winkube.scheduling.labels import EKS_EFFECTS, Taint, check_labels, check_taints
from winkube.tables.instance_types import architecture
from winkube.tables.kubernetes import EKS_KNOWN_MINORS, EKS_MINORS, at_least, minor_number

from ..eks_resources import addon_values, minor_of
from ..frameworks import best_practices, cis_eks, cis_kubernetes, controls_page, eks_guide, fsbp
from ..inventory import inventory, vpcs_of
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
    texts,
)
from ..resource_types import (
    ACCESS_ENTRY,
    ACCESS_POLICY_ASSOCIATION,
    ADDON,
    CLUSTER,
    CONFIG_MAP,
    CONFIG_MAP_PATCH,
    FARGATE_PROFILE,
    IDENTITY_PROVIDER_CONFIG,
    LOG_GROUP,
    NETWORK_POLICY,
    NODE_GROUP,
    VPC,
    VPC_MORE_CIDR,
)

VERSIONS_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html"
ENDPOINT_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html"
ENTRIES_PAGE = "https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html"
SKEW = 3


@resource_rule(
    "cluster-endpoint-restricted",
    "The cluster's endpoint is not open to the internet",
    types=[CLUSTER],
    severity="high",
    references=[fsbp("EKS.1"), cis_eks("5.4.1"), cis_eks("5.4.2")],
    steps="set endpoint_public_access to false, or name your networks in public_access_cidrs",
    url=ENDPOINT_PAGE,
    options={
        "public": Option(
            "restricted", "`restricted` accepts a public endpoint that names its networks, `never` does not",
            {"type": "string", "enum": ["restricted", "never"]},
        ),
    },
)  # fmt: skip
def cluster_endpoint_restricted(resource: Planned, settings: Settings) -> Iterator[str]:
    """EKS opens it to everybody unless told otherwise."""
    config = resource["vpcConfig"]
    if config["endpointPublicAccess"].flag is False:
        return
    if settings["public"] == "never":
        yield "the cluster's endpoint is public"
        return
    cidrs = texts(config["publicAccessCidrs"])
    if not cidrs or any(cidr in ("0.0.0.0/0", "::/0") for cidr in cidrs):
        how = "publicAccessCidrs is not set" if not cidrs else "publicAccessCidrs holds every address"
        yield f"the whole internet reaches the cluster's endpoint: {how}"


@resource_rule(
    "cluster-endpoint-private",
    "Nodes reach the cluster's endpoint inside the VPC",
    types=[CLUSTER],
    references=[cis_eks("5.4.2")],
    steps="set endpoint_private_access to true",
    url=ENDPOINT_PAGE,
)
def cluster_endpoint_private(resource: Planned, settings: Settings) -> Iterator[str]:
    """Without it the nodes' traffic leaves the VPC."""
    if not resource["vpcConfig"]["endpointPrivateAccess"].flag:
        yield "endpointPrivateAccess is not true, so nodes speak to the control plane through the internet"


@resource_rule(
    "cluster-version-exists",
    "The cluster runs a Kubernetes minor that EKS still runs",
    types=[CLUSTER, NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[fsbp("EKS.2")],
    steps=f"set version to {' or '.join(EKS_MINORS)}",
    url=VERSIONS_PAGE,
)
def cluster_version_exists(resource: Planned, settings: Settings) -> Iterator[str]:
    """A newer one than the table knows is not judged."""
    minor = minor_of(resource["version"])
    oldest = next(iter(EKS_KNOWN_MINORS))
    if minor and not at_least(minor, oldest):
        yield f"EKS ended Kubernetes {minor}: the oldest that it runs is {oldest}"


@resource_rule(
    "cluster-version-supported",
    "The cluster runs a Kubernetes minor in standard support",
    types=[CLUSTER],
    references=[fsbp("EKS.2")],
    steps=f"set version to {' or '.join(EKS_MINORS)}",
    url=VERSIONS_PAGE,
)
def cluster_version_supported(resource: Planned, settings: Settings) -> Iterator[str]:
    """Extended support costs six times as much."""
    minor = minor_of(resource["version"])
    if minor and minor in EKS_KNOWN_MINORS and minor not in EKS_MINORS:
        ended = EKS_KNOWN_MINORS[minor].standard_support_until
        yield f"standard support of Kubernetes {minor} ended on {ended}: the control plane costs six times as much"


@stack_rule(
    "node-version-skew",
    "Nodes are not newer than their cluster, and not too old for it",
    types=[NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Update a managed node group"), fsbp("EKS.2")],
    steps="leave version out of the node group, or set it to the cluster's",
    url="https://kubernetes.io/releases/version-skew-policy/",
)
def node_version_skew(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """EKS refuses newer nodes; kubelets may be three minors older. Windows nodes are no exception."""

    def check(group: Planned) -> Iterator[Violation]:
        cluster = stack.by_urn.get(inventory(stack).cluster(group) or "")
        if cluster is None or not group["version"].given or not cluster["version"].given:
            return
        nodes, control = minor_of(group["version"]), minor_of(cluster["version"])
        if nodes is None or control is None:
            return
        if not at_least(control, nodes):
            yield Violation(f"nodes of Kubernetes {nodes} are newer than their cluster of {control}", group.urn)
        elif minor_number(control)[1] - minor_number(nodes)[1] > SKEW:
            message = f"nodes of Kubernetes {nodes} are more than {SKEW} minors older than their cluster of {control}"
            yield Violation(message, group.urn)

    yield from every(stack.of(NODE_GROUP), check)


@resource_rule(
    "cluster-secrets-encrypted",
    "Kubernetes secrets are encrypted with a key of one's own",
    types=[CLUSTER],
    references=[fsbp("EKS.3"), cis_eks("5.3.1")],
    steps='set encryption_config with the key of a KMS key and resources ["secrets"]',
    url="https://docs.aws.amazon.com/eks/latest/userguide/enable-kms.html",
)
def cluster_secrets_encrypted(resource: Planned, settings: Settings) -> Iterator[str]:
    """EKS encrypts everything with a key of its own since 1.28; who may decrypt is then not yours to say."""
    config = resource["encryptionConfig"]
    config.known()
    if not config.given or "secrets" not in texts(config["resources"]):
        yield "secrets are not encrypted with a key of your own"


@resource_rule(
    "eks-tagged",
    "Clusters, node groups and identity providers are tagged",
    types=[CLUSTER, NODE_GROUP, IDENTITY_PROVIDER_CONFIG],
    severity="low",
    references=[fsbp("EKS.6"), fsbp("EKS.7")],
    steps="set tags that say whose it is and what for; default tags of the provider are not seen here",
    url=controls_page("eks"),
    options={"keys": Option([], "keys that there must be; without any, one tag is enough", TEXTS)},
)
def eks_tagged(resource: Planned, settings: Settings) -> Iterator[str]:
    """Tags are how bills and permissions are told apart."""
    tags: Any = resource["tags"].known()
    keys = set(cast(Mapping[str, Any], tags or {}))
    if not keys:
        yield "the resource has no tag"
    elif missing := [key for key in settings["keys"] if key not in keys]:
        yield f"tags lack {', '.join(missing)}"


@resource_rule(
    "cluster-audit-logs",
    "The control plane writes its audit log",
    types=[CLUSTER],
    references=[fsbp("EKS.8"), cis_eks("2.1.1")],
    steps='set enabled_cluster_log_types to ["api", "audit", "authenticator", "controllerManager", "scheduler"]',
    url="https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html",
    options={"types": Option(["audit"], "logs that there must be", TEXTS)},
)
def cluster_audit_logs(resource: Planned, settings: Settings) -> Iterator[str]:
    """Who did what cannot be found out afterwards without it."""
    enabled = texts(resource["enabledClusterLogTypes"])
    missing = [name for name in settings["types"] if name not in enabled]
    if missing:
        yield f"the control plane does not write: {', '.join(missing)}"


@stack_rule(
    "cluster-log-group",
    "The log group of the control plane is made before the cluster",
    types=[CLUSTER],
    severity="low",
    references=[cis_eks("2.1.2")],
    steps='make an aws.cloudwatch.LogGroup "/aws/eks/<cluster>/cluster" with retention_in_days, before the cluster',
    url="https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html",
)
def cluster_log_group(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Else EKS makes one that keeps everything for ever and stays when the cluster goes."""
    names = [group["name"] for group in stack.of(LOG_GROUP)]

    def check(cluster: Planned) -> Iterator[Violation]:
        logs = cluster["enabledClusterLogTypes"]
        logs.known()
        if not logs.items():
            return
        name = cluster["name"].text
        known = {value.settled for value in names}
        if name and f"/aws/eks/{name}/cluster" in known:
            return
        if name and any(value.unknown for value in names):
            raise Undecided("the name of a log group")
        message = "EKS makes the log group itself: it keeps everything for ever"
        yield Violation(message if name else f"{message}; the cluster has no fixed name to make one for", cluster.urn)

    yield from every(stack.of(CLUSTER), check)


@resource_rule(
    "cluster-access-entries",
    "Access to the cluster is given by access entries",
    types=[CLUSTER],
    references=[cis_eks("4.1.7"), cis_eks("5.5.1")],
    steps='set access_config.authentication_mode to "API"',
    url="https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html",
)
def cluster_access_entries(resource: Planned, settings: Settings) -> Iterator[str]:
    """The ConfigMap aws-auth locks everybody out when it is written wrong."""
    mode = resource["accessConfig"]["authenticationMode"].text
    if mode not in ("API", "API_AND_CONFIG_MAP"):
        state = "is not set" if mode is None else f'is "{mode}"'
        yield f"access is given by the ConfigMap aws-auth alone: accessConfig.authenticationMode {state}"


@stack_rule(
    "aws-auth-has-effect",
    "The ConfigMap aws-auth is not written where nobody reads it",
    types=[CONFIG_MAP, CONFIG_MAP_PATCH],
    severity="high",
    level="mandatory",
    references=[cis_eks("4.1.7")],
    steps="make access entries instead, or set the cluster's authentication_mode to API_AND_CONFIG_MAP",
    url="https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html",
)
def aws_auth_has_effect(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """In the mode API nobody gets access by it."""

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
    steps="bind a group of your own to the role you mean, or associate an access policy; entries of nodes take neither",
    url=ENTRIES_PAGE,
)
def access_entry_groups(resource: Planned, settings: Settings) -> Iterator[str]:
    """Groups of Kubernetes and AWS, and any group for nodes."""
    groups = texts(resource["kubernetesGroups"])
    kind = resource["type"].text or "STANDARD"
    if groups and kind != "STANDARD":
        yield f"an access entry of the type {kind} takes no Kubernetes groups"
        return
    for group in groups:
        if group.startswith(("system:", "eks:", "aws:", "amazon:", "iam:")):
            yield f'EKS refuses the group "{group}" in an access entry'


@resource_rule(
    "cluster-admin-access",
    "Cluster administration is given to few",
    types=[ACCESS_POLICY_ASSOCIATION],
    references=[cis_eks("4.1.1")],
    steps="associate AmazonEKSAdminPolicy or AmazonEKSEditPolicy with the namespaces that the principal works in",
    url="https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html",
    options={
        "principals": Option(
            ["*admin*", "*platform*", "*deploy*", "*breakglass*"],
            "principals that may administer clusters, by the name in their ARN; a star stands for any text", TEXTS,
        ),
    },
    late=True,
)  # fmt: skip
def cluster_admin_access(resource: Planned, settings: Settings) -> Iterator[str]:
    """Judged by the principal's name: whoever is called an administrator may be one."""
    policy = (resource["policyArn"].text or "").rsplit("/", 1)[-1]
    if policy != "AmazonEKSClusterAdminPolicy":
        return
    name = (resource["principalArn"].text or "").rsplit(":", 1)[-1].lower()
    patterns = [re.escape(str(pattern).lower()).replace(r"\*", ".*") for pattern in settings["principals"]]
    if not any(re.fullmatch(pattern, name) or re.fullmatch(pattern, name.rpartition("/")[2]) for pattern in patterns):
        yield "the principal administers the whole cluster"


@resource_rule(
    "cluster-deletion-protection",
    "Clusters are protected from deletion",
    types=[CLUSTER],
    severity="high",
    references=[eks_guide("Protect EKS clusters from accidental deletion")],
    steps="set deletion_protection to true",
    url="https://docs.aws.amazon.com/eks/latest/userguide/deletion-protection.html",
    options=WHEN_OPTIONS,
)
def cluster_deletion_protection(resource: Planned, settings: Settings) -> Iterator[str]:
    """In production, unless the configuration says always."""
    if applies(resource, settings) and not resource["deletionProtection"].flag:
        yield "the cluster can be deleted in one step"


@resource_rule(
    "cluster-two-zones",
    "The control plane has subnets in two zones",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("VPC and subnet requirements")],
    steps="name a subnet in each of two or three zones",
    url="https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",
)
def cluster_two_zones(resource: Planned, settings: Settings) -> Iterator[str]:
    """EKS refuses a cluster with one subnet."""
    subnets = resource["vpcConfig"]["subnetIds"]
    subnets.known()
    if len(subnets.items()) == 1 and not resource["outpostConfig"].given:
        yield "EKS refuses a cluster with one subnet: it needs two, in two zones"


@resource_rule(
    "cluster-service-range",
    "The range of service addresses is one that EKS takes",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("VPC and subnet requirements")],
    steps='set service_ipv4_cidr to a network such as "172.20.0.0/16"',
    url="https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html",
)
def cluster_service_range(resource: Planned, settings: Settings) -> Iterator[str]:
    """Private, of /12 to /24."""
    cidr = resource["kubernetesNetworkConfig"]["serviceIpv4Cidr"].text
    for mistake in check_service_cidr(cidr) if cidr else ():
        yield f"{mistake.message}, got {cidr}"


@stack_rule(
    "cluster-service-range-apart",
    "Service addresses lie outside of the VPC",
    types=[CLUSTER],
    severity="high",
    level="mandatory",
    references=[eks_guide("VPC and subnet requirements")],
    steps="choose another service_ipv4_cidr; it cannot be changed later",
    url="https://docs.aws.amazon.com/eks/latest/APIReference/API_KubernetesNetworkConfigRequest.html",
)
def cluster_service_range_apart(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """What lies in both is never reached: the node answers itself."""

    def check(cluster: Planned) -> Iterator[Violation]:
        service = network_or_none(cluster["kubernetesNetworkConfig"]["serviceIpv4Cidr"].text or "")
        if service is None:
            return
        vpcs = vpcs_of(stack, cluster)
        blocks = [vpc["cidrBlock"] for vpc in vpcs]
        blocks += [more["cidrBlock"] for more in stack.of(VPC_MORE_CIDR)
                   if any(vpc in vpcs for vpc in stack.sources(more, "vpcId", VPC))]  # fmt: skip
        yield from every(blocks, lambda block: _overlap(block, service, cluster))

    yield from every(stack.of(CLUSTER), check)


def _overlap(block: Value, service: IPv4Network, cluster: Planned) -> Iterator[Violation]:
    network = network_or_none(block.text or "")
    if network is not None and network.overlaps(service):
        yield Violation(f"service addresses {service} overlap the VPC's {network}", cluster.urn)


@resource_rule(
    "node-image-maintained",
    "Nodes run an image that is still maintained",
    types=[NODE_GROUP],
    severity="high",
    references=[fsbp("EKS.2"), eks_guide("Amazon Linux 2 AMI deprecation")],
    steps="set ami_type to AL2023_x86_64_STANDARD or BOTTLEROCKET_x86_64",
    url="https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html",
)
def node_image_maintained(resource: Planned, settings: Settings) -> Iterator[str]:
    """EKS stopped making Amazon Linux 2 images on 26 November 2025; the last were for Kubernetes 1.32."""
    if (resource["amiType"].text or "").startswith("AL2_"):
        yield "EKS makes no images of Amazon Linux 2 any more since 26 November 2025"


@resource_rule(
    "node-group-architecture",
    "Instance types of a group fit its image",
    types=[NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Managed node groups")],
    steps="use instance types of the architecture in ami_type; make one group for each architecture",
    url="https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html",
)
def node_group_architecture(resource: Planned, settings: Settings) -> Iterator[str]:
    """EKS refuses mixed groups. Types that the table does not know are not judged."""
    names = texts(resource["instanceTypes"])
    known = {name: found for name in names if (found := architecture(name))}
    ami = resource["amiType"].text or ""
    wanted = "arm64" if "ARM" in ami.upper() else "x86_64" if "x86_64" in ami or ami.startswith("AL2_x86") else None
    wrong = [name for name, found in known.items() if wanted and found != wanted]
    if wrong:
        yield f"{', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} not {wanted}, as {ami} is"
    elif len(set(known.values())) > 1:
        yield f"the instance types have different architectures: {', '.join(names)}"


@resource_rule(
    "node-group-sizes",
    "The sizes of a group fit each other",
    types=[NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Managed node groups")],
    steps="set 0 <= min_size <= desired_size <= max_size, and max_size to 1 or more",
    url="https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupScalingConfig.html",
)
def node_group_sizes(resource: Planned, settings: Settings) -> Iterator[str]:
    """EKS refuses others."""
    scaling = resource["scalingConfig"]
    low, desired, high = (scaling[name].number for name in ("minSize", "desiredSize", "maxSize"))
    if high is not None and high < 1:
        yield f"maxSize is 1 or more, got {high}"
    elif low is not None and high is not None and desired is not None and not 0 <= low <= desired <= high:
        yield f"minSize {low}, desiredSize {desired} and maxSize {high} are not in order"


@resource_rule(
    "node-group-labels",
    "Labels and taints of a group are ones that EKS takes",
    types=[NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Managed node groups")],
    steps="use keys under a domain of your own, such as example.com/team",
    url="https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html",
)
def node_group_labels(resource: Planned, settings: Settings) -> Iterator[str]:
    """The checks of the node group components: syntax, reserved domains, numbers."""
    labels = {key: value.text or "" for key, value in resource["labels"].entries()}
    words = {theirs: ours for ours, theirs in EKS_EFFECTS.items()}
    taints = [
        Taint(key=taint["key"].text or "", value=taint["value"].text or "",
              effect=words.get(taint["effect"].text or "", taint["effect"].text or ""))
        for taint in resource["taints"].items()
    ]  # fmt: skip
    for mistake in [*check_labels(labels), *check_taints(taints)]:
        yield _told(mistake)


def _told(mistake: Mistake) -> str:
    field, *inner = mistake.path
    what = f', got "{inner[0]}"' if field == "labels" and inner else ""
    return f"{field}: {mistake.message}{what}; {mistake.remedy}"


@resource_rule(
    "node-group-remote-access",
    "Remote access to nodes is not open to the internet",
    types=[NODE_GROUP],
    severity="critical",
    level="mandatory",
    references=[fsbp("EC2.13"), fsbp("EC2.14"), cis_eks("5.4.3")],
    steps="remove remote_access, or name security groups in source_security_group_ids",
    url="https://docs.aws.amazon.com/eks/latest/APIReference/API_RemoteAccessConfig.html",
)
def node_group_remote_access(resource: Planned, settings: Settings) -> Iterator[str]:
    """A key without source groups makes EKS open port 22, or 3389 on Windows, to 0.0.0.0/0."""
    access = resource["remoteAccess"]
    key = access["ec2SshKey"]
    if key.given:
        key.known()
        groups = access["sourceSecurityGroupIds"]
        groups.known()
        if not groups.items():
            yield "EKS opens SSH, or RDP on Windows, to the whole internet: sourceSecurityGroupIds is not set"


@stack_rule(
    "network-policies-enforced",
    "Network policies are enforced by something",
    types=[NETWORK_POLICY],
    severity="high",
    references=[cis_eks("4.3.1"), cis_eks("5.4.4"), cis_kubernetes("5.3.1")],
    steps='set "enableNetworkPolicy": "true" in configuration_values of the add-on vpc-cni; for Windows use Calico',
    url="https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy.html",
)
def network_policies_enforced(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Policies that nobody enforces look safe and are not."""
    others = re.compile(r"(?i)calico|tigera|cilium|antrea")
    if any(others.search(resource.type) or others.search(resource.name) for resource in stack.resources):
        return
    addons = [addon for addon in stack.of(ADDON) if addon["addonName"].settled == "vpc-cni"]
    for addon in addons:
        values = addon_values(addon["configurationValues"])
        if str(Value(values, "")["enableNetworkPolicy"].settled).lower() == "true":
            return
    if addons:
        policies = stack.of(NETWORK_POLICY)
        message = f"{len(policies)} network policies have no effect: the vpc-cni add-on does not enforce them"
        yield Violation(message, addons[0].urn)


@resource_rule(
    "fargate-selectors",
    "Fargate profiles name who they take",
    types=[FARGATE_PROFILE],
    severity="low",
    references=[eks_guide("Define which Pods use Fargate")],
    steps="name namespaces in selectors, without a star that takes all",
    url="https://docs.aws.amazon.com/eks/latest/userguide/fargate-profile.html",
)
def fargate_selectors(resource: Planned, settings: Settings) -> Iterator[str]:
    """A profile for every namespace takes Windows pods too, and they never start."""

    def check(selector: Value) -> Iterator[str]:
        if selector["namespace"].text == "*" and not selector["labels"].given:
            yield "the profile takes the pods of every namespace, those for other nodes included"

    yield from every(resource["selectors"].items(), check)


@resource_rule(
    "addon-conflicts",
    "Add-ons keep what the program says of them",
    types=[ADDON],
    severity="low",
    references=[best_practices("EKS add-ons")],
    steps='set resolve_conflicts_on_update to "OVERWRITE", or to "PRESERVE" where somebody else configures it',
    url="https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateAddon.html",
)
def addon_conflicts(resource: Planned, settings: Settings) -> Iterator[str]:
    """Without a word an update of a changed add-on fails half-way."""
    configured = resource["configurationValues"].given
    if configured and resource["resolveConflictsOnUpdate"].text in (None, "NONE"):
        yield "an update fails when somebody changed the add-on: resolveConflictsOnUpdate is not set"


RULES = (
    cluster_endpoint_restricted,
    cluster_endpoint_private,
    cluster_version_exists,
    cluster_version_supported,
    node_version_skew,
    cluster_secrets_encrypted,
    eks_tagged,
    cluster_audit_logs,
    cluster_log_group,
    cluster_access_entries,
    aws_auth_has_effect,
    access_entry_groups,
    cluster_admin_access,
    cluster_deletion_protection,
    cluster_two_zones,
    cluster_service_range,
    cluster_service_range_apart,
    node_image_maintained,
    node_group_architecture,
    node_group_sizes,
    node_group_labels,
    node_group_remote_access,
    network_policies_enforced,
    fargate_selectors,
    addon_conflicts,
)
