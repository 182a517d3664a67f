"""winkube.testing: what other people test their programs with."""

import re
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest
import winkube
from winkube.testing import UNKNOWN, Secret, of_type, problems, record, record_program, the

ROOT = Path(__file__).resolve().parent.parent.parent
BUCKET = "aws:s3/bucket:Bucket"


def two_buckets() -> None:
    for name in ("one", "two"):
        aws.s3.Bucket(name, tags={"password": pulumi.Output.secret("x"), "other": "y"})


def test_a_function_is_recorded_as_a_preview() -> None:
    """What the cloud computes is unknown, secrets show nothing."""

    def build() -> None:
        bucket = aws.s3.Bucket("one", tags={"password": pulumi.Output.secret("x")})
        aws.s3.BucketVersioning("v", bucket=bucket.id, versioning_configuration={"status": "Enabled"})

    plan = record(build)
    assert the(plan, "aws:s3/bucketVersioning:BucketVersioning").inputs["bucket"] is UNKNOWN
    secret = the(plan, BUCKET).inputs["tags"]
    assert isinstance(secret, Secret) or isinstance(secret["password"], Secret)


def test_a_function_is_recorded_as_an_update() -> None:
    """Every apply runs, with a placeholder that says of itself that it is one."""
    seen: list[str] = []
    record(lambda: aws.s3.Bucket("one").arn.apply(seen.append), preview=False)
    assert len(seen) == 1
    assert "placeholder" in seen[0]


def test_configuration_and_answers_are_given() -> None:
    def build() -> None:
        image = aws.ec2.get_ami_output(owners=["self"]).id
        aws.ec2.Instance("it", ami=image, instance_type=pulumi.Config().require("type"))

    plan = record(
        build, config={"shop:type": "m7i.large"}, project="shop", answers={"aws:ec2/getAmi:getAmi": {"id": "ami-1"}}
    )
    assert the(plan, "aws:ec2/instance:Instance").inputs == {"ami": "ami-1", "instanceType": "m7i.large"}


def test_resources_are_found_by_type_and_name() -> None:
    plan = record(two_buckets)
    assert [bucket.name for bucket in of_type(plan, BUCKET)] == ["one", "two"]
    assert the(plan, BUCKET, "two").name == "two"


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        (BUCKET, None, f"more than one {BUCKET}; there are one, two"),
        (BUCKET, "three", f'no {BUCKET} "three"; there are one, two'),
        ("aws:s3/bukket:Bukket", None, f"no aws:s3/bukket:Bukket; the plan has {BUCKET}"),
    ],
)
def test_what_is_not_there_is_said(kind: str, name: str | None, words: str) -> None:
    with pytest.raises(AssertionError) as missing:
        the(record(two_buckets), kind, name)
    assert str(missing.value) == words


def test_problems_are_what_a_preview_would_find() -> None:
    """Two tags hold a secret, which the cloud would show to everybody; a plain bucket has nothing."""
    assert problems(record(lambda: aws.s3.Bucket("one", tags={"team": "shop"}))) == []
    assert [finding.code for finding in problems(record(two_buckets))] == ["check/exposed-secret"] * 2


def test_a_mistake_is_raised_as_it_is() -> None:
    """A test can hold the error of a component."""
    with pytest.raises(winkube.WinkubeError, match="WK-NET-004"):
        record(lambda: winkube.Network("net", winkube.NetworkArgs(region="eu-central-1", cidr="10.0.0.0/8")))


def test_a_whole_program_is_recorded() -> None:
    """With the configuration of one of its stacks, and the file of answers beside it."""
    folder = ROOT / "examples" / "windows_for_existing_eks"
    plan = record_program(folder, "dev", answers=folder / "answers.yaml")
    assert the(plan, "aws:eks/nodeGroup:NodeGroup").inputs["clusterName"] == "shared"
    assert problems(plan) == []


def test_the_page_shows_a_test_that_passes() -> None:
    """docs/testing-your-program.md is copied by people: its program runs, and its table names what there is."""
    page = (ROOT / "docs" / "testing-your-program.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    names: dict[str, Any] = {}
    exec(program, names)  # noqa: S102 (our own page)
    names["test_the_network_has_three_zones"]()
    named = set(re.findall(r"^\| .*", page, flags=re.MULTILINE))
    for name in ("record", "record_program", "the", "of_type", "problems", "UNKNOWN", "Secret"):
        assert any(f"`{name}" in row for row in named), name
