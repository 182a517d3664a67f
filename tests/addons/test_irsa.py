"""The role of one service account."""

import json

import pulumi
import pulumi_aws as aws
import pytest
from winkube.addons.identity import check_oidc, check_subject
from winkube.addons.irsa import IrsaRole, IrsaRoleArgs, check_irsa_role
from winkube.core.errors import WinkubeError
from winkube.preview.model import UNKNOWN

from .conftest import ISSUER, PROVIDER_ARN, TAGS, assert_well_made, of_type, the

Subject = {"namespace": "kube-system", "service_account": "driver"}
Trusted = {"oidc_provider_arn": PROVIDER_ARN, "oidc_issuer": ISSUER}
POLICY = {"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::b/*"}


def args(**more) -> IrsaRoleArgs:
    return IrsaRoleArgs(**({**Subject, **Trusted, "tags": TAGS} | more))


@pytest.mark.parametrize("preview", [True, False])
def test_the_role_is_for_one_service_account(record, preview: bool):
    plan = record(lambda: IrsaRole("role", args(additional_policies=[POLICY])), preview=preview)
    assert_well_made(plan, "IrsaRole", ["roleArn", "roleName"])
    trust = json.loads(the(plan, "Role").inputs["assumeRolePolicy"])
    (statement,) = trust["Statement"]
    assert statement["Condition"]["StringEquals"]["oidc.eks.eu-central-1.amazonaws.com/id/EXAMPLE:sub"] == (
        "system:serviceaccount:kube-system:driver"
    )
    assert json.loads(the(plan, "RolePolicy").inputs["policy"])["Statement"] == [POLICY]


@pytest.mark.parametrize("preview", [True, False])
def test_an_issuer_that_is_not_known_yet_is_waited_for(record, preview: bool):
    """In a preview the trust is unknown, in an update it is written out."""

    def build():
        made = pulumi.Output.from_input(ISSUER)
        provider = aws.iam.OpenIdConnectProvider("oidc", url=ISSUER, client_id_lists=["sts.amazonaws.com"])
        IrsaRole("role", args(oidc_issuer=made, oidc_provider_arn=provider.arn))

    trust = the(record(build, preview=preview), "Role").inputs["assumeRolePolicy"]
    if preview:
        assert trust is UNKNOWN
    else:
        (arn,) = json.loads(trust)["Statement"][0]["Principal"]["Federated"]
        assert arn.endswith("oidc.arn")


def test_managed_policies_are_named_by_their_path(record):
    plan = record(lambda: IrsaRole("role", args(managed_policies=["service-role/AmazonEBSCSIDriverPolicy"])))
    attached = the(plan, "RolePolicyAttachment")
    assert attached.inputs["policyArn"] == "arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicy"
    assert attached.name == "role-service-role-AmazonEBSCSIDriverPolicy"


def test_pod_identity_needs_no_oidc_provider(record):
    given = IrsaRoleArgs(**Subject, identity="pod_identity", tags=TAGS)
    plan = record(lambda: IrsaRole("role", given))
    assert "pods.eks.amazonaws.com" in the(plan, "Role").inputs["assumeRolePolicy"]


@pytest.mark.parametrize("field", ["namespace", "service_account"])
@pytest.mark.parametrize("value", ["*", "driver-*", "drive?"])
def test_a_wildcard_is_refused(field: str, value: str):
    (mistake,) = check_subject(**(Subject | {field: value}))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-ADD-020", (field,), value)
    assert mistake.remedy == "write the exact name"


def test_a_name_is_one_of_kubernetes():
    (mistake,) = check_subject("Kube_System", "driver")
    assert (mistake.rule.code, mistake.path) == ("WK-ADD-020", ("namespace",))
    assert '"kube-system"' in mistake.remedy


def test_irsa_needs_provider_and_issuer():
    found = check_irsa_role(IrsaRoleArgs(**Subject))
    assert [(it.rule.code, it.path) for it in found] == [
        ("WK-ADD-021", ("oidc_provider_arn",)),
        ("WK-ADD-021", ("oidc_issuer",)),
    ]
    assert all(it.remedy for it in found)


@pytest.mark.parametrize(
    ("provider", "issuer", "path"),
    [
        ("arn:aws:iam::111122223333:role/x", ISSUER, "oidc_provider_arn"),
        (PROVIDER_ARN, "oidc.eks.eu-central-1.amazonaws.com/id/EXAMPLE", "oidc_issuer"),
        (PROVIDER_ARN, "https://oidc.eks.eu-central-1.amazonaws.com/id/OTHER", "oidc_issuer"),
    ],
)
def test_provider_and_issuer_belong_together(provider: str, issuer: str, path: str):
    (mistake,) = check_oidc(provider, issuer)
    assert (mistake.rule.code, mistake.path) == ("WK-ADD-021", (path,))
    assert mistake.remedy


def test_a_way_that_does_not_exist_is_refused():
    (mistake,) = check_irsa_role(args(identity="podidentity"))
    assert (mistake.rule.code, mistake.remedy) == ("WK-ADD-022", 'write "pod_identity"')


def test_the_users_policies_are_judged(record):
    def build():
        with pytest.raises(WinkubeError) as raised:
            IrsaRole("role", args(additional_policies=[POLICY | {"Action": "s3:GetObjekt"}]))
        assert "WK-IAM-005" in str(raised.value)

    assert of_type(record(build), "Role") == []
