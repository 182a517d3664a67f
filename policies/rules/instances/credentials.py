"""What an instance gives away to those who reach it: its metadata and its key pair."""

from collections.abc import Iterator

from ...frameworks import BEST_PRACTICES, best_practices, cis_aws, fsbp
from ...inventory import inventory
from ...model import TEXTS, Option, Planned, Settings, Stack, Violation, every, resource_rule, stack_rule
from ...resource_types import INSTANCE, LAUNCH_TEMPLATE, LAUNCHED


@resource_rule(
    "imdsv2-required",
    "Instance metadata requires a session token (IMDSv2)",
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
    """Metadata that is switched off is accepted too."""
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
    "Containers cannot reach instance metadata",
    types=LAUNCHED,
    references=[fsbp("AutoScaling.4"), best_practices("Identity and access management")],
    steps="set metadata_options.http_put_response_hop_limit to 1 and give pods roles of their own",
    url=f"{BEST_PRACTICES}/identity-and-access-management.html",
    options={
        "maximum": Option(1, "largest hop limit that is accepted", {"type": "integer", "minimum": 1, "maximum": 64})
    },
)
def metadata_hop_limit(resource: Planned, settings: Settings) -> Iterator[str]:
    """With two hops, an answer reaches pods, which can then use the node's role."""
    limit = resource["metadataOptions"]["httpPutResponseHopLimit"].number
    if limit is not None and limit > settings["maximum"]:
        yield f"the hop limit is {limit}, so pods can read the credentials of their node"


@stack_rule(
    "no-key-pair-on-nodes",
    "Nodes have no SSH or RDP key pair",
    types=[LAUNCH_TEMPLATE],
    severity="low",
    references=[best_practices("Windows hardening")],
    steps="remove key_name, and use Systems Manager sessions (attach AmazonSSMManagedInstanceCore)",
    url=f"{BEST_PRACTICES}/windows-hardening.html",
    options={"allowed": Option([], "names of key pairs that are allowed", TEXTS)},
)
def no_key_pair_on_nodes(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """One key opens every node of the group. On Windows it also decrypts the administrator's password."""
    found = inventory(stack)

    def check(template: Planned) -> Iterator[Violation]:
        key = template["keyName"].known()
        if key and key not in settings["allowed"]:
            message = "the nodes have a key pair: whoever holds its private key is administrator on all of them"
            yield Violation(message, template.urn)

    templates = [*found.nodes_templates("windows"), *found.nodes_templates("linux")]
    yield from every([template for template, _ in templates], check)
