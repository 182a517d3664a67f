"""The state bucket as a whole: what it refuses, whatever else is said."""

import json

from winkube.preview.model import Plan
from winkube.state_bucket.state_bucket import StateBucket, StateBucketArgs

TEAM = "arn:aws:iam::111122223333:role/k8s/*"


def made(plan: Plan) -> dict:
    return {resource.type.rpartition(":")[2]: resource.inputs for resource in plan.resources}


def test_only_those_who_are_named_reach_an_encrypted_bucket_over_tls(record):
    """Public access is blocked, plain and old connections and other keys are denied, and so is everybody unnamed."""
    plan = record(lambda: StateBucket("state", StateBucketArgs(allowed_principals=[TEAM])), preview=False)
    inputs = made(plan)
    switches = {key: value for key, value in inputs["BucketPublicAccessBlock"].items() if key != "bucket"}
    assert len(switches) == 4
    assert all(value is True for value in switches.values())
    denied = {statement["Sid"]: statement for statement in json.loads(inputs["BucketPolicy"]["policy"])["Statement"]}
    assert {"DenyWithoutTls", "DenyOldTls", "DenyOtherEncryption", "DenyOtherKey", "DenyOthers"} == set(denied)
    assert denied["DenyOthers"]["Condition"]["ArnNotLike"] == {"aws:PrincipalArn": [TEAM]}
    assert {statement["Effect"] for statement in denied.values()} == {"Deny"}


def test_versions_encryption_ownership_and_life_cycle_come_with_the_bucket(record):
    """Nothing of it has to be asked for."""
    inputs = made(record(lambda: StateBucket("state", StateBucketArgs()), preview=False))
    assert inputs["BucketVersioning"]["versioningConfiguration"] == {"status": "Enabled"}
    (rule,) = inputs["BucketServerSideEncryptionConfiguration"]["rules"]
    assert rule["applyServerSideEncryptionByDefault"]["sseAlgorithm"] == "aws:kms"
    assert inputs["BucketOwnershipControls"]["rule"] == {"objectOwnership": "BucketOwnerEnforced"}
    rules = {rule["id"] for rule in inputs["BucketLifecycleConfiguration"]["rules"]}
    assert rules == {"replaced-versions", "broken-uploads"}
