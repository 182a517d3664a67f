"""Instances and what starts them: metadata, addresses, volumes, user data, Auto Scaling."""

import re
from collections.abc import Iterator

from ..frameworks import BEST_PRACTICES, best_practices, cis_aws, cis_eks, controls_page, fsbp
from ..inventory import inventory
from ..model import TEXTS, Option, Planned, Settings, Stack, Value, Violation, every, resource_rule, stack_rule
from ..resource_types import (
    AUTO_SCALING_GROUP,
    EBS_DEFAULT_ENCRYPTION,
    EBS_VOLUME,
    INSTANCE,
    LAUNCH_CONFIGURATION,
    LAUNCH_TEMPLATE,
    LAUNCHED,
    NETWORK_INTERFACE,
    NODE_GROUP,
)
from ..secret_patterns import SECRETS
from ..user_data import known_user_data

_DOWNLOAD = re.compile(
    r"(?i)(?:\b(?:curl|wget|iwr|irm|Invoke-WebRequest|Invoke-RestMethod|Start-BitsTransfer)\b|\.DownloadFile\(|"
    r"\.DownloadString\()[^\n]*?https?://(?!169\.254\.|localhost|127\.)"
)
_VERIFIED = re.compile(r"(?i)Get-FileHash|sha(?:256|512)sum|Get-AuthenticodeSignature|gpg\s+--verify|cosign\s+verify")


@resource_rule(
    "imdsv2-required",
    "Instances answer metadata requests with a session token only (IMDSv2)",
    types=LAUNCHED,
    severity="high",
    level="mandatory",
    references=[
        fsbp("EC2.8"), fsbp("EC2.170"), fsbp("AutoScaling.3"), cis_aws("5.6"),
        best_practices("Identity and access management"),
    ],
    steps='set metadata_options.http_tokens to "required"',
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-IMDS-new-instances.html",
)  # fmt: skip
def imdsv2_required(resource: Planned, settings: Settings) -> Iterator[str]:
    """Metadata must ask for a session token (IMDSv2), or be off."""
    options = resource["metadataOptions"]
    if not options.given and resource.type == INSTANCE and resource["launchTemplate"].given:
        return  # the launch template says it, and is checked itself
    endpoint, tokens = options["httpEndpoint"], options["httpTokens"]
    if endpoint.raw == "disabled" or tokens.raw == "required":
        return
    got = "is not set" if tokens.known() is None else f'is "{tokens.raw}"'
    endpoint.known()
    yield f"instance metadata answers requests without a token: metadataOptions.httpTokens {got}"


@resource_rule(
    "metadata-hop-limit",
    "Instance metadata stays out of reach of containers",
    types=LAUNCHED,
    references=[fsbp("AutoScaling.4"), best_practices("Identity and access management")],
    steps="set metadata_options.http_put_response_hop_limit to 1 and give pods roles of their own",
    url=f"{BEST_PRACTICES}/identity-and-access-management.html",
    options={"maximum": Option(1, "hops that an answer may take", {"type": "integer", "minimum": 1, "maximum": 64})},
)
def metadata_hop_limit(resource: Planned, settings: Settings) -> Iterator[str]:
    """Two hops reach into pods, which then have the node's role."""
    limit = resource["metadataOptions"]["httpPutResponseHopLimit"].number
    if limit is not None and limit > settings["maximum"]:
        yield f"metadata answers travel {limit} hops, so pods can take the credentials of their node"


@resource_rule(
    "no-public-address",
    "Instances have no public address",
    types=[*LAUNCHED],
    references=[fsbp("EC2.9"), fsbp("EC2.25"), fsbp("AutoScaling.5"), cis_eks("5.4.3")],
    steps="set associate_public_ip_address to false and start the instances in private subnets",
    url=controls_page("ec2"),
)
def no_public_address(resource: Planned, settings: Settings) -> Iterator[str]:
    """Only what is set on the instance; the subnet's default is another rule's."""

    def check(flag: Value) -> Iterator[str]:
        if flag.flag:
            yield f"{flag.path} gives the instances public addresses"

    flags = [resource["associatePublicIpAddress"]] if resource.type != LAUNCH_TEMPLATE else []
    if resource.type == LAUNCH_TEMPLATE:
        flags += [item["associatePublicIpAddress"] for item in resource["networkInterfaces"].items()]
    yield from every(flags, check)


@resource_rule(
    "ebs-encrypted",
    "Volumes are encrypted",
    types=[*LAUNCHED, EBS_VOLUME],
    severity="high",
    references=[fsbp("EC2.3"), fsbp("EC2.181"), best_practices("Windows storage and secrets")],
    steps="set encrypted to true on every volume; pods' secrets lie on the node's disk in clear text on Windows",
    url="https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption.html",
)
def ebs_encrypted(resource: Planned, settings: Settings) -> Iterator[str]:
    """Every volume that is described says so; one that is not described is the image's."""

    def check(volume: Value) -> Iterator[str]:
        if volume["noDevice"].settled or volume["virtualName"].settled:
            return
        if not volume["encrypted"].flag:
            place = volume.path or "the volume"
            yield f"{place} is not encrypted: encrypted {_state(volume['encrypted'])}"

    if resource.type == EBS_VOLUME:
        yield from check(Value(resource.props, ""))
    elif resource.type == LAUNCH_TEMPLATE:
        volumes = [mapping["ebs"] for mapping in resource["blockDeviceMappings"].items()]
        yield from every([volume for volume in volumes if volume.given], check)
    else:
        root = resource["rootBlockDevice"]
        volumes = [root] if root.given else []
        yield from every([*volumes, *resource["ebsBlockDevices"].items()], check)


def _state(value: Value) -> str:
    return "is not set" if value.raw is None else "is false"


@resource_rule(
    "ebs-encryption-by-default",
    "New volumes of the account are encrypted by default",
    types=[EBS_DEFAULT_ENCRYPTION],
    severity="high",
    level="mandatory",
    references=[fsbp("EC2.7"), cis_aws("2.2.1")],
    steps="set enabled to true, or leave the resource out",
    url="https://docs.aws.amazon.com/ebs/latest/userguide/encryption-by-default.html",
)
def ebs_encryption_by_default(resource: Planned, settings: Settings) -> Iterator[str]:
    """Switching the account's default off affects everybody in the region."""
    if resource["enabled"].flag is False:
        yield "the account's default encryption of volumes is switched off for the whole region"


@resource_rule(
    "launch-templates-only",
    "Instances are started from launch templates",
    types=[LAUNCH_CONFIGURATION, AUTO_SCALING_GROUP],
    severity="low",
    references=[fsbp("AutoScaling.9")],
    steps="use a launch template: new accounts can make no launch configuration any more",
    url="https://docs.aws.amazon.com/autoscaling/ec2/userguide/launch-configurations.html",
)
def launch_templates_only(resource: Planned, settings: Settings) -> Iterator[str]:
    """Launch configurations get no new features and no new accounts."""
    if resource.type == LAUNCH_CONFIGURATION:
        yield "launch configurations are superseded by launch templates"
    elif resource["launchConfiguration"].given:
        if resource["launchTemplate"].given:  # one of the two is nothing: which, the deployment knows
            resource["launchConfiguration"].known()
        yield "the Auto Scaling group starts from a launch configuration"


@resource_rule(
    "auto-scaling-zones",
    "Auto Scaling groups span several zones",
    types=[AUTO_SCALING_GROUP],
    references=[fsbp("AutoScaling.2")],
    steps="name subnets of two zones or more in vpc_zone_identifiers; one group per zone is right only for workloads "
    "that keep to a volume",
    url=controls_page("autoscaling"),
)
def auto_scaling_zones(resource: Planned, settings: Settings) -> Iterator[str]:
    """One zone in trouble must not take everything along. A group of one fixed machine is in one zone anyway."""
    if _one_machine(resource):
        return
    places = resource["vpcZoneIdentifiers"] if resource["vpcZoneIdentifiers"].given else resource["availabilityZones"]
    places.known()
    if len(places.items()) == 1:
        yield "the Auto Scaling group starts instances in one zone only"


@resource_rule(
    "auto-scaling-health",
    "Auto Scaling groups behind a load balancer ask it for their health",
    types=[AUTO_SCALING_GROUP],
    severity="low",
    references=[fsbp("AutoScaling.1")],
    steps='set health_check_type to "ELB"',
    url=controls_page("autoscaling"),
)
def auto_scaling_health(resource: Planned, settings: Settings) -> Iterator[str]:
    """The default only asks whether the machine runs. A fixed machine, such as a member of etcd, is not replaced for
    an answer that fails: its successor would begin with an empty disk.
    """
    if _one_machine(resource):
        return
    balanced = any(resource[name].items() for name in ("targetGroupArns", "loadBalancers", "trafficSources"))
    if balanced and resource["healthCheckType"].text not in ("ELB", "VPC_LATTICE"):
        yield "the group is behind a load balancer and does not ask it which instances work"


def _one_machine(resource: Planned) -> bool:
    """Whether an Auto Scaling group keeps exactly one machine alive."""
    return resource["minSize"].number == resource["maxSize"].number == 1


@resource_rule(
    "spot-several-types",
    "Spot groups name several instance types",
    types=[NODE_GROUP],
    severity="low",
    references=[fsbp("AutoScaling.6"), best_practices("Cost optimization")],
    steps="name three instance types or more of the same size",
    url="https://docs.aws.amazon.com/eks/latest/userguide/managed-node-groups.html#managed-node-group-capacity-types",
    options={"minimum": Option(2, "instance types of a spot group at least", {"type": "integer", "minimum": 1})},
)
def spot_several_types(resource: Planned, settings: Settings) -> Iterator[str]:
    """A type that has no spare capacity leaves the group empty."""
    types = resource["instanceTypes"]
    if resource["capacityType"].text != "SPOT":
        return
    types.known()
    if types.given and len(types.items()) < settings["minimum"]:
        yield f"the spot group names {len(types.items())} instance type: without spare capacity of it there is no node"


@resource_rule(
    "source-destination-check",
    "Interfaces drop traffic that is not for them",
    types=[INSTANCE, NETWORK_INTERFACE],
    severity="low",
    references=[fsbp("EC2.180")],
    steps="leave source_dest_check on, except on instances that route",
    url=controls_page("ec2"),
)
def source_destination_check(resource: Planned, settings: Settings) -> Iterator[str]:
    """Off is right for NAT instances and routers alone."""
    if resource["sourceDestCheck"].flag is False:
        yield "sourceDestCheck is off, so the instance takes and sends traffic of others"


@resource_rule(
    "user-data-without-secrets",
    "User data holds no secret",
    types=LAUNCHED,
    severity="critical",
    level="mandatory",
    references=[best_practices("Identity and access management")],
    steps="keep the secret in Secrets Manager or a SecureString parameter and read it on the instance with its role",
    url="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html",
    late=True,
)
def user_data_without_secrets(resource: Planned, settings: Settings) -> Iterator[str]:
    """Everybody who may describe the instance, and everything that runs on it, reads user data."""
    text = known_user_data(resource)
    for what, pattern in SECRETS.items():
        if text and pattern.search(text):
            yield f"user data holds {what}; it can be read by every process of the instance and by every describe call"


@resource_rule(
    "user-data-downloads-verified",
    "What user data downloads is verified before it is used",
    types=LAUNCHED,
    references=[best_practices("Windows hardening")],
    steps="compare the file's hash (Get-FileHash, sha256sum) with one that is written down, or bake it into the image",
    url=f"{BEST_PRACTICES}/windows-hardening.html",
    late=True,
)
def user_data_downloads_verified(resource: Planned, settings: Settings) -> Iterator[str]:
    """An unpinned download at boot runs as administrator on every node."""
    text = known_user_data(resource)
    if text and _DOWNLOAD.search(text) and not _VERIFIED.search(text):
        yield "user data downloads from the internet and verifies nothing"


@stack_rule(
    "no-key-pair-on-nodes",
    "Nodes have no SSH or RDP key pair",
    types=[LAUNCH_TEMPLATE],
    severity="low",
    references=[best_practices("Windows hardening")],
    steps="remove key_name and open sessions by Systems Manager (AmazonSSMManagedInstanceCore)",
    url=f"{BEST_PRACTICES}/windows-hardening.html",
    options={"allowed": Option([], "names of key pairs that are allowed", TEXTS)},
)
def no_key_pair_on_nodes(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """The key opens every node of the group, and on Windows decrypts the administrator's password."""
    found = inventory(stack)

    def check(template: Planned) -> Iterator[Violation]:
        key = template["keyName"].known()
        if key and key not in settings["allowed"]:
            message = "the nodes are given a key pair: whoever has its key is administrator of all of them"
            yield Violation(message, template.urn)

    templates = [*found.nodes_templates("windows"), *found.nodes_templates("linux")]
    yield from every([template for template, _ in templates], check)


RULES = (
    imdsv2_required,
    metadata_hop_limit,
    no_public_address,
    ebs_encrypted,
    ebs_encryption_by_default,
    launch_templates_only,
    auto_scaling_zones,
    auto_scaling_health,
    spot_several_types,
    source_destination_check,
    user_data_without_secrets,
    user_data_downloads_verified,
    no_key_pair_on_nodes,
)
