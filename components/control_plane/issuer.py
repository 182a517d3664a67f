"""The issuer of ServiceAccount tokens, so that ServiceAccounts can be given IAM roles (IRSA).

- a bucket with two objects, the discovery document and the key set, both rendered from the public key;
- before it a CloudFront distribution, which alone may read it; or, on wish, the bucket open to everybody;
- the IAM OIDC provider that trusts it.

The issuer is known before any node exists, so the API servers start with it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi
import pulumi_aws as aws

from ..core.component import Component
from ..core.mistakes import Mistakes
from ..core.tags import check_tags, named
from ..roles.policy_documents import allow, document, rendered
from ..tables.regions import REGIONS
from .args import IrsaIssuer
from .control_plane_rules import check_issuer
from .key_set import DISCOVERY_PATH, KEY_SET_PATH, discovery_document, key_set, key_set_url

CACHING_OPTIMIZED = "658327ea-f89d-4fab-a63d-7e88639e58f6"
"""The managed cache policy of this name, the same in every account:
https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-cache-policies.html"""


@dataclass(frozen=True, kw_only=True)
class ServiceAccountIssuerArgs:
    """What an issuer is made from."""

    cluster_name: str
    """The cluster's name."""
    region: str
    """The region of the bucket."""
    public_key: pulumi.Input[str]
    """The public key of the ServiceAccount tokens: RSA, as PEM."""
    settings: IrsaIssuer = field(default_factory=IrsaIssuer)
    """How it is published."""
    tags: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tags of all parts."""


def check_service_account_issuer(args: ServiceAccountIssuerArgs) -> Mistakes:
    """Every mistake in the arguments."""
    found = check_issuer(args.settings)
    found.take(check_tags(args.tags))
    return found


class ServiceAccountIssuer(Component):
    """An issuer that IAM trusts, for the ServiceAccounts of a self-managed cluster.

    :raises WinkubeError: ``WK-CP-016``, ``WK-TAG``.
    """

    issuer: pulumi.Output[str]
    """Its address: what the API servers sign as."""
    key_set_url: pulumi.Output[str]
    """Where its key set lies."""
    oidc_provider_arn: pulumi.Output[str]
    """ARN of the IAM OIDC provider: what roles of ServiceAccounts trust."""

    def __init__(self, name: str, args: ServiceAccountIssuerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_service_account_issuer(args))
        self._name, self._args = name, args
        self._public = args.settings.publish == "s3"
        bucket = aws.s3.Bucket(
            f"{name}-bucket",
            bucket=args.settings.bucket_name,
            force_destroy=True,  # two objects, rendered anew by every deployment
            tags=named(args.tags, f"{name}-bucket"),
            opts=self.child(),
        )
        access = self._create_access(bucket)
        if self._public:
            suffix = REGIONS[args.region].dns_suffix
            self.issuer = pulumi.Output.format("https://{0}.s3.{1}.{2}", bucket.bucket, args.region, suffix)
            readable: list[pulumi.Resource] = [self._create_policy(bucket, None, access)]
        else:
            distribution = self._create_distribution(bucket)
            self.issuer = pulumi.Output.concat("https://", distribution.domain_name)
            readable = [self._create_policy(bucket, distribution, access), distribution]
        objects = self._create_objects(bucket)
        self.key_set_url = self.issuer.apply(key_set_url)
        provider = aws.iam.OpenIdConnectProvider(
            f"{name}-oidc",
            url=self.issuer,
            client_id_lists=[args.settings.audience],
            tags=named(args.tags, f"{name}-oidc"),
            # IAM looks at the discovery document when a token is shown to it, and at the certificate at once.
            opts=self.child(depends_on=[*readable, *objects]),
        )
        self.oidc_provider_arn = provider.arn
        self.register_outputs({
            "issuer": self.issuer, "keySetUrl": self.key_set_url, "oidcProviderArn": self.oidc_provider_arn,
        })  # fmt: skip

    def _create_access(self, bucket: aws.s3.Bucket) -> aws.s3.BucketPublicAccessBlock:
        aws.s3.BucketOwnershipControls(
            f"{self._name}-owner",
            bucket=bucket.bucket,
            rule=aws.s3.BucketOwnershipControlsRuleArgs(object_ownership="BucketOwnerEnforced"),
            opts=self.child(),
        )
        return aws.s3.BucketPublicAccessBlock(
            f"{self._name}-access",
            bucket=bucket.bucket,
            block_public_acls=True,
            ignore_public_acls=True,
            # Open by policy alone, and only where no distribution stands before it.
            block_public_policy=not self._public,
            restrict_public_buckets=not self._public,
            opts=self.child(),
        )

    def _create_policy(
        self, bucket: aws.s3.Bucket, distribution: aws.cloudfront.Distribution | None, access: pulumi.Resource
    ) -> aws.s3.BucketPolicy:
        facts = pulumi.Output.all(bucket.arn, distribution.arn if distribution else None)
        return aws.s3.BucketPolicy(
            f"{self._name}-policy",
            bucket=bucket.bucket,
            policy=facts.apply(lambda arns: rendered(issuer_policy(str(arns[0]), arns[1]))),
            opts=self.child(depends_on=[access]),
        )

    def _create_distribution(self, bucket: aws.s3.Bucket) -> aws.cloudfront.Distribution:
        control = aws.cloudfront.OriginAccessControl(
            f"{self._name}-access",
            description=f"Key set of {self._args.cluster_name}",
            origin_access_control_origin_type="s3",
            signing_behavior="always",
            signing_protocol="sigv4",
            opts=self.child(),
        )
        origin: Any = {
            "origin_id": "bucket",
            "domain_name": bucket.bucket_regional_domain_name,
            "origin_access_control_id": control.id,
        }
        behavior: Any = {
            "target_origin_id": "bucket",
            "viewer_protocol_policy": "https-only",
            "allowed_methods": ["GET", "HEAD"],
            "cached_methods": ["GET", "HEAD"],
            "cache_policy_id": CACHING_OPTIMIZED,
            "compress": True,
        }
        restrictions: Any = {"geo_restriction": {"restriction_type": "none"}}
        return aws.cloudfront.Distribution(
            f"{self._name}-distribution",
            comment=f"Issuer of {self._args.cluster_name}",
            enabled=True,
            is_ipv6_enabled=True,
            http_version="http2and3",
            origins=[origin],
            default_cache_behavior=behavior,
            restrictions=restrictions,
            # IAM checks the certificate of CloudFront's own name by the public authorities.
            viewer_certificate={"cloudfront_default_certificate": True},
            tags=named(self._args.tags, f"{self._name}-distribution"),
            opts=self.child(),
        )

    def _create_objects(self, bucket: aws.s3.Bucket) -> list[pulumi.Resource]:
        contents = {
            ("discovery", DISCOVERY_PATH): self.issuer.apply(discovery_document),
            ("key-set", KEY_SET_PATH): pulumi.Output.from_input(self._args.public_key).apply(key_set),
        }
        return [
            aws.s3.BucketObjectv2(
                f"{self._name}-{word}",
                bucket=bucket.bucket,
                key=path,
                content=content,
                content_type="application/json",
                cache_control="max-age=3600",
                tags=named(self._args.tags, f"{self._name}-{word}"),
                opts=self.child(),
            )
            for (word, path), content in contents.items()
        ]


def issuer_policy(bucket_arn: str, distribution_arn: str | None) -> dict[str, Any]:
    """Who may read the two objects: one distribution, or everybody; and nobody without TLS."""
    objects = [f"{bucket_arn}/{DISCOVERY_PATH}", f"{bucket_arn}/{KEY_SET_PATH}"]
    if distribution_arn is None:
        reader = allow("s3:GetObject", objects, sid="Everybody") | {"Principal": "*"}
    else:
        source = {"StringEquals": {"AWS:SourceArn": distribution_arn}}
        service = {"Principal": {"Service": "cloudfront.amazonaws.com"}}
        reader = allow("s3:GetObject", objects, sid="Distribution", conditions=source) | service
    closed = allow("s3:*", [bucket_arn, f"{bucket_arn}/*"], sid="DenyWithoutTls",
                   conditions={"Bool": {"aws:SecureTransport": "false"}})  # fmt: skip
    return document(reader, closed | {"Effect": "Deny", "Principal": "*"})
