"""Cases of the rules in ``rules/instances/credentials.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import LAUNCH_TEMPLATE

from ..base import BOOTSTRAP, Case, one, planned, powershell, windows_group

NODES = {"userData": powershell(BOOTSTRAP)}

CASES = {
    "imdsv2-required": one(
        LAUNCH_TEMPLATE,
        [
            {"metadataOptions": {"httpTokens": "required", "httpEndpoint": UNKNOWN}},
            {"metadataOptions": {"httpEndpoint": "disabled"}},
        ],
        [{}, {"metadataOptions": {}}, {"metadataOptions": {"httpTokens": "optional"}}],
        [{"metadataOptions": UNKNOWN}, {"metadataOptions": {"httpTokens": UNKNOWN}}],
        "answers requests without a token: metadataOptions.httpTokens is",
    ),
    "metadata-hop-limit": one(
        LAUNCH_TEMPLATE,
        [{}, {"metadataOptions": {"httpPutResponseHopLimit": 1}}],
        [{"metadataOptions": {"httpPutResponseHopLimit": 2}}, {"metadataOptions": {"httpPutResponseHopLimit": 2.0}}],
        [{"metadataOptions": {"httpPutResponseHopLimit": UNKNOWN}}],
        "the hop limit is 2",
    ),
    "no-key-pair-on-nodes": Case(
        [[planned(LAUNCH_TEMPLATE, NODES)], [planned(LAUNCH_TEMPLATE, {"keyName": "k"})]],
        [
            [planned(LAUNCH_TEMPLATE, {**NODES, "keyName": "k"})],
            [planned(LAUNCH_TEMPLATE, {"keyName": "k"}, "w"), windows_group(launchTemplate={"id": UNKNOWN})],
        ],
        [[planned(LAUNCH_TEMPLATE, {**NODES, "keyName": UNKNOWN})]],
        "the nodes have a key pair",
    ),
}
