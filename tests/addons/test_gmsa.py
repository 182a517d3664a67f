"""Active Directory identities of Windows pods."""

import json
from dataclasses import replace

import pytest
from winkube.addons.gmsa import (
    GmsaCredentialSpec,
    GmsaCredentialSpecArgs,
    GmsaUser,
    check_gmsa_credential_spec,
    credential_spec,
    pod_security_context,
    user_bindings,
    user_role,
)
from winkube.core.errors import WinkubeError

from .conftest import assert_well_made, of_type, the

SECRET = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:gmsa-AbCdEf"
PARAMETER = "arn:aws:ssm:eu-central-1:111122223333:parameter/gmsa"
ARGS = GmsaCredentialSpecArgs(
    spec_name="web-app",
    account_name="WebApp1",
    domain_name="corp.example.com",
    netbios_name="CORP",
    domain_guid="244818ae-87ca-4fcd-92ec-e79e5252348a",
    domain_sid="S-1-5-21-2126449477-2524075714-3094792973",
    users=[GmsaUser(namespace="web", service_account="b"), GmsaUser(namespace="web", service_account="a"),
           GmsaUser(namespace="api", service_account="a")],
)  # fmt: skip


def test_a_domain_joined_spec_has_no_plugin():
    spec = credential_spec(ARGS)
    directory = spec["ActiveDirectoryConfig"]
    assert "HostAccountConfig" not in directory
    assert [it["Scope"] for it in directory["GroupManagedServiceAccounts"]] == ["corp.example.com", "CORP"]
    assert spec["DomainJoinConfig"]["DnsTreeName"] == "corp.example.com"


def test_a_domainless_spec_names_the_plugin_and_where_the_identity_lies():
    """As AWS' page on domainless authentication writes it: JSON with the key credentialArn."""
    account = credential_spec(ARGS, SECRET)["ActiveDirectoryConfig"]["HostAccountConfig"]
    assert account["PluginGUID"] == "{859E1386-BDB4-49E8-85C7-3070B13920E1}"
    assert account["PortableCcgVersion"] == "1"
    assert json.loads(account["PluginInput"]) == {"credentialArn": SECRET}


def test_the_right_to_use_it_is_for_this_spec_and_these_accounts(validated):
    role, bindings = user_role("web-app"), user_bindings("web-app", ARGS.users)
    for manifest in (role, *bindings):
        validated(manifest)
    assert role["rules"][0]["resourceNames"] == ["web-app"]
    assert role["rules"][0]["verbs"] == ["use"]
    assert [(it["metadata"]["namespace"], [user["name"] for user in it["subjects"]]) for it in bindings] == [
        ("api", ["a"]),
        ("web", ["a", "b"]),
    ]


def test_a_pod_asks_for_it_by_its_name(validated):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web"},
        "spec": {"securityContext": pod_security_context("web-app"), "containers": [{"name": "web", "image": "x"}]},
    }
    validated(pod)


@pytest.mark.parametrize("preview", [True, False])
@pytest.mark.parametrize("arn", [None, SECRET, PARAMETER])
def test_the_component_makes_spec_role_and_bindings(record, preview: bool, arn: str | None):
    plan = record(lambda: GmsaCredentialSpec("gmsa", replace(ARGS, credential_arn=arn)), preview=preview)
    assert_well_made(plan, "GmsaCredentialSpec", ["specName", "nodePolicy"] if arn else ["specName"])
    spec = the(plan, "GMSACredentialSpec")
    assert (spec.inputs["apiVersion"], spec.inputs["metadata"]) == ("windows.k8s.io/v1", {"name": "web-app"})
    assert spec.inputs["credspec"] == credential_spec(ARGS, arn)
    assert len(of_type(plan, "RoleBinding")) == 2
    policy = the(plan, "GmsaCredentialSpec").outputs.get("nodePolicy")
    assert policy is None if arn is None else arn in policy


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("spec_name", "Web_App", "WK-ADD-050"),
        ("account_name", "WebApp1$", "WK-ADD-051"),
        ("account_name", "AVeryLongAccount", "WK-ADD-051"),
        ("netbios_name", "corp.example", "WK-ADD-051"),
        ("domain_name", "CORP", "WK-ADD-051"),
        ("domain_guid", "{244818ae-87ca-4fcd-92ec-e79e5252348a}", "WK-ADD-051"),
        ("domain_sid", "S-1-5-32-544", "WK-ADD-051"),
        ("forest_root", "EXAMPLE", "WK-ADD-051"),
    ],
)
def test_mistakes_in_a_spec(field: str, value: str, code: str):
    (mistake,) = check_gmsa_credential_spec(replace(ARGS, **{field: value}))
    assert (mistake.rule.code, mistake.path, mistake.got) == (code, (field,), value)
    assert mistake.remedy


def test_an_identity_that_is_written_out_is_refused_and_not_shown():
    """What stands there instead of an ARN may be a password: neither message nor value repeats it."""
    with pytest.raises(WinkubeError) as raised:
        GmsaCredentialSpec("gmsa", replace(ARGS, credential_arn="corp.example.com:portable:Passw0rd"))
    (mistake,) = raised.value.mistakes
    assert (mistake.rule.code, mistake.path) == ("WK-ADD-052", ("credential_arn",))
    assert "Passw0rd" not in str(raised.value)
    assert "arn:aws:secretsmanager" in mistake.remedy


def test_somebody_has_to_use_it():
    (mistake,) = check_gmsa_credential_spec(replace(ARGS, users=()))
    assert (mistake.rule.code, mistake.path, mistake.remedy) == ("WK-ADD-053", ("users",), "add at least one")


def test_a_user_is_named_once_and_exactly():
    users = [GmsaUser(namespace="web", service_account="a"), GmsaUser(namespace="web", service_account="a"),
             GmsaUser(namespace="web", service_account="*")]  # fmt: skip
    found = check_gmsa_credential_spec(replace(ARGS, users=users))
    assert [(it.rule.code, it.path) for it in found] == [
        ("WK-ADD-053", ("users", 1)),
        ("WK-ADD-020", ("users", 2, "service_account")),
    ]
