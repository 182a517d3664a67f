"""Labels and taints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.scheduling.autoscaler import autoscaler_discovery_tags, autoscaler_template_tags
from winkube.scheduling.labels import (
    COUNT_LIMIT,
    EKS_EFFECTS,
    WINDOWS_TAINT,
    Taint,
    check_labels,
    check_taints,
    eks_taints,
    kubelet_flags,
)


def only(found):
    """The one mistake found."""
    assert len(found) == 1, [mistake.text() for mistake in found]
    return found[0]


@pytest.mark.parametrize("key", ["team", "example.com/team", "a", "A.b_c-d", "x" * 63])
def test_ordinary_labels_pass(key: str):
    """What Kubernetes and EKS accept is accepted."""
    assert not check_labels({key: "web"})


@pytest.mark.parametrize("key", ["", "-team", "team-", "a b", "a/b/c", "/team", "Example.com/team", "team/", "é"])
def test_a_key_has_the_syntax_of_kubernetes(key: str):
    """WK-SCH-001 for a key that the API server would refuse."""
    mistake = only(check_labels({key: "web"}))
    assert mistake.rule.code == "WK-SCH-001"
    assert mistake.path == ("labels", key)
    assert mistake.got == key


def test_eks_counts_the_whole_key():
    """WK-SCH-001 for a key that Kubernetes would take but EKS finds too long."""
    mistake = only(check_labels({"a-rather-long-company-name.example.com/" + "x" * 30: "web"}))
    assert mistake.rule.code == "WK-SCH-001"
    assert "at most 63" in mistake.message
    assert "this has 69" in mistake.message
    assert mistake.remedy == "shorten it by 6 characters"


@pytest.mark.parametrize("value", ["a b", "-x", "x-", "a/b", "é"])
def test_a_value_has_the_syntax_of_kubernetes(value: str):
    """WK-SCH-002 for a value that the API server would refuse."""
    mistake = only(check_labels({"team": value}))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-SCH-002", ("labels", "team"), value)


def test_a_value_has_63_characters_at_most():
    """WK-SCH-002 says by how much it is too long."""
    mistake = only(check_taints([Taint(key="team", value="x" * 70)]))
    assert mistake.path == ("taints", 0, "value")
    assert mistake.remedy == "shorten it by 7 characters"


@pytest.mark.parametrize(
    "key", ["kubernetes.io/os", "node-role.kubernetes.io/worker", "k8s.io/x", "eks.amazonaws.com/x"]
)
def test_reserved_domains_are_refused(key: str):
    """WK-SCH-003 for a key of Kubernetes' or EKS's own, in labels and taints."""
    mistake = only(check_labels({key: "web"}))
    assert mistake.rule.code == "WK-SCH-003"
    assert "example.com/" in mistake.remedy
    assert only(check_taints([Taint(key=key)])).path == ("taints", 0, "key")


def test_a_look_alike_domain_is_free():
    """Only the domain itself and what is below it are reserved."""
    assert not check_labels({"mykubernetes.io/os": "x"})


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("NoShedule", "NoSchedule"), ("NO_SCHEDULE", "NoSchedule"), ("prefernoschedule", "PreferNoSchedule")],
)
def test_a_wrong_effect_names_the_nearest(wrong: str, right: str):
    """WK-SCH-004 lists the effects and suggests one."""
    mistake = only(check_taints([Taint(key="os", value="windows", effect=wrong)]))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-SCH-004", ("taints", 0, "effect"), wrong)
    assert mistake.remedy == f'write "{right}"'
    assert all(effect in mistake.message for effect in EKS_EFFECTS)


def test_an_effect_like_none_gets_the_list():
    """Without a near one there is no guess."""
    assert only(check_taints([Taint(key="os", effect="x")])).remedy == "write one of these"


def test_one_taint_is_not_given_twice():
    """WK-SCH-005 for two taints that differ in the value alone."""
    mistake = only(check_taints([WINDOWS_TAINT, Taint(key="os", value="linux")]))
    assert (mistake.rule.code, mistake.path) == ("WK-SCH-005", ("taints", 1))
    assert mistake.got == "os=linux:NoSchedule"


def test_eks_takes_fifty():
    """WK-SCH-006 for more labels or taints than EKS takes; a self-managed group has no such limit."""
    many = {f"key-{number}": "x" for number in range(COUNT_LIMIT + 3)}
    mistake = only(check_labels(many))
    assert (mistake.rule.code, mistake.got, mistake.remedy) == ("WK-SCH-006", 53, "remove 3 labels")
    assert only(check_taints([Taint(key=key) for key in many])).rule.code == "WK-SCH-006"
    assert not check_labels(many, managed=False)


def test_eks_refuses_empty_values():
    """WK-SCH-007 for a label with no value in a managed group; Kubernetes alone would take it."""
    mistake = only(check_labels({"team": ""}))
    assert (mistake.rule.code, mistake.path) == ("WK-SCH-007", ("labels", "team"))
    assert not check_labels({"team": ""}, managed=False)


def test_all_mistakes_come_at_once():
    """Three mistakes in one taint give three lines."""
    codes = {mistake.rule.code for mistake in check_taints([Taint(key="a b", value="c d", effect="Never")])}
    assert codes == {"WK-SCH-001", "WK-SCH-002", "WK-SCH-004"}


def test_taints_in_the_words_of_eks():
    """Effects are translated and an empty value is left out."""
    assert eks_taints([WINDOWS_TAINT, Taint(key="gpu", effect="NoExecute")]) == [
        {"key": "os", "value": "windows", "effect": "NO_SCHEDULE"},
        {"key": "gpu", "effect": "NO_EXECUTE"},
    ]


def test_flags_of_the_kubelet():
    """Labels are sorted; without taints there is no flag for them."""
    assert kubelet_flags({"b": "2", "a": "1"}, []) == {"node-labels": "a=1,b=2"}
    assert kubelet_flags({}, [Taint(key="gpu")]) == {"register-with-taints": "gpu=:NoSchedule"}


def test_tags_of_the_autoscaler():
    """Labels, taints and resources each under their own prefix; discovery by the cluster's name."""
    assert autoscaler_template_tags({"team": "web"}, [WINDOWS_TAINT], {"cpu": "2"}) == {
        "k8s.io/cluster-autoscaler/node-template/label/team": "web",
        "k8s.io/cluster-autoscaler/node-template/resources/cpu": "2",
        "k8s.io/cluster-autoscaler/node-template/taint/os": "windows:NoSchedule",
    }
    assert autoscaler_discovery_tags("dev")["k8s.io/cluster-autoscaler/dev"] == "owned"


@given(st.dictionaries(st.from_regex(r"\A[a-z]([a-z0-9-]{0,20}[a-z0-9])?\Z"), st.from_regex(r"\A[a-z0-9]{1,20}\Z")))
def test_what_is_accepted_round_trips_through_the_flag(labels: dict[str, str]):
    """Accepted labels hold no character that the kubelet's flag splits on."""
    assert not [mistake for mistake in check_labels(labels) if mistake.rule.code != "WK-SCH-006"]
    text = kubelet_flags(labels, []).get("node-labels", "")
    assert dict(pair.split("=") for pair in text.split(",") if pair) == labels
