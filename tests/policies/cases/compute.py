"""Cases of the rules about instances."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import (
    AUTO_SCALING_GROUP,
    EBS_DEFAULT_ENCRYPTION,
    INSTANCE,
    LAUNCH_CONFIGURATION,
    LAUNCH_TEMPLATE,
    NODE_GROUP,
)

from .base import BOOTSTRAP, Case, encoded, one, planned, powershell, windows_group

TOKEN = "kubeadm join --token abcdef.0123456789abcdef"
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
        "metadata answers travel 2 hops",
    ),
    "no-public-address": Case(
        [
            [planned(INSTANCE, {})],
            [planned(LAUNCH_TEMPLATE, {"networkInterfaces": [{}]})],
            [planned(LAUNCH_CONFIGURATION, {"associatePublicIpAddress": False})],
        ],
        [
            [planned(INSTANCE, {"associatePublicIpAddress": True})],
            [planned(LAUNCH_TEMPLATE, {"networkInterfaces": [{"associatePublicIpAddress": "true"}]})],
        ],
        [
            [planned(INSTANCE, {"associatePublicIpAddress": UNKNOWN})],
            [planned(LAUNCH_TEMPLATE, {"networkInterfaces": UNKNOWN})],
        ],
        "gives the instances public addresses",
    ),
    "ebs-encrypted": Case(
        [
            [
                planned(
                    LAUNCH_TEMPLATE,
                    {
                        "blockDeviceMappings": [
                            {"deviceName": "/dev/sda1", "ebs": {"encrypted": "true"}},
                            {"deviceName": "/dev/sdb", "noDevice": "true"},
                        ]
                    },
                )
            ],
            [planned(INSTANCE, {})],
            [planned("aws:ebs/volume:Volume", {"encrypted": True})],
        ],
        [
            [planned(LAUNCH_TEMPLATE, {"blockDeviceMappings": [{"ebs": {"volumeSize": 50}}]})],
            [planned(INSTANCE, {"rootBlockDevice": {"encrypted": False}})],
            [planned("aws:ebs/volume:Volume", {"size": 10})],
        ],
        [
            [planned(LAUNCH_TEMPLATE, {"blockDeviceMappings": [{"ebs": {"encrypted": UNKNOWN}}]})],
            [planned(LAUNCH_TEMPLATE, {"blockDeviceMappings": UNKNOWN})],
        ],
        "is not encrypted: encrypted is",
    ),
    "ebs-encryption-by-default": one(
        EBS_DEFAULT_ENCRYPTION,
        [{}, {"enabled": True}],
        [{"enabled": False}],
        [{"enabled": UNKNOWN}],
        "switched off for the whole region",
    ),
    "launch-templates-only": Case(
        [[planned(AUTO_SCALING_GROUP, {"launchTemplate": {"id": UNKNOWN}})]],
        [
            [planned(AUTO_SCALING_GROUP, {"launchConfiguration": "old"})],
            [planned(LAUNCH_CONFIGURATION, {"instanceType": "m5.large"})],
        ],
        [[planned(AUTO_SCALING_GROUP, {"launchConfiguration": UNKNOWN, "launchTemplate": {"id": UNKNOWN}})]],
        "launch configuration",
    ),
    "auto-scaling-zones": one(
        AUTO_SCALING_GROUP,
        [{"vpcZoneIdentifiers": ["a", UNKNOWN]}, {"availabilityZones": ["eu-central-1a", "eu-central-1b"]}],
        [{"vpcZoneIdentifiers": [UNKNOWN]}, {"availabilityZones": ["eu-central-1a"]}],
        [{"vpcZoneIdentifiers": UNKNOWN}],
        "one zone only",
    ),
    "auto-scaling-health": one(
        AUTO_SCALING_GROUP,
        [{}, {"targetGroupArns": [UNKNOWN], "healthCheckType": "ELB"}],
        [{"targetGroupArns": [UNKNOWN]}, {"loadBalancers": ["a"], "healthCheckType": "EC2"}],
        [{"targetGroupArns": ["a"], "healthCheckType": UNKNOWN}],
        "does not ask it which instances work",
    ),
    "spot-several-types": one(
        NODE_GROUP,
        [{"instanceTypes": ["m6i.large"]}, {"capacityType": "SPOT", "instanceTypes": ["m6i.large", "m6a.large"]}],
        [{"capacityType": "SPOT", "instanceTypes": ["m6i.large"]}],
        [{"capacityType": "SPOT", "instanceTypes": UNKNOWN}, {"capacityType": UNKNOWN, "instanceTypes": ["m6i.large"]}],
        "names 1 instance type",
    ),
    "source-destination-check": one(
        INSTANCE,
        [{}, {"sourceDestCheck": True}],
        [{"sourceDestCheck": False}],
        [{"sourceDestCheck": UNKNOWN}],
        "takes and sends traffic of others",
    ),
    "user-data-without-secrets": one(
        LAUNCH_TEMPLATE,
        [
            {},
            {"userData": encoded("#!/bin/bash\nPASSWORD=$(aws ssm get-parameter --name x)\n")},
            {"userData": encoded("kubeadm token create\n")},
        ],
        [
            {"userData": encoded(f"#!/bin/bash\n{TOKEN}\n")},
            {"userData": f"#!/bin/bash\n{TOKEN}\n"},
            {"userData": encoded("export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE\n")},
            {"userData": powershell('$Password = "Winter2026!"')},
            {"userData": encoded("-----BEGIN RSA PRIVATE KEY-----\n")},
        ],
        [{"userData": UNKNOWN}],
        "user data holds a",
    ),
    "user-data-downloads-verified": one(
        LAUNCH_TEMPLATE,
        [
            {},
            {"userData": encoded("curl -s http://169.254.169.254/latest/meta-data/instance-id")},
            {"userData": powershell("iwr https://example.com/a.zip -OutFile a.zip", "Get-FileHash a.zip")},
        ],
        [
            {"userData": powershell("Invoke-WebRequest https://example.com/a.zip -OutFile a.zip")},
            {"userData": encoded("#!/bin/bash\ncurl -sSL https://example.com/install.sh | bash\n")},
        ],
        [{"userData": UNKNOWN}],
        "verifies nothing",
    ),
    "no-key-pair-on-nodes": Case(
        [[planned(LAUNCH_TEMPLATE, NODES)], [planned(LAUNCH_TEMPLATE, {"keyName": "k"})]],
        [
            [planned(LAUNCH_TEMPLATE, {**NODES, "keyName": "k"})],
            [planned(LAUNCH_TEMPLATE, {"keyName": "k"}, "w"), windows_group(launchTemplate={"id": UNKNOWN})],
        ],
        [[planned(LAUNCH_TEMPLATE, {**NODES, "keyName": UNKNOWN})]],
        "the nodes are given a key pair",
    ),
}
