"""What a kubelet may say of its own node."""

import pytest
from winkube.scheduling.kubelet import SET_BY_OTHERS, check_kubelet_labels, check_kubelet_taints
from winkube.scheduling.labels import Taint, check_labels, with_windows_taint


@pytest.mark.parametrize(
    "key",
    ["team", "example.com/team", "node.kubernetes.io/pool", "x.node.kubernetes.io/pool", "kubelet.kubernetes.io/x",
     "mykubernetes.io/team", "eks.amazonaws.com/team"],
)  # fmt: skip
def test_labels_that_node_restriction_lets_through_pass(key: str):
    """A kubelet may set labels of one's own, and any below its two domains."""
    assert not check_kubelet_labels({key: "web"})
    assert not check_labels({key: "web"}, managed=False, eks=False)


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("kubernetes.io/team", "only labels below kubelet.kubernetes.io and node.kubernetes.io"),
        ("k8s.io/team", "only labels below"),
        ("apps.kubernetes.io/team", "only labels below"),
        ("node-role.kubernetes.io/worker", "cannot set its own role"),
        ("kubernetes.io/role", "cannot set its own role"),
        ("node-restriction.kubernetes.io/team", "isolate nodes"),
        ("a.node-restriction.kubernetes.io/team", "isolate nodes"),
    ],
)
def test_labels_that_node_restriction_refuses_are_found(key: str, reason: str):
    """WK-SCH-008 with the reason and a name that would do: the kubelet would not start with it."""
    (mistake,) = check_kubelet_labels({key: "web"})
    assert mistake.rule.code == "WK-SCH-008"
    assert mistake.path == ("labels", key)
    assert reason in mistake.message
    assert "example.com/" in mistake.remedy


@pytest.mark.parametrize("key", SET_BY_OTHERS)
def test_labels_that_every_node_gets_are_not_set_by_a_group(key: str):
    """WK-SCH-009 names who sets it."""
    (mistake,) = check_kubelet_labels({key: "x"})
    assert (mistake.rule.code, mistake.got) == ("WK-SCH-009", "x")
    assert SET_BY_OTHERS[key] in mistake.message


@pytest.mark.parametrize(
    "key",
    ["node.kubernetes.io/not-ready", "node.cloudprovider.kubernetes.io/uninitialized",
     "ToBeDeletedByClusterAutoscaler"],
)  # fmt: skip
def test_taints_of_controllers_are_not_those_of_a_group(key: str):
    """WK-SCH-010: the cloud controller or the node lifecycle controller would take it away again."""
    (mistake,) = check_kubelet_taints([Taint(key=key)])
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-SCH-010", ("taints", 0, "key"), key)


def test_elsewhere_than_on_eks_a_prefix_is_not_counted_with_the_name():
    """Kubernetes lets a name have 63 characters after a prefix of 253."""
    key = "a-rather-long-company-name.example.com/" + "x" * 63
    assert not check_labels({key: "web"}, managed=False, eks=False)
    (mistake,) = check_labels({key + "x": "web"}, managed=False, eks=False)
    assert (mistake.rule.code, mistake.remedy) == ("WK-SCH-001", "shorten it by 1 characters")
    (mistake,) = check_labels({"a." * 150 + "io/x": "web"}, managed=False, eks=False)
    assert "at most 253" in mistake.message


def test_the_windows_taint_comes_first_and_once():
    """A group that says it itself keeps its own; another one gets it before its own taints."""
    own = Taint(key="team", value="a")
    assert [str(taint) for taint in with_windows_taint([own], wanted=True)] == [
        "os=windows:NoSchedule",
        "team=a:NoSchedule",
    ]
    said = Taint(key="os", value="windows2022")
    assert with_windows_taint([said], wanted=True) == (said,)
    assert with_windows_taint([own], wanted=False) == (own,)
