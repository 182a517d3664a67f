"""The evaluator against what the engine does."""

import asyncio
import gc
import sys
from pathlib import Path
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes
import pulumi_tls as tls
import pytest
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from winkube.preview.errors import PreviewError, ProgramError
from winkube.preview.evaluation.evaluate import evaluate, evaluate_function
from winkube.preview.model import UNKNOWN, Plan, Resource, Secret, Severity

from ..programs import write_program


class Group(pulumi.ComponentResource):
    def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("demo:index:Group", name, None, opts)
        self.vpc = aws.ec2.Vpc(f"{name}-vpc", cidr_block="10.0.0.0/16", opts=pulumi.ResourceOptions(parent=self))
        self.register_outputs({"vpcId": self.vpc.id, "cidr": self.vpc.cidr_block})


def resource(plan: Plan, name: str) -> Resource:
    (found,) = [resource for resource in plan.resources if resource.name == name]
    return found


def test_urns_carry_the_types_of_all_parents_but_the_stack() -> None:
    """A child's URN names its parents' types; the stack's own type is left out, as the engine does."""

    def build() -> None:
        outer = pulumi.ComponentResource("demo:index:Outer", "outer")
        Group("inner", pulumi.ResourceOptions(parent=outer))

    plan = evaluate_function(build, project="p", stack="s")
    assert [resource.urn for resource in plan.resources] == [
        "urn:pulumi:s::p::demo:index:Outer$demo:index:Group$aws:ec2/vpc:Vpc::inner-vpc",
        "urn:pulumi:s::p::demo:index:Outer$demo:index:Group::inner",
        "urn:pulumi:s::p::demo:index:Outer::outer",
    ]
    assert [resource.parent.rsplit("::", 1)[-1] for resource in plan.resources] == ["inner", "outer", ""]


def test_a_duplicate_urn_is_refused_with_both_places() -> None:
    """Two resources of one type, parent and name fail as under the engine, and the message says where both are."""

    def build() -> None:
        aws.ec2.Vpc("twice", cidr_block="10.0.0.0/16")
        aws.ec2.Vpc("twice", cidr_block="10.1.0.0/16")

    with pytest.raises(Exception, match="Duplicate resource URN") as caught:
        evaluate_function(build)
    line = build.__code__.co_firstlineno
    assert f"test_evaluate.py:{line + 1}" in str(caught.value)
    assert f"test_evaluate.py:{line + 2}" in str(caught.value)


def test_a_parents_name_is_not_part_of_a_urn() -> None:
    """One name under two parents of one type is a duplicate; under parents of two types it is none."""

    def build(types: str) -> None:
        for index, kind in enumerate(types):
            parent = pulumi.ComponentResource(f"demo:index:{kind}", f"parent-{index}")
            aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", opts=pulumi.ResourceOptions(parent=parent))

    assert len(evaluate_function(lambda: build("AB")).resources) == 4
    with pytest.raises(Exception, match="Duplicate"):
        evaluate_function(lambda: build("AA"))


def test_options_are_recorded_as_the_engine_receives_them() -> None:
    """protect, provider, dependencies, aliases, ignore_changes and the rest arrive whole."""

    def build() -> None:
        provider = aws.Provider("own", region="eu-central-1")
        role = aws.iam.Role("role", assume_role_policy="{}", opts=pulumi.ResourceOptions(provider=provider))
        aws.ec2.Vpc(
            "vpc",
            cidr_block="10.0.0.0/16",
            tags={"role": role.arn},
            opts=pulumi.ResourceOptions(
                protect=True,
                provider=provider,
                depends_on=[role],
                aliases=[pulumi.Alias(name="old"), "urn:pulumi:s::p::a:b:C::x"],
                ignore_changes=["tags"],
                replace_on_changes=["cidrBlock"],
                delete_before_replace=True,
                retain_on_delete=True,
                deleted_with=role,
                custom_timeouts=pulumi.CustomTimeouts(create="5m"),
                additional_secret_outputs=["arn"],
                import_="vpc-1",
            ),
        )

    options = resource(evaluate_function(build, project="p", stack="s"), "vpc").options
    role_urn = "urn:pulumi:s::p::aws:iam/role:Role::role"
    assert options.protect
    assert options.delete_before_replace
    assert options.retain_on_delete
    assert options.provider.startswith("urn:pulumi:s::p::pulumi:providers:aws::own::")
    assert options.dependencies == (role_urn,)
    assert options.property_dependencies["tags"] == (role_urn,)
    assert options.aliases == ("urn:pulumi:s::p::aws:ec2/vpc:Vpc::old", "urn:pulumi:s::p::a:b:C::x")
    assert options.ignore_changes == ("tags",)
    assert options.replace_on_changes == ("cidrBlock",)
    assert options.deleted_with == role_urn
    assert options.custom_timeouts == {"create": "5m"}
    assert options.additional_secret_outputs == ("arn",)
    assert options.import_id == "vpc-1"


@pytest.mark.parametrize(
    ("alias", "expected"),
    [
        (pulumi.Alias(type_="demo:index:Old"), "urn:pulumi:s::p::demo:index:Old::group"),
        (pulumi.Alias(stack="t", project="q"), "urn:pulumi:t::q::demo:index:Group::group"),
        (pulumi.Alias(parent="urn:pulumi:s::p::demo:index:Outer::o"),
         "urn:pulumi:s::p::demo:index:Outer$demo:index:Group::group"),
    ],
)  # fmt: skip
def test_an_alias_is_completed_from_the_resource(alias: pulumi.Alias, expected: str) -> None:
    plan = evaluate_function(lambda: Group("group", pulumi.ResourceOptions(aliases=[alias])), project="p", stack="s")
    assert resource(plan, "group").options.aliases == (expected,)


def test_a_component_hands_provider_and_protection_to_its_children() -> None:
    def build() -> None:
        provider = aws.Provider("own", region="eu-central-1")
        Group("group", pulumi.ResourceOptions(protect=True, providers=[provider]))

    vpc = resource(evaluate_function(build), "group-vpc")
    assert vpc.options.protect
    assert "::own::" in vpc.options.provider


def test_preview_leaves_unknown_what_the_cloud_computes() -> None:
    """In a preview ids and computed properties are unknown and no apply runs on them; inputs are known."""
    seen: list[Any] = []

    def build() -> None:
        group = Group("group")
        group.vpc.id.apply(seen.append)
        group.vpc.arn.apply(seen.append)
        group.vpc.cidr_block.apply(seen.append)
        aws.ec2.Subnet("subnet", vpc_id=group.vpc.id, cidr_block="10.0.0.0/24", tags={"vpc": group.vpc.arn})
        pulumi.export("vpc", group.vpc.id)
        pulumi.export("cidr", group.vpc.cidr_block)

    plan = evaluate_function(build)
    assert seen == ["10.0.0.0/16"]
    assert resource(plan, "subnet").inputs == {"vpcId": UNKNOWN, "cidrBlock": "10.0.0.0/24", "tags": {"vpc": UNKNOWN}}
    assert plan.outputs == {"vpc": UNKNOWN, "cidr": "10.0.0.0/16"}
    assert resource(plan, "group").outputs == {"vpcId": UNKNOWN, "cidr": "10.0.0.0/16"}


def test_update_gives_marked_placeholders_in_the_sdks_shape() -> None:
    """In an update every apply runs: ids, ARNs and nested computed values are there and say what they are."""

    def build() -> None:
        cluster = aws.eks.Cluster("c", role_arn="arn:aws:iam::1:role/x", vpc_config={"subnet_ids": ["a", "b"]})
        pulumi.export("id", cluster.id)
        pulumi.export("arn", cluster.arn)
        pulumi.export("ca", cluster.certificate_authority.data)
        pulumi.export("issuer", cluster.identities[0].oidcs[0].issuer)

    assert evaluate_function(build, mode="update").outputs == {
        "id": "c-id",
        "arn": "arn:aws:placeholder:::placeholder/c.arn",
        "ca": "placeholder-c.certificateAuthority.data",
        "issuer": "placeholder-c.identities.0.oidcs.0.issuer",
    }


def test_what_a_provider_adds_inside_a_given_object_is_not_taken_for_absent() -> None:
    """A cluster's security group stands inside an object that the program gives in part."""

    def build() -> None:
        cluster = aws.eks.Cluster("c", role_arn="arn:aws:iam::1:role/x", vpc_config={"subnet_ids": ["a", "b"]})
        pulumi.export("group", cluster.vpc_config.cluster_security_group_id)
        pulumi.export("subnets", cluster.vpc_config.subnet_ids)

    assert evaluate_function(build).outputs["group"] is UNKNOWN
    update = evaluate_function(build, mode="update").outputs
    assert update == {"group": "placeholder-c.vpcConfig.clusterSecurityGroupId", "subnets": ["a", "b"]}


def test_an_object_that_the_provider_gives_back_as_text_comes_back_as_text() -> None:
    """A policy given as an object is JSON text in the state: an apply on it gets text."""
    seen: list[Any] = []

    def build() -> None:
        rule = {
            "rule_priority": 1,
            "selection": {"tag_status": "any", "count_type": "imageCountMoreThan", "count_number": 1},
        }
        policy = aws.ecr.LifecyclePolicy(
            "p", repository="r", policy={"rules": [{**rule, "action": {"type": "expire"}}]}
        )
        policy.policy.apply(seen.append)

    evaluate_function(build)
    assert [type(value) for value in seen] == [str]
    assert "imageCountMoreThan" in seen[0]


def test_what_a_provider_computes_as_a_secret_is_one() -> None:
    """In an update the placeholder of a secret output is a secret too."""
    plan = evaluate_function(lambda: pulumi.export("secret", aws.iam.AccessKey("key", user="ci").secret), mode="update")
    assert plan.outputs["secret"] == Secret("placeholder-key.secret")


def test_secrets_stay_secret() -> None:
    """A secret is recorded as one, wherever it goes, and its text never shows what it holds."""

    def build() -> None:
        aws.ssm.Parameter("p", type="SecureString", value=pulumi.Output.secret("hunter2"))
        pulumi.export("s", pulumi.Output.secret("hunter2").apply(str.upper))

    plan = evaluate_function(build)
    assert resource(plan, "p").inputs["value"] == Secret("hunter2")
    assert plan.outputs["s"] == Secret("HUNTER2")
    assert "hunter2" not in repr(plan.outputs).lower()


def test_a_resource_passed_as_a_value_is_answered() -> None:
    """A reference that comes back from the monitor resolves to the resource: a program must not hang on it."""

    def build() -> None:
        vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16")
        holder = pulumi.ComponentResource("demo:index:Holder", "holder", {"vpc": vpc}, None, remote=True)
        pulumi.export("holder", holder.urn)

    plan = evaluate_function(build)
    assert resource(plan, "holder").inputs["vpc"].urn.endswith("::vpc")
    assert [finding.code for finding in plan.findings] == ["check/remote-component"]
    assert plan.findings[0].severity is Severity.NOTE


def test_an_existing_resource_is_read_and_unknown() -> None:
    plan = evaluate_function(lambda: pulumi.export("cidr", aws.ec2.Vpc.get("existing", "vpc-1").cidr_block))
    assert resource(plan, "existing").read
    assert resource(plan, "existing").id == "vpc-1"
    assert plan.outputs["cidr"] is UNKNOWN


@pytest.mark.parametrize("mode", ["preview", "update"])
def test_outputs_of_another_stack_are_unknown(mode: str) -> None:
    plan = evaluate_function(
        lambda: pulumi.export("vpc", pulumi.StackReference("org/net/dev").get_output("vpc")), mode=mode
    )
    assert plan.outputs["vpc"] is UNKNOWN


def test_every_resource_knows_the_line_that_makes_it() -> None:
    """The place is the line that calls the class, not the class's own constructor."""

    def build() -> None:
        Group("group")

    plan = evaluate_function(build)
    line = build.__code__.co_firstlineno + 1
    assert str(resource(plan, "group").source) == f"tests/preview/evaluation/test_evaluate.py:{line}"
    assert str(resource(plan, "group-vpc").source).startswith("tests/preview/evaluation/test_evaluate.py:")


def test_a_disabled_default_provider_is_an_error() -> None:
    config = {"pulumi:disable-default-providers": '["aws"]'}
    plan = evaluate_function(lambda: aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16"), config=config)
    assert [(f.code, f.severity) for f in plan.findings] == [("check/default-provider", Severity.ERROR)]
    given = aws.ec2.Vpc

    def build() -> None:
        provider = aws.Provider("own", region="eu-central-1")
        given("vpc", cidr_block="10.0.0.0/16", opts=pulumi.ResourceOptions(provider=provider))

    assert evaluate_function(build, config=config).findings == []


def test_a_thousand_resources_come_back_sorted() -> None:
    """The plan's order is that of the URNs, whatever the order of registration was."""

    def build() -> None:
        for index in reversed(range(300)):
            kubernetes.core.v1.ConfigMap(f"m{index}", data={"i": str(index)})

    plan = evaluate_function(build)
    urns = [resource.urn for resource in plan.resources]
    assert len(urns) == 300
    assert urns == sorted(urns)


def test_runs_do_not_leak_into_each_other() -> None:
    """Settings, garbage collection and the SDK's functions are as they were before."""
    before = (gc.isenabled(), pulumi.runtime.invoke, pulumi.get_project())
    evaluate_function(lambda: Group("a"), project="one")
    with pytest.raises(ZeroDivisionError):
        evaluate_function(lambda: 1 / 0, project="two")
    assert (gc.isenabled(), pulumi.runtime.invoke, pulumi.get_project()) == before


def test_an_error_is_raised_and_not_logged_as_well(capfd: pytest.CaptureFixture[str]) -> None:
    """One failing registration fails many tasks; nobody needs to read about each of them."""

    def build() -> None:
        for _ in range(2):
            aws.ec2.Vpc("twice", cidr_block="10.0.0.0/16")

    with pytest.raises(Exception, match="Duplicate"):
        evaluate_function(build)
    gc.collect()
    assert capfd.readouterr().err == ""


def test_an_asynchronous_program_is_awaited() -> None:
    async def build() -> None:
        await asyncio.sleep(0)
        Group("late")

    assert resource(evaluate_function(build), "late")


def test_work_of_the_programs_own_still_gets_its_thread() -> None:
    async def build() -> None:
        pulumi.export("sum", await asyncio.to_thread(sum, [1, 2]))

    assert evaluate_function(build).outputs == {"sum": 3.0}


def test_an_error_in_an_apply_is_raised() -> None:
    def build() -> None:
        pulumi.Output.from_input(1).apply(lambda _: 1 / 0)

    with pytest.raises(ZeroDivisionError):
        evaluate_function(build)


def test_a_program_that_waits_for_ever_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("winkube.preview.evaluation.runtime.DEADLOCK_SECONDS", 0.05)

    async def build() -> None:
        await asyncio.get_running_loop().create_future()

    with pytest.raises(Exception, match="waits for a value that never comes"):
        evaluate_function(build)


# -- programs on disk ----------------------------------------------------------------------------------------


def test_a_program_on_disk_gets_its_configuration(tmp_path: Path) -> None:
    """Declared defaults, stack values and objects arrive as the CLI hands them over."""
    write_program(
        tmp_path,
        """
        import pulumi
        config = pulumi.Config()
        pulumi.export("size", config.require_int("size"))
        pulumi.export("net", config.require_object("net"))
        pulumi.export("region", pulumi.Config("aws").require("region"))
        pulumi.export("name", pulumi.get_project() + "-" + pulumi.get_stack())
        """,
        "config: {aws:region: eu-central-1, demo:net: {cidr: 10.0.0.0/16, zones: [a, b]}}",
        "name: demo\nruntime: {name: python}\nconfig: {size: {type: integer, default: 3}}\n",
    )
    assert evaluate(tmp_path, "dev").outputs == {
        "size": 3.0,
        "net": {"cidr": "10.0.0.0/16", "zones": ["a", "b"]},
        "region": "eu-central-1",
        "name": "demo-dev",
    }


def test_an_encrypted_value_is_an_unknown_secret_and_asks_for_no_passphrase(tmp_path: Path) -> None:
    write_program(
        tmp_path,
        """
        import pulumi, pulumi_aws as aws
        config = pulumi.Config()
        seen = []
        password = config.require_secret("password")
        password.apply(seen.append)
        config.require_secret_object("nested").apply(seen.append)
        aws.ssm.Parameter("p", type="SecureString", value=password)
        aws.ssm.Parameter("q", type="String", description=f"x-{config.require('password')}")
        pulumi.export("password", password)
        pulumi.export("seen", seen)
        """,
        "config: {demo:password: {secure: v1:xyz}, demo:nested: {secure: v1:abc}}",
    )
    plan = evaluate(tmp_path, "dev")
    assert resource(plan, "p").inputs["value"] == Secret(UNKNOWN)
    assert resource(plan, "q").inputs["description"] is UNKNOWN
    assert plan.outputs == {"password": Secret(UNKNOWN), "seen": []}


def test_a_failing_program_says_its_own_message_and_line(tmp_path: Path) -> None:
    """Not a page of asyncio: the error, and the innermost line of the program."""
    write_program(
        tmp_path,
        """
        def build():
            return {}["missing"]
        build()
        """,
    )
    with pytest.raises(ProgramError) as caught:
        evaluate(tmp_path, "dev")
    assert str(caught.value) == "KeyError: 'missing'\n  at __main__.py:3 in build\n    return {}[\"missing\"]"


def test_a_run_error_is_shown_alone(tmp_path: Path) -> None:
    write_program(tmp_path, "import pulumi\nraise pulumi.RunError('set the region')\n")
    with pytest.raises(ProgramError) as caught:
        evaluate(tmp_path, "dev")
    assert str(caught.value) == "set the region"


def test_a_missing_configuration_value_says_how_to_set_it(tmp_path: Path) -> None:
    write_program(tmp_path, "import pulumi\npulumi.Config().require('size')\n")
    with pytest.raises(ProgramError, match=r"demo:size.*\n.*pulumi config set"):
        evaluate(tmp_path, "dev")


def test_a_program_that_exits_is_an_error_unless_it_says_zero(tmp_path: Path) -> None:
    write_program(tmp_path, "import sys\nsys.exit(3)\n")
    with pytest.raises(ProgramError, match="exit code 3"):
        evaluate(tmp_path, "dev")
    write_program(tmp_path, "import sys\nsys.exit(0)\n")
    assert evaluate(tmp_path, "dev").resources == []


def test_modules_of_one_program_are_not_those_of_the_next(tmp_path: Path) -> None:
    """Two programs with a module of one name each get their own."""
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        write_program(folder, "import pulumi, parts\npulumi.export('it', parts.IT)\n")
        (folder / "parts.py").write_text(f"IT = {name!r}\n")
        assert evaluate(folder, "dev").outputs == {"it": name}
    assert "parts" not in sys.modules


def test_a_program_runs_in_its_own_folder(tmp_path: Path) -> None:
    """As under the engine: it may open files beside it, wherever the command was called."""
    write_program(tmp_path, "import pulumi\npulumi.export('text', open('beside.txt').read())\n")
    (tmp_path / "beside.txt").write_text("here")
    before = Path.cwd()
    assert evaluate(tmp_path, "dev").outputs == {"text": "here"}
    assert Path.cwd() == before


def test_what_a_program_prints_does_not_mix_with_the_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_program(tmp_path, "print('hello')\n")
    evaluate(tmp_path, "dev")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "hello\n"


def test_warnings_of_the_program_are_kept(tmp_path: Path) -> None:
    write_program(tmp_path, "import pulumi\npulumi.log.warn('careful')\npulumi.log.info('fine')\n")
    assert evaluate(tmp_path, "dev").logs == [("warning", "careful")]


def test_an_unknown_mode_is_refused(tmp_path: Path) -> None:
    write_program(tmp_path, "")
    with pytest.raises(PreviewError, match='"preview" or "update", got "up"'):
        evaluate(tmp_path, "dev", mode="up")


def test_a_stand_in_does_a_provider_s_work_in_an_update() -> None:
    """It is given the inputs with their secrets laid open; what it computes of a secret output is still secret."""
    seen: list[dict[str, Any]] = []

    def key(name: str, inputs: dict[str, Any]) -> dict[str, Any]:
        seen.append({"name": name, **inputs})
        return {"privateKeyPem": "PRIVATE", "publicKeyPem": "PUBLIC"}

    def build() -> None:
        made = tls.PrivateKey("key", algorithm=pulumi.Output.secret("RSA"))
        pulumi.export("private", made.private_key_pem)
        pulumi.export("public", made.public_key_pem)

    mocks = {"tls:index/privateKey:PrivateKey": key}
    plan = evaluate_function(build, mode="update", mocks=mocks)
    assert seen == [{"name": "key", "algorithm": "RSA"}]
    assert (plan.outputs["private"], plan.outputs["public"]) == (Secret("PRIVATE"), "PUBLIC")
    assert evaluate_function(build, mocks=mocks).outputs["public"] is UNKNOWN


def test_the_placeholder_of_a_public_key_can_be_read() -> None:
    """Programs render key sets from it, and would stop at a word."""

    def build() -> None:
        pulumi.export("public", tls.PrivateKey("key", algorithm="RSA").public_key_pem)

    text = evaluate_function(build, mode="update").outputs["public"]
    assert load_pem_public_key(text.encode()).key_size == 2048
