"""Every IAM document of a plan, as AWS would get it."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from winkube.preview.model import Plan, Resource, walk

from tests.validators.terraform_plan import addresses

ACCOUNT, REGION = "111122223333", "eu-central-1"
ARNS: Mapping[str, str] = {
    "aws:cloudfront/distribution:Distribution": "cloudfront::{account}:distribution/{name}",
    "aws:cloudwatch/eventRule:EventRule": "events:{region}:{account}:rule/{name}",
    "aws:cloudwatch/logGroup:LogGroup": "logs:{region}:{account}:log-group:{name}",
    "aws:eks/cluster:Cluster": "eks:{region}:{account}:cluster/{name}",
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": "iam::{account}:oidc-provider/oidc.eks.example/id/{name}",
    "aws:iam/role:Role": "iam::{account}:role/{name}",
    "aws:kms/key:Key": "kms:{region}:{account}:key/0c5f5a52-6f1a-4f0b-a2d4-2ad2fd1d2d3a",
    "aws:s3/bucket:Bucket": "s3:::{name}",
    "aws:secretsmanager/secret:Secret": "secretsmanager:{region}:{account}:secret:{name}",
    "aws:sqs/queue:Queue": "sqs:{region}:{account}:{name}",
    "aws:ssm/parameter:Parameter": "ssm:{region}:{account}:parameter/{name}",
}
"""What the ARNs of a type look like. In a plan that nobody deployed they are placeholders, which no linter knows."""


@dataclass(frozen=True)
class Found:
    """One document: where it stands, and what it says."""

    plan: str
    address: str
    key: str
    """The property that holds it."""
    document: Mapping[str, Any]

    @property
    def statements(self) -> list[Mapping[str, Any]]:
        """Its statements; one alone may stand without a list."""
        listed = self.document["Statement"]
        return listed if isinstance(listed, list) else [listed]


def iam_documents(plan: Plan, label: str) -> Iterator[Found]:
    """Whatever is JSON with statements, wherever in an AWS resource it stands: so no kind can be forgotten.

    :raises LookupError: a document names the ARN of a type that has no row in :data:`ARNS`.
    """
    for urn, address in addresses(plan).items():
        resource = plan.by_urn[urn]
        for path, value in walk(resource.inputs):
            if isinstance(value, str) and value.lstrip().startswith("{") and '"Statement"' in value:
                key = str(path[0])
                document = json.loads(_deployed(value, plan, resource, key))
                yield Found(label, address, key, document)


def _deployed(text: str, plan: Plan, resource: Resource, key: str) -> str:
    """A text with ARNs in the place of their placeholders."""
    for urn in resource.options.property_dependencies.get(key, ()):
        other = plan.by_urn[urn]
        form = ARNS.get(other.type, "")
        placeholder = re.compile(rf"arn:([a-z-]+):placeholder:::placeholder/{re.escape(other.name)}\.arn")
        if form:
            arn = form.format(region=REGION, account=ACCOUNT, name=other.name)
            text = placeholder.sub(lambda found, arn=arn: f"arn:{found[1]}:{arn}", text)
    if ":placeholder:" in text:
        raise LookupError(f"{resource.name}: a placeholder is left in {text}; add a row to ARNS")
    # Who cut the account out of a placeholder has got none.
    return text.replace(":iam:::", f":iam::{ACCOUNT}:")
