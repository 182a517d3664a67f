"""Comparing two plans: properties, aliases, replacements, Windows groups, secrets."""

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as k8s
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from winkube.preview.comparison.compare import compare, empty_plan
from winkube.preview.comparison.compare_values import Kind, ValueChange, compare_values, same
from winkube.preview.comparison.difference import Change, ChangedResource, Difference
from winkube.preview.evaluation.evaluate import evaluate_function
from winkube.preview.model import UNKNOWN, Finding, Plan, Secret, Severity
from winkube.preview.text.user_data import readable

Build = Callable[[], Any]


def diff(base: Build, head: Build, stacks: tuple[str, str] = ("dev", "dev")) -> Difference:
    ours, theirs = (evaluate_function(build, stack=stack) for build, stack in zip((base, head), stacks, strict=True))
    return compare(ours, theirs)


def only(difference: Difference) -> ChangedResource:
    (item,) = difference.changed
    return item


def only_change(difference: Difference) -> Change:
    (change,) = only(difference).changes
    return change


def values(base: Any, head: Any) -> list[ValueChange]:
    return list(compare_values(base, head, lambda urn: urn))


def vpc(name: str = "vpc", opts: pulumi.ResourceOptions | None = None, **inputs: Any) -> Build:
    return lambda: aws.ec2.Vpc(name, **{"cidr_block": "10.0.0.0/16", **inputs}, opts=opts)


class TestValues:
    def test_equal_values_have_no_difference(self) -> None:
        """Unknown on both sides counts as equal, and so does the same secret."""
        value = {"a": [1.0, {"b": UNKNOWN}], "s": Secret("x"), "n": None}
        assert values(value, value) == []
        assert same(value, value, lambda urn: urn)

    def test_paths_lead_to_the_leaf(self) -> None:
        (change,) = values(
            {"scalingConfig": {"maxSize": 3.0, "minSize": 1.0}}, {"scalingConfig": {"maxSize": 5.0, "minSize": 1.0}}
        )
        assert (change.path, change.before, change.after) == (("scalingConfig", "maxSize"), 3.0, 5.0)

    def test_a_key_that_comes_or_goes(self) -> None:
        assert [(c.path, c.kind) for c in values({"a": 1.0}, {"b": 1.0})] == [
            (("a",), Kind.REMOVED),
            (("b",), Kind.ADDED),
        ]

    def test_elements_are_known_by_their_name(self) -> None:
        """An element put in front changes nothing of the others."""
        base = [{"key": "os", "value": "windows"}, {"key": "team", "value": "a"}]
        head = [{"key": "gpu", "value": "no"}, {"key": "os", "value": "windows"}, {"key": "team", "value": "b"}]
        found = [(c.path, c.kind) for c in values(base, head)]
        assert found == [((0,), Kind.ADDED), ((2, "value"), Kind.CHANGED)]

    def test_plain_elements_are_aligned(self) -> None:
        assert [(c.path, c.kind) for c in values(["a", "b", "c"], ["a", "c"])] == [((1,), Kind.REMOVED)]
        assert [(c.path, c.kind) for c in values(["a", "c"], ["a", "b", "c"])] == [((1,), Kind.ADDED)]
        assert [(c.path, c.before, c.after) for c in values(["a", "b"], ["a", "x"])] == [((1,), "b", "x")]

    def test_order_alone_is_said_once(self) -> None:
        (change,) = values({"ids": ["a", "b", "c"]}, {"ids": ["c", "a", "b"]})
        assert (change.path, change.kind, change.note) == (("ids",), Kind.ORDER, "only the order differs")

    def test_true_is_not_one(self) -> None:
        assert [c.kind for c in values({"a": True, "b": 0.0}, {"a": 1.0, "b": False})] == [Kind.CHANGED, Kind.CHANGED]

    def test_a_policy_is_compared_as_json(self) -> None:
        base = {"policy": json.dumps({"Version": "2012-10-17", "Statement": [{"Sid": "a", "Action": ["s3:Get*"]}]})}
        head = {
            "policy": json.dumps({"Version": "2012-10-17", "Statement": [{"Sid": "a", "Action": ["s3:*"]}]}, indent=2)
        }
        (change,) = values(base, head)
        assert change.path == ("policy", "Statement", 0, "Action", 0)
        assert (change.before, change.after, change.note) == ("s3:Get*", "s3:*", "inside the JSON text")

    def test_the_same_json_written_differently(self) -> None:
        (change,) = values({"policy": '{"a":1,"b":2}'}, {"policy": '{"b": 2, "a": 1}'})
        assert change.kind is Kind.WRITING

    def test_user_data_is_compared_as_the_node_reads_it(self) -> None:
        scripts = [f"<powershell>\nStart\nSet-X {number}\n</powershell>" for number in (1, 2)]
        before, after = (base64.b64encode(script.encode()).decode() for script in scripts)
        (change,) = values({"userData": before}, {"userData": after})
        assert change.lines == ("@@ -1,4 +1,4 @@", " <powershell>", " Start", "-Set-X 1", "+Set-X 2", " </powershell>")

    def test_user_data_that_is_no_text(self) -> None:
        before, after = (base64.b64encode(bytes([200, number, 255] * 9)).decode() for number in (1, 2))
        (change,) = values({"userData": before}, {"userData": after})
        assert (change.lines, change.note) == ((), "is not readable as text")
        assert readable(before) is None

    def test_unknown_against_known_is_a_change(self) -> None:
        (change,) = values({"a": UNKNOWN}, {"a": "x"})
        assert (change.kind, change.before, change.after) == (Kind.CHANGED, UNKNOWN, "x")

    @given(
        st.recursive(
            st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
            max_leaves=20,
        ),
        st.recursive(
            st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
            max_leaves=20,
        ),
    )
    def test_a_difference_is_found_exactly_where_there_is_one(self, base: Any, head: Any) -> None:
        """No difference of equal values, at least one of unequal ones; nothing raises."""
        assert bool(values(base, head)) is not same(base, head, lambda urn: urn)
        assert values(base, base) == []


class TestResources:
    def test_added_and_removed(self) -> None:
        def both() -> None:
            vpc()()
            aws.sqs.Queue("q")

        difference = diff(vpc(), both)
        assert [(item.name, item.type) for item in difference.added] == [("q", "aws:sqs/queue:Queue")]
        assert (difference.removed, difference.changed, difference.unchanged) == ([], [], 1)
        assert [item.name for item in diff(both, vpc()).removed] == ["q"]

    def test_nothing_differs(self) -> None:
        difference = diff(vpc(), vpc())
        assert difference.empty
        assert difference.unchanged == 1

    def test_a_property_with_its_mark(self) -> None:
        difference = diff(vpc(), vpc(cidr_block="10.1.0.0/16", tags={"Name": "x"}))
        cidr, tags = only(difference).changes
        assert (cidr.path, cidr.before, cidr.after, cidr.replaces) == ("cidrBlock", "10.0.0.0/16", "10.1.0.0/16", "yes")
        assert (tags.path, tags.kind, tags.replaces) == ("tags", Kind.ADDED, "no")
        assert only(difference).replaces.answer == "yes"

    def test_an_alias_keeps_a_renamed_resource(self) -> None:
        difference = diff(vpc("old"), vpc("new", pulumi.ResourceOptions(aliases=[pulumi.Alias(name="old")])))
        assert (difference.added, difference.removed) == ([], [])
        item = only(difference)
        assert (item.name, item.was) == ("new", "urn:pulumi:dev::project::aws:ec2/vpc:Vpc::old")

    def test_children_follow_an_aliased_parent(self) -> None:
        """The engine gives children the parent's old name, and renames those that begin with it."""

        class Box(pulumi.ComponentResource):
            def __init__(self, name: str, opts: pulumi.ResourceOptions | None = None) -> None:
                super().__init__("test:index:Box", name, None, opts)
                aws.ec2.Vpc(f"{name}-vpc", cidr_block="10.0.0.0/16", opts=pulumi.ResourceOptions(parent=self))
                aws.sqs.Queue("jobs", opts=pulumi.ResourceOptions(parent=self))

        class Crate(Box):
            pass

        aliased = pulumi.ResourceOptions(aliases=[pulumi.Alias(name="old")])
        difference = diff(lambda: Box("old"), lambda: Crate("new", aliased))
        assert (difference.added, difference.removed) == ([], [])
        assert {item.name for item in difference.changed} == {"new", "new-vpc"}

    def test_a_rename_without_alias_is_pointed_out(self) -> None:
        difference = diff(vpc("old"), vpc("new"))
        (item,) = difference.added
        assert "looks like old, which is removed" in item.notes[0]
        assert 'aliases=[pulumi.Alias(urn="urn:pulumi:dev::project::aws:ec2/vpc:Vpc::old")]' in item.notes[0]

    def test_options(self) -> None:
        difference = diff(vpc(), vpc(opts=pulumi.ResourceOptions(protect=True)))
        change = only_change(difference)
        assert (change.path, change.before, change.after) == ("options.protect", False, True)

    def test_another_provider_may_replace(self) -> None:
        def build(name: str) -> Build:
            def body() -> None:
                provider = aws.Provider(name, region="eu-west-1")
                vpc(opts=pulumi.ResourceOptions(provider=provider))()

            return body

        difference = diff(build("one"), build("two"))
        assert (only_change(difference).path, only(difference).replaces.answer) == ("options.provider", "unknown")

    def test_two_stacks_are_compared_by_what_is_in_them(self) -> None:
        """The stack's name in URNs is no difference; references and providers are followed."""

        def build() -> None:
            provider = aws.Provider("p", region="eu-west-1")
            one = aws.ec2.Vpc("v", cidr_block="10.0.0.0/16", opts=pulumi.ResourceOptions(provider=provider))
            aws.ec2.Subnet("s", vpc_id=one.id, cidr_block="10.0.0.0/24",
                           opts=pulumi.ResourceOptions(provider=provider, depends_on=[one]))  # fmt: skip

        assert diff(build, build, ("dev", "prod")).empty

    def test_outputs_of_the_stack(self) -> None:
        difference = diff(lambda: pulumi.export("a", "1"), lambda: pulumi.export("a", "2"))
        assert [(change.path, change.before, change.after) for change in difference.outputs] == [("a", "1", "2")]

    def test_a_stack_that_is_new(self) -> None:
        head = evaluate_function(vpc())
        difference = compare(empty_plan(head), head)
        assert [item.name for item in difference.added] == ["vpc"]


class TestUnknown:
    @staticmethod
    def subnet(**sources: str) -> Build:
        def build() -> None:
            vpcs = {name: aws.ec2.Vpc(name, cidr_block=cidr) for name, cidr in sources.items()}
            aws.ec2.Subnet("s", vpc_id=list(vpcs.values())[-1].id, cidr_block="10.0.0.0/24")

        return build

    def test_unknown_on_both_sides_is_no_difference(self) -> None:
        assert diff(self.subnet(a="10.0.0.0/16"), self.subnet(a="10.0.0.0/16")).empty

    def test_unknown_from_elsewhere_is_said(self) -> None:
        difference = diff(self.subnet(b="10.0.0.0/16", a="10.0.0.0/16"), self.subnet(a="10.0.0.0/16", b="10.0.0.0/16"))
        change = only_change(difference)
        assert (change.path, change.kind) == ("vpcId", Kind.UNKNOWN)
        assert change.note == "unknown on both sides, depends no longer on a, now on b"
        assert change.replaces == "yes"

    def test_what_depends_on_a_replaced_resource_follows(self) -> None:
        difference = diff(self.subnet(a="10.0.0.0/16"), self.subnet(a="10.9.0.0/16"))
        by_name = {item.name: item for item in difference.changed}
        (change,) = by_name["s"].changes
        assert (change.path, change.kind, change.note) == ("vpcId", Kind.FOLLOWS, "changes when a is replaced")
        assert by_name["s"].replaces.answer == "yes"


class TestReplacement:
    def test_ignored_changes_are_not_applied(self) -> None:
        ignored = pulumi.ResourceOptions(ignore_changes=["cidr_block"])
        difference = diff(vpc(opts=ignored), vpc(opts=ignored, cidr_block="10.1.0.0/16"))
        change = only_change(difference)
        assert (change.ignored, change.replaces, change.note) == (True, "no", "not applied: ignoreChanges")
        assert only(difference).applied is False

    def test_replace_on_changes(self) -> None:
        option = pulumi.ResourceOptions(replace_on_changes=["tags"])
        difference = diff(vpc(opts=option, tags={"a": "1"}), vpc(opts=option, tags={"a": "2"}))
        assert (only_change(difference).replaces, only_change(difference).source) == ("yes", "option replaceOnChanges")

    @pytest.mark.parametrize(
        ("opts", "inputs", "words"),
        [
            (
                {"delete_before_replace": True},
                {},
                "it is deleted before its replacement is created (deleteBeforeReplace)",
            ),
            ({}, {"name": "jobs"}, "its name is fixed (name): it is deleted before its replacement is created"),
            ({"protect": True}, {}, "it is protected: the engine refuses to replace it, and the deployment fails"),
        ],
    )
    def test_what_a_replacement_means_is_said(
        self, opts: Mapping[str, Any], inputs: Mapping[str, Any], words: str
    ) -> None:
        def queue(fifo: bool) -> Build:
            return lambda: aws.sqs.Queue("q", fifo_queue=fifo, opts=pulumi.ResourceOptions(**opts), **inputs)

        item = only(diff(queue(False), queue(True)))
        assert item.replaces.answer == "yes"
        assert words in item.notes

    def test_unknown_replacements_are_hedged(self) -> None:
        """Where nobody knows, the notes begin with if."""
        build = [lambda tenancy=tenancy: aws.ec2.Vpc("v", instance_tenancy=tenancy, opts=pulumi.ResourceOptions(
            delete_before_replace=True)) for tenancy in ("default", "dedicated")]  # fmt: skip
        item = only(diff(*build))
        assert item.replaces.answer == "unknown"
        assert item.notes == (
            "if it is replaced: it is deleted before its replacement is created (deleteBeforeReplace)",
        )

    def test_a_fixed_kubernetes_name(self) -> None:
        build = [lambda data=data: k8s.core.v1.ConfigMap("c", metadata={"name": "amazon-vpc-cni"}, data={"a": data})
                 for data in "12"]  # fmt: skip
        item = only(diff(*build))
        assert (item.replaces.answer, item.changes[0].path) == ("yes", "data.a")
        assert item.notes == ("its name is fixed (name): it is deleted before its replacement is created",)

    def test_removing_what_is_protected(self) -> None:
        difference = diff(vpc(opts=pulumi.ResourceOptions(protect=True)), lambda: None)
        assert difference.removed[0].notes == (
            "it is protected: the engine refuses to delete it, and the deployment fails",
        )


POWERSHELL = base64.b64encode(b"<powershell>\nStart-Thing -Size 1\n</powershell>").decode()
POWERSHELL_2 = base64.b64encode(b"<powershell>\nStart-Thing -Size 2\n</powershell>").decode()


def node_group(
    *, user_data: str = POWERSHELL, ami_type: str = "WINDOWS_CORE_2022_x86_64", version: Any = None, **more: Any
) -> Build:
    """A launch template and an EKS node group that follows it."""

    def build() -> None:
        template = aws.ec2.LaunchTemplate("lt", user_data=user_data, tags=more.get("template_tags"))
        aws.eks.NodeGroup(
            "win",
            cluster_name="c", node_role_arn="arn:aws:iam::123456789012:role/n", subnet_ids=["subnet-1"],
            ami_type=ami_type, taints=more.get("taints"), labels=more.get("labels"),
            scaling_config={"min_size": 1, "max_size": more.get("most", 3), "desired_size": 1},
            launch_template={"id": template.id, "version": version or template.latest_version.apply(str)},
        )  # fmt: skip

    return build


def scaling_group(user_data: str, *, refresh: bool) -> Build:
    def build() -> None:
        template = aws.ec2.LaunchTemplate("lt", user_data=user_data, image_id="ami-1")
        aws.autoscaling.Group(
            "win", min_size=1, max_size=3, launch_template={"id": template.id, "version": "$Latest"},
            instance_refresh={"strategy": "Rolling"} if refresh else None,
        )  # fmt: skip

    return build


class TestWindows:
    @staticmethod
    def node_impact(base: Build, head: Build) -> tuple[str, tuple[str, ...]]:
        (found,) = diff(base, head).node_impacts
        assert found.group == "win"
        return found.effect, found.reasons

    def test_a_changed_script_rolls_the_nodes(self) -> None:
        effect, reasons = self.node_impact(node_group(), node_group(user_data=POWERSHELL_2))
        assert effect == "rolled"
        assert reasons == ("launch template lt: userData changed: EKS replaces the nodes one after another",)

    def test_another_image_type_replaces_the_group(self) -> None:
        effect, reasons = self.node_impact(node_group(), node_group(ami_type="WINDOWS_CORE_2025_x86_64"))
        assert effect == "replaced"
        assert reasons == (
            "amiType WINDOWS_CORE_2022_x86_64 → WINDOWS_CORE_2025_x86_64: the group is replaced",
        )  # fmt: skip

    def test_a_pinned_version_waits(self) -> None:
        effect, reasons = self.node_impact(node_group(version="7"), node_group(version="7", user_data=POWERSHELL_2))
        assert effect == "new nodes only"
        assert reasons[0].endswith("the group keeps version 7")

    def test_taints_that_evict(self) -> None:
        taints = [{"key": "os", "value": "windows", "effect": "NO_EXECUTE"}]
        effect, _ = self.node_impact(node_group(), node_group(taints=taints))
        assert effect == "pods evicted"

    def test_fewer_nodes(self) -> None:
        assert self.node_impact(node_group(), node_group(most=2)) == ("fewer nodes", ("scalingConfig.maxSize 3 → 2",))

    def test_a_group_that_goes(self) -> None:
        assert self.node_impact(node_group(), lambda: None) == ("removed", ("the group and its nodes are removed",))

    @pytest.mark.parametrize(("refresh", "effect"), [(True, "rolled"), (False, "new nodes only")])
    def test_a_scaling_group_rolls_only_with_an_instance_refresh(self, refresh: bool, effect: str) -> None:
        """Such a group is known by the PowerShell in its launch template."""
        builds = [scaling_group(data, refresh=refresh) for data in (POWERSHELL, POWERSHELL_2)]
        assert self.node_impact(*builds)[0] == effect

    @pytest.mark.parametrize("more", [{"labels": {"a": "b"}}, {"most": 9}, {"template_tags": {"a": "b"}}])
    def test_what_disturbs_nobody(self, more: Mapping[str, Any]) -> None:
        """Labels, more room and tags of the template are changed in place."""
        difference = diff(node_group(), node_group(**more))
        assert not difference.empty
        assert difference.node_impacts == []

    def test_linux_groups_are_not_called_out(self) -> None:
        builds = [node_group(user_data=data, ami_type="AL2023_x86_64_STANDARD") for data in ("YQ==", "Yg==")]
        assert diff(*builds).node_impacts == []

    def test_a_component_says_which_image(self) -> None:
        """Where the image comes from a parameter, the component's own word is what differs."""

        class Pool(pulumi.ComponentResource):
            def __init__(self, release: str) -> None:
                super().__init__("test:index:Pool", "win")
                aws.autoscaling.Group(
                    "g", min_size=1, max_size=1, launch_template={"id": "lt-1", "version": "1"},
                    opts=pulumi.ResourceOptions(parent=self),
                )  # fmt: skip
                self.register_outputs({"windowsRelease": release})

        effect, reasons = self.node_impact(lambda: Pool("2022"), lambda: Pool("2025"))
        assert (effect, reasons) == ("new nodes only", ("windowsRelease: 2022 → 2025",))


class TestSecrets:
    def test_a_changed_secret_is_named_and_not_shown(self) -> None:
        build = [lambda text=text: aws.ssm.Parameter("p", type="SecureString", value=pulumi.Output.secret(text))
                 for text in ("first-secret", "other-secret")]  # fmt: skip
        difference = diff(*build)
        change = only_change(difference)
        assert (change.before, change.after, change.note) == ("[secret]", "[secret]", "the secret changed")
        assert 'secret"' not in repr(difference).replace("[secret]", "")

    def test_the_same_secret_is_no_difference(self) -> None:
        build = lambda: vpc(tags={"a": pulumi.Output.secret("hidden-value")})()  # noqa: E731
        assert diff(build, build).empty

    def test_a_value_that_becomes_secret_is_hidden_on_both_sides(self) -> None:
        secret = lambda: vpc(tags={"a": pulumi.Output.secret("hidden-value")})()  # noqa: E731
        difference = diff(vpc(tags={"a": "hidden-value"}), secret)
        assert only(difference).changes[0].note == "becomes a secret"
        assert "hidden-value" not in repr(difference)

    @settings(max_examples=25)
    @given(
        st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), min_size=8, max_size=24),
        st.integers(0, 2),
    )
    def test_a_secret_shows_nowhere(self, secret: str, offset: int) -> None:
        """Not where it is marked, nor where the same text stands unmarked: plain, in JSON, in a script, in base64."""
        secret = f"Zq{secret}9Zq"

        def build(round_: str) -> Build:
            def body() -> None:
                script = base64.b64encode(f"{'x' * offset}{secret}\nround {round_}".encode()).decode()
                aws.ssm.Parameter("p", type="SecureString", value=pulumi.Output.secret(secret + round_))
                aws.ec2.Vpc(
                    "v", cidr_block="10.0.0.0/16", tags={"plain": secret + round_, "json": json.dumps([secret, round_])}
                )
                aws.ec2.LaunchTemplate("t", user_data=script, description=script)
                pulumi.export("out", pulumi.Output.secret(secret))
                pulumi.export("plain", f"{secret} {round_}")
                if round_ == "2":
                    aws.ec2.Vpc("added", cidr_block="10.0.0.0/16", tags={"plain": secret, "b64": script})

            return body

        text = repr(diff(build("1"), build("2")))
        assert secret not in text
        assert json.dumps(secret)[1:-1] not in text
        for shift in range(3):
            hidden = base64.b64encode(b"\0" * shift + secret.encode()).decode()[4:-4]
            assert hidden not in text


class TestFindings:
    @staticmethod
    def plan(*messages: str) -> Plan:
        plan = evaluate_function(vpc())
        urn = plan.resources[0].urn
        plan.findings = [Finding("check/x", Severity.ERROR, message, urn) for message in messages]
        return plan

    def test_findings_that_come_and_go(self) -> None:
        difference = compare(self.plan("stays", "goes"), self.plan("stays", "comes"))
        assert [item.message for item in difference.new_findings] == ["comes"]
        assert [item.message for item in difference.gone_findings] == ["goes"]

    def test_lookups(self) -> None:
        def look(name: str) -> Build:
            return lambda: aws.ssm.get_parameter_output(name=name)

        difference = diff(look("/aws/a"), look("/aws/b"))
        assert difference.lookups == [
            ("removed", 'aws:ssm/getParameter:getParameter {"name": "/aws/a"}'),
            ("added", 'aws:ssm/getParameter:getParameter {"name": "/aws/b"}'),
        ]
