"""Any policy pack over a plan, with the engine's semantics."""

import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pulumi
import pulumi_policy
import pytest
from google.protobuf.struct_pb2 import Struct
from winkube.preview.checks.policy_runner import read_policy_config, run_policies
from winkube.preview.errors import PreviewError
from winkube.preview.model import (
    RESOURCE_SIGNATURE,
    SECRET_SIGNATURE,
    SIGNATURE_KEY,
    UNKNOWN_TEXT,
    Finding,
    Options,
    Plan,
    Resource,
    Severity,
    Source,
)

BUCKET = "aws:s3/bucket:Bucket"
ROLE = "aws:iam/role:Role"


def resource(type_: str, name: str, inputs: dict[str, Any] | None = None, **more: Any) -> Resource:
    struct = Struct()
    struct.update(inputs or {})
    options = more.pop("options", Options())
    urn = f"urn:pulumi:dev::p::{type_}::{name}"
    return Resource(
        urn, type_, name, more.pop("parent", ""), more.pop("custom", True), struct, options,
        Source("__main__.py", 3), **more,
    )  # fmt: skip


def plan(*resources: Resource, mode: str = "preview") -> Plan:
    return Plan("p", "dev", mode, "", list(resources), {}, [])


PRELUDE = """
from pulumi_policy import *

def bucket(check):
    def validate(args, report):
        if args.resource_type == "aws:s3/bucket:Bucket":
            check(args, report)
    return validate
"""


def pack(folder: Path, body: str, tail: str = 'PolicyPack("mine", POLICIES)') -> Path:
    (folder / "__main__.py").write_text(f"{PRELUDE}\n{dedent(body)}\n{tail}\n")
    return folder


def one(folder: Path, validate: str, options: str = "", tail: str = 'PolicyPack("mine", POLICIES)') -> Path:
    """A pack of one resource policy about buckets."""
    body = f'POLICIES = [ResourceValidationPolicy("rule", "Buckets are good", bucket({validate}), {options})]'
    return pack(folder, body, tail)


ALWAYS = 'lambda args, report: report("bad", None)'


def severities(found: list[Finding]) -> list[Severity]:
    return [finding.severity for finding in found]


# -- levels --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "tail", "expected"),
    [
        ("", 'PolicyPack("mine", POLICIES)', [Severity.WARNING]),
        ("", 'PolicyPack("mine", POLICIES, enforcement_level=EnforcementLevel.MANDATORY)', [Severity.ERROR]),
        ("EnforcementLevel.MANDATORY", 'PolicyPack(name="mine", policies=POLICIES)', [Severity.ERROR]),
        ("EnforcementLevel.ADVISORY", 'PolicyPack("mine", POLICIES, EnforcementLevel.MANDATORY)', [Severity.WARNING]),
        ("EnforcementLevel.REMEDIATE", 'PolicyPack("mine", POLICIES)', [Severity.ERROR]),
        ("EnforcementLevel.DISABLED", 'PolicyPack("mine", POLICIES)', []),
        ("", 'PolicyPack("mine", POLICIES, initial_config={"all": EnforcementLevel.MANDATORY})', [Severity.ERROR]),
        ("", 'PolicyPack("mine", POLICIES, initial_config={"rule": EnforcementLevel.DISABLED})', []),
    ],
)
def test_the_level_decides_the_severity(tmp_path: Path, options: str, tail: str, expected: list[Severity]) -> None:
    found = run_policies(plan(resource(BUCKET, "b")), one(tmp_path, ALWAYS, options, tail))
    assert severities(found) == expected
    assert [finding.message for finding in found] == ["bad"] * len(expected)


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"rule": "mandatory"}, [Severity.ERROR]),
        ({"all": "mandatory"}, [Severity.ERROR]),
        ({"all": "mandatory", "rule": "advisory"}, [Severity.WARNING]),
        ({"rule": {"enforcementLevel": "disabled"}}, []),
        ({"all": "disabled"}, []),
    ],
)
def test_the_configuration_changes_the_level(tmp_path: Path, config: Any, expected: list[Severity]) -> None:
    assert severities(run_policies(plan(resource(BUCKET, "b")), one(tmp_path, ALWAYS), config)) == expected


def test_a_finding_says_which_policy_where_and_what_to_do(tmp_path: Path) -> None:
    options = """enforcement_level=EnforcementLevel.MANDATORY, remediation_steps="do it", url="https://x.example",
        framework=PolicyComplianceFramework("CIS", "1.0", "4.2")"""
    (found,) = run_policies(plan(resource(BUCKET, "b"), resource(ROLE, "r")), one(tmp_path, ALWAYS, options))
    assert (found.code, found.urn) == ("policy/mine/rule", f"urn:pulumi:dev::p::{BUCKET}::b")
    assert found.source == Source("__main__.py", 3)
    assert found.remedy == "do it (CIS 1.0 4.2; https://x.example)"


def test_without_a_message_the_description_speaks(tmp_path: Path) -> None:
    (found,) = run_policies(plan(resource(BUCKET, "b")), one(tmp_path, 'lambda args, report: report("", None)'))
    assert found.message == "Buckets are good"


# -- properties ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", ['args.props["acl"]', 'args.props.get("acl")', 'args.props["rules"][0]["days"]'])
def test_touching_an_unknown_value_is_one_note(tmp_path: Path, value: str) -> None:
    unknown = resource(BUCKET, "b", {"acl": UNKNOWN_TEXT, "rules": [{"days": UNKNOWN_TEXT}]})
    folder = one(tmp_path, f"lambda args, report: {value} and report('bad', None)", "EnforcementLevel.MANDATORY")
    (found,) = run_policies(plan(unknown), folder)
    assert found.severity is Severity.NOTE
    assert found.message.startswith("cannot be decided before the deployment: string value at .")
    assert found.path in ("acl", "rules.0.days")


def test_a_policy_that_leaves_the_unknown_alone_is_decided(tmp_path: Path) -> None:
    unknown = resource(BUCKET, "b", {"acl": UNKNOWN_TEXT, "bucket": "x"})
    folder = one(tmp_path, "lambda args, report: args.props['bucket'] == 'x' and report('bad', None)")
    assert severities(run_policies(plan(unknown), folder)) == [Severity.WARNING]


def test_secrets_are_opened_references_are_ids_and_numbers_are_floats(tmp_path: Path) -> None:
    inputs = {
        "secret": {SIGNATURE_KEY: SECRET_SIGNATURE, "value": {"a": "b"}},
        "role": {SIGNATURE_KEY: RESOURCE_SIGNATURE, "urn": "urn:x", "id": "role-1"},
        "days": 3,
    }
    check = (
        "lambda args, report: report(repr([args.props['secret']['a'], args.props['role'], args.props['days']]), None)"
    )
    (found,) = run_policies(plan(resource(BUCKET, "b", inputs)), one(tmp_path, check))
    assert found.message == "['b', 'role-1', 3.0]"


def test_options_and_provider_are_given(tmp_path: Path) -> None:
    provider = resource("pulumi:providers:aws", "eu", {"region": "eu-west-1"})
    options = Options(protect=True, provider=f"{provider.urn}::{UNKNOWN_TEXT}", custom_timeouts={"create": "1h30m"})
    check = """lambda args, report: report(
        f"{args.opts.protect} {args.opts.custom_timeouts.create_seconds} {args.provider.props['region']}", None)"""
    found = run_policies(plan(provider, resource(BUCKET, "b", options=options)), one(tmp_path, check))
    assert [finding.message for finding in found] == ["True 5400.0 eu-west-1"]


def test_one_policy_cannot_change_what_the_next_one_sees(tmp_path: Path) -> None:
    body = """
    def change(args, report):
        args.props["acl"] = "changed"

    POLICIES = [ResourceValidationPolicy("first", "d", bucket(change)),
                ResourceValidationPolicy("second", "d", bucket(lambda args, report: report(args.props["acl"], None)))]
    """
    (found,) = run_policies(plan(resource(BUCKET, "b", {"acl": "private"})), pack(tmp_path, body))
    assert found.message == "private"


def test_resources_that_are_only_read_are_left_out(tmp_path: Path) -> None:
    assert run_policies(plan(resource(BUCKET, "b", read=True)), one(tmp_path, ALWAYS)) == []


# -- configuration -------------------------------------------------------------------------------------------

SCHEMA = """config_schema=PolicyConfigSchema({"days": {"type": "number", "default": 30, "minimum": 1},
                                              "owner": {"type": "string"}}, required=["owner"])"""
SHOW = "lambda args, report: report(str(dict(args.get_config())), None)"


def test_defaults_of_the_schema_are_filled_in(tmp_path: Path) -> None:
    (found,) = run_policies(plan(resource(BUCKET, "b")), one(tmp_path, SHOW, SCHEMA), {"rule": {"owner": "me"}})
    assert found.message == "{'days': 30, 'owner': 'me'}"


def test_given_properties_come_last(tmp_path: Path) -> None:
    tail = 'PolicyPack("mine", POLICIES, initial_config={"rule": {"owner": "x", "days": 5}})'
    (found,) = run_policies(plan(resource(BUCKET, "b")), one(tmp_path, SHOW, SCHEMA, tail), {"rule": {"owner": "me"}})
    assert found.message == "{'days': 5, 'owner': 'me'}"


def test_a_configuration_that_does_not_fit_is_refused_with_every_mistake(tmp_path: Path) -> None:
    with pytest.raises(PreviewError) as refused:
        run_policies(plan(), one(tmp_path, SHOW, SCHEMA), {"rule": {"days": 0}})
    assert "rule.days: 0 is less than the minimum of 1" in str(refused.value)
    assert "rule: 'owner' is a required property" in str(refused.value)


def test_a_configuration_file_is_json(tmp_path: Path) -> None:
    file = tmp_path / "policies.json"
    file.write_text('{"rule": "mandatory"}')
    assert read_policy_config(file) == {"rule": "mandatory"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not valid JSON"),
        ("[]", "must map policies to a level.*got list"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_configuration_file_that_is_none_says_why(tmp_path: Path, content: str | None, message: str) -> None:
    file = tmp_path / "policies.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(PreviewError, match=message):
        read_policy_config(file)


def test_a_disabled_policy_needs_no_configuration(tmp_path: Path) -> None:
    assert run_policies(plan(resource(BUCKET, "b")), one(tmp_path, SHOW, SCHEMA), {"rule": "disabled"}) == []


def test_an_unknown_level_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PreviewError, match=r"rule: the level must be one of advisory, mandatory.*'strict'"):
        run_policies(plan(), one(tmp_path, ALWAYS), {"rule": "strict"})


def test_a_configuration_for_no_policy_is_a_warning_with_the_nearest_name(tmp_path: Path) -> None:
    (found,) = run_policies(plan(), one(tmp_path, ALWAYS), {"ruel": "mandatory"})
    assert (found.severity, found.remedy) == (Severity.WARNING, "write rule")
    assert '"ruel"' in found.message


# -- what policies do ----------------------------------------------------------------------------------------


def test_a_policy_may_say_that_it_does_not_apply(tmp_path: Path) -> None:
    folder = one(tmp_path, 'lambda args, report: args.not_applicable("not here")')
    assert run_policies(plan(resource(BUCKET, "b")), folder) == []


def test_a_policy_that_crashes_is_one_error_and_the_others_go_on(tmp_path: Path) -> None:
    body = """
    POLICIES = [ResourceValidationPolicy("broken", "d", bucket(lambda args, report: args.props["no"])),
                ResourceValidationPolicy("sound", "d", bucket(lambda args, report: report("bad", None)))]
    """
    found = run_policies(plan(resource(BUCKET, "a"), resource(BUCKET, "b")), pack(tmp_path, body))
    assert [finding.code for finding in found] == ["policy/mine/sound"] * 2 + ["policy/mine/broken"]
    assert found[-1].severity is Severity.ERROR
    assert found[-1].message.startswith(
        "the policy \"broken\" failed with an exception: KeyError: 'no' (and on 1 more)"
    )


def test_asynchronous_and_listed_validators_are_run(tmp_path: Path) -> None:
    body = """
    async def later(args, report):
        report("later " + args.props["acl"], None)

    async def unknown(args, report):
        args.props["arn"]

    POLICIES = [ResourceValidationPolicy("rule", "d", [later, lambda args, report: report("now", None)]),
                ResourceValidationPolicy("late", "d", unknown)]
    """
    found = run_policies(plan(resource(BUCKET, "b", {"acl": "x", "arn": UNKNOWN_TEXT})), pack(tmp_path, body))
    assert [finding.message for finding in found[:2]] == ["now", "later x"]
    assert found[2].severity is Severity.NOTE


def test_a_subclass_is_a_policy_too(tmp_path: Path) -> None:
    body = """
    class Mine(ResourceValidationPolicy):
        def __init__(self):
            super().__init__("rule", "d")

        def validate(self, args, report_violation):
            report_violation("bad", None)

    POLICIES = [Mine()]
    """
    assert len(run_policies(plan(resource(BUCKET, "b")), pack(tmp_path, body))) == 1


def test_a_remediation_changes_what_every_check_sees(tmp_path: Path) -> None:
    body = """
    def private(args):
        if args.props.get("acl") != "private":
            return {**args.props, "acl": "private"}

    def check(args, report):
        if args.props["acl"] != "private":
            report("is public", None)

    POLICIES = [ResourceValidationPolicy("rule", "d", check, EnforcementLevel.REMEDIATE, remediate=private)]
    """
    public = resource(BUCKET, "b", {"acl": "public", "password": {SIGNATURE_KEY: SECRET_SIGNATURE, "value": "x"}})
    (found,) = run_policies(plan(public), pack(tmp_path, body))
    assert (found.severity, found.message) == (
        Severity.NOTE, "is remedied by the policy: the engine changes its inputs first",
    )  # fmt: skip
    (found,) = run_policies(plan(public), tmp_path, {"rule": "mandatory"})
    assert (found.severity, found.message) == (Severity.ERROR, "is public"), "at another level nothing is changed"
    assert public.inputs["acl"] == "public"


# -- stack policies ------------------------------------------------------------------------------------------


def stack_pack(folder: Path, check: str) -> Path:
    body = f"""
    def check(args, report):
        found = {{resource.name: resource for resource in args.resources}}
        {check}

    POLICIES = [StackValidationPolicy("rule", "d", check, EnforcementLevel.MANDATORY)]
    """
    return pack(folder, body)


def test_a_stack_policy_sees_parents_and_dependencies(tmp_path: Path) -> None:
    role = resource(ROLE, "r")
    parent = resource("my:index:Thing", "parent", custom=False)
    options = Options(dependencies=(role.urn, "urn:gone"), property_dependencies={"role": (role.urn,)})
    child = resource(BUCKET, "child", parent=parent.urn, options=options)
    check = """report("{} {} {}".format(found["child"].parent.name, found["child"].dependencies[0].name,
                                         found["child"].property_dependencies["role"][0].name), found["r"].urn)"""
    (found,) = run_policies(plan(role, parent, child), stack_pack(tmp_path, check))
    assert (found.message, found.urn, found.severity) == ("parent r r", role.urn, Severity.ERROR)


def test_a_stack_policy_may_speak_of_the_whole(tmp_path: Path) -> None:
    (found,) = run_policies(plan(), stack_pack(tmp_path, 'report("bad", None)'))
    assert (found.urn, found.source) == ("", None)


def test_what_only_the_provider_computes_is_unknown_to_a_stack_policy(tmp_path: Path) -> None:
    """In a real preview it is so too: a policy that reads it cannot be run, and must not see nothing there."""
    import pulumi_aws as aws

    assert aws.iam.Role
    folder = stack_pack(tmp_path, 'found["r"].props.get("arn") or report("no arn", None)')
    (found,) = run_policies(plan(resource(ROLE, "r")), folder)
    assert (found.severity, found.path) == (Severity.NOTE, "arn")


def test_a_component_shows_its_outputs(tmp_path: Path) -> None:
    outputs = Struct()
    outputs.update({"vpcId": "vpc-1"})
    component = resource("my:index:Thing", "c", custom=False, raw_outputs=outputs)
    (found,) = run_policies(plan(component), stack_pack(tmp_path, 'report(found["c"].props["vpcId"], None)'))
    assert found.message == "vpc-1"


# -- the pack itself -----------------------------------------------------------------------------------------


def test_a_pack_runs_in_its_own_surroundings_and_leaves_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rules_of_mine.py").write_text("NAME = open('name.txt').read()\n")
    (tmp_path / "name.txt").write_text("from a file")
    body = """
    import pulumi
    from rules_of_mine import NAME
    print("hello")
    POLICIES = [ResourceValidationPolicy("rule", "d", lambda args, report: report(
        f"{NAME} {pulumi.get_project()} {pulumi.get_stack()} {pulumi.runtime.is_dry_run()}", None))]
    """
    before = (list(sys.path), Path.cwd(), pulumi_policy.PolicyPack.__init__, pulumi.get_stack())
    (found,) = run_policies(plan(resource(BUCKET, "b")), pack(tmp_path, body))
    assert found.message == "from a file p dev True"
    assert (list(sys.path), Path.cwd(), pulumi_policy.PolicyPack.__init__, pulumi.get_stack()) == before
    assert "rules_of_mine" not in sys.modules
    assert capsys.readouterr().out == "", "what a pack prints must not mix with the plan"


def test_a_relative_folder_is_meant_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rules").mkdir()
    one(tmp_path / "rules", ALWAYS)
    monkeypatch.chdir(tmp_path)
    assert len(run_policies(plan(resource(BUCKET, "b")), Path("rules"))) == 1


def test_nothing_after_the_pack_is_run_as_in_the_original(tmp_path: Path) -> None:
    never = 'raise SystemExit("never")'
    tail = f'try:\n    PolicyPack("mine", POLICIES)\nexcept Exception:\n    {never}\n{never}'
    assert len(run_policies(plan(resource(BUCKET, "b")), one(tmp_path, ALWAYS, tail=tail))) == 1


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        ("", "creates no PolicyPack"),
        ("1 / 0", "ZeroDivisionError: division by zero\n  at __main__.py:"),
        ("import not_there", "No module named 'not_there'"),
        ('PolicyPack("mine", [])', "no list of policies"),
        ('PolicyPack("mine", [1])', "an item that is not a policy: 1"),
        ('PolicyPack("my pack", POLICIES)', "got 'my pack'"),
        ('PolicyPack("mine", POLICIES, nonsense=1)', "nonsense"),
    ],
)
def test_a_pack_that_cannot_be_loaded_says_why(tmp_path: Path, tail: str, message: str) -> None:
    with pytest.raises(PreviewError, match=r"policy pack") as refused:
        run_policies(plan(), one(tmp_path, ALWAYS, tail=tail))
    assert message in str(refused.value)


def test_a_folder_without_a_pack_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PreviewError, match=r"it has no __main__\.py"):
        run_policies(plan(), tmp_path)


# -- compared with the SDK's own servicer --------------------------------------------------------------------


def test_the_verdicts_are_those_of_the_sdks_own_analyzer(tmp_path: Path) -> None:
    """The same policies over the same inputs, once here and once in what the real pack would serve."""
    from pulumi.runtime.proto import analyzer_pb2
    from pulumi_policy.policy import _PolicyAnalyzerServicer

    def validate(args: Any, report: Any) -> None:
        if args.props["acl"] != "private":
            report(f"{args.name} is {args.props['acl']}", None)

    levels = list(pulumi_policy.EnforcementLevel)
    policies = [pulumi_policy.ResourceValidationPolicy(f"at-{level.value}", "d", validate, level) for level in levels]
    servicer = _PolicyAnalyzerServicer("mine", "1", policies, pulumi_policy.EnforcementLevel.ADVISORY)
    resources = [
        resource(BUCKET, "a", {"acl": "private"}), resource(BUCKET, "b", {"acl": "public"}),
        resource(BUCKET, "c", {"acl": UNKNOWN_TEXT}),
        resource(BUCKET, "d", {"acl": {SIGNATURE_KEY: SECRET_SIGNATURE, "value": "public"}}),
    ]  # fmt: skip
    theirs: list[tuple[str, str]] = []
    for found in resources:
        request = analyzer_pb2.AnalyzeRequest(
            type=found.type, urn=found.urn, name=found.name, properties=found.raw_inputs
        )
        for diagnostic in servicer.Analyze(request, None).diagnostics:
            unknown = diagnostic.message.startswith("can't run")
            mandatory = diagnostic.enforcementLevel == analyzer_pb2.MANDATORY
            theirs.append((diagnostic.policyName, "note" if unknown else "error" if mandatory else "warning"))

    (tmp_path / "__main__.py").write_text("from pulumi_policy import PolicyPack\nimport shared_policies\n"
                                          "PolicyPack('mine', shared_policies.policies)\n")  # fmt: skip
    module = type(sys)("shared_policies")
    module.policies = policies  # type: ignore[attr-defined]
    sys.modules["shared_policies"] = module
    try:
        ours = run_policies(plan(*resources), tmp_path)
    finally:
        del sys.modules["shared_policies"]
    assert sorted(theirs) == sorted((found.code.rsplit("/", 1)[-1], str(found.severity)) for found in ours)
    assert len(theirs) == 9
