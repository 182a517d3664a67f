"""Every stack and example before checkov: what it finds is mended, or explained in ``checkov_exceptions.yaml``."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pulumi_aws as aws
import pytest
from winkube.preview.evaluate import evaluate, evaluate_function
from winkube.preview.model import Plan

from tests.validators.explained import Exceptions, Finding
from tests.validators.programs import PROGRAMS
from tests.validators.terraform_plan import terraform_plan

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "checkov.txt"
EXCEPTIONS = Exceptions(HERE / "checkov_exceptions.yaml")
UNPROTECTED = "without-public-access-block"
PLANTED = "planted"
PLANTED_FAULTS = {
    "CKV_AWS_3": "aws_ebs_volume.plain",  # unencrypted volume
    "CKV_AWS_8": "aws_instance.plain",  # unencrypted root volume
    "CKV_AWS_79": "aws_launch_template.plain",  # IMDSv1
    "CKV_AWS_24": "aws_security_group.open",  # SSH from everywhere
    "CKV_AWS_25": "aws_vpc_security_group_ingress_rule.open",  # RDP from everywhere
    "CKV2_AWS_6": "aws_s3_bucket.open",  # nothing blocks public access
    "CKV_AWS_70": "aws_s3_bucket_policy.open",  # everybody may read
    "CKV_AWS_62": "aws_iam_role_policy.all",  # *:*
    "CKV_AWS_58": "aws_eks_cluster.plain",  # Kubernetes secrets without a key
    "CKV_AWS_38": "aws_eks_cluster.plain",  # API open to everybody
    "CKV2_AWS_11": "aws_vpc.dark",  # no flow log
}
"""Each by the check that must find it."""


def plant() -> None:
    """One of each fault."""
    aws.ebs.Volume("plain", availability_zone="eu-central-1a", size=8, encrypted=False)
    aws.ec2.Instance("plain", ami="ami-1", instance_type="m6i.large", root_block_device={"encrypted": False})
    aws.ec2.LaunchTemplate("plain", metadata_options={"http_tokens": "optional"})
    everywhere = {"protocol": "tcp", "from_port": 22, "to_port": 22, "cidr_blocks": ["0.0.0.0/0"]}
    group = aws.ec2.SecurityGroup("open", ingress=[everywhere])
    aws.vpc.SecurityGroupIngressRule(
        "open", security_group_id=group.id, ip_protocol="tcp", from_port=3389, to_port=3389, cidr_ipv4="0.0.0.0/0"
    )
    bucket = aws.s3.Bucket("open")
    everybody = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::open/*"}
    aws.s3.BucketPolicy("open", bucket=bucket.id, policy=json.dumps({"Statement": [everybody]}))
    everything = {"Effect": "Allow", "Action": "*", "Resource": "*"}
    aws.iam.RolePolicy("all", role="it", policy=json.dumps({"Version": "2012-10-17", "Statement": [everything]}))
    open_api = {"subnet_ids": ["subnet-1"], "endpoint_public_access": True, "public_access_cidrs": ["0.0.0.0/0"]}
    aws.eks.Cluster("plain", role_arn="arn:aws:iam::111122223333:role/it", vpc_config=open_api)
    aws.ec2.Vpc("dark", cidr_block="10.0.0.0/16")


def without(plan: Plan, kind: str) -> Plan:
    return replace(plan, resources=[resource for resource in plan.resources if resource.type != kind])


@pytest.fixture(scope="session")
def python_of_checkov() -> Path:
    """checkov needs an older boto3 than the tests, so it lives in an environment of its own."""
    version = REQUIREMENTS.read_text().partition("checkov==")[2].split()[0]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(os.environ.get("WINKUBE_CHECKOV") or cache / "winkube" / f"checkov-{version}")
    python = folder / "bin" / "python"
    if not python.exists():
        pytest.skip(f'checkov {version} is not installed: run "make validators"')
    return python


@pytest.fixture(scope="session")
def report(python_of_checkov: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one run of checkov says of all plans: its start costs more than they do."""
    plans = {label: evaluate(folder, stack, mode="update") for label, (folder, stack) in PROGRAMS.items()}
    plans[UNPROTECTED] = without(plans["program-dev"], "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock")
    plans[PLANTED] = evaluate_function(plant, mode="update")
    folder = tmp_path_factory.mktemp("plans")
    for label, plan in plans.items():
        (folder / f"{label}.json").write_text(json.dumps(terraform_plan(plan), indent=1))
    command = [python_of_checkov, "-m", "checkov.main", "--directory", folder, "--framework", "terraform_plan",
               "--output", "json", "--skip-download", "--compact", "--soft-fail"]  # fmt: skip
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def findings_of(report: dict[str, Any], result: str = "failed_checks") -> list[Finding]:
    return sorted(
        Finding(row["check_id"], Path(row["file_path"]).stem, row["resource"], row["check_name"])
        for row in report["results"][result]
    )


@pytest.fixture(scope="session")
def findings(report: dict[str, Any]) -> list[Finding]:
    return findings_of(report)


@pytest.mark.parametrize("label", PROGRAMS)
def test_nothing_is_left_unexplained(label: str, findings: list[Finding]) -> None:
    left = EXCEPTIONS.left(finding for finding in findings if finding.plan == label)
    assert not left, "mend these, or explain them in checkov_exceptions.yaml:\n" + "\n".join(map(str, left))


def test_every_exception_is_needed(findings: list[Finding]) -> None:
    assert not list(EXCEPTIONS.useless(finding for finding in findings if finding.plan in PROGRAMS))


def test_every_exception_has_its_reason() -> None:
    assert not list(EXCEPTIONS.unexplained())


@pytest.mark.parametrize(("check", "address"), PLANTED_FAULTS.items())
def test_a_planted_fault_is_found(check: str, address: str, findings: list[Finding]) -> None:
    """The same path finds what is wrong for sure."""
    assert (check, f"{PLANTED}/{address}") in {(f.check, f.place) for f in findings}


def test_resources_are_seen_together(findings: list[Finding]) -> None:
    """The bucket of a real plan passes because of what refers to it: without that it does not."""
    missed = {f.plan for f in findings if f.check == "CKV2_AWS_6" and f.address.startswith("aws_s3_bucket.")}
    assert missed == {UNPROTECTED, PLANTED}


@pytest.mark.parametrize("label", PROGRAMS)
def test_checkov_has_judged_every_plan(label: str, report: dict[str, Any]) -> None:
    """An empty list of findings is no proof: every plan was read, and something passed in it."""
    assert report["summary"]["parsing_errors"] == 0
    passed = {f.check for f in findings_of(report, "passed_checks") if f.plan == label}
    assert {"CKV_AWS_58", "CKV_AWS_79", "CKV2_AWS_11", "CKV2_AWS_12"} <= passed
