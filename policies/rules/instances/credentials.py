"""What an instance gives away to those who reach it: its metadata and its key pair."""

from collections.abc import Iterator

from ...frameworks import BEST_PRACTICES, best_practices, cis_aws, fsbp
from ...inventory import inventory
from ...model import TEXTS, Option, Planned, Settings, Stack, Violation, every, resource_rule, stack_rule
from ...resource_types import INSTANCE, LAUNCH_TEMPLATE, LAUNCHED


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
