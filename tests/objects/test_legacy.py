"""Left-overs of the old Windows support."""

import pytest
from winkube.objects.legacy import LEGACY_OBJECTS, check_legacy_object


@pytest.mark.parametrize("kind", LEGACY_OBJECTS)
def test_left_overs_are_found_by_kind_and_name(kind: str):
    """WK-K8S-021 for each object that the old way installed."""
    for name in LEGACY_OBJECTS[kind]:
        (mistake,) = check_legacy_object({"kind": kind, "metadata": {"name": name}})
        assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-K8S-021", ("metadata", "name"), name)


def test_what_is_still_needed_is_left_alone():
    """The binding of Windows' kube-proxy belongs to EKS; a ConfigMap of the name is not the controller."""
    assert not check_legacy_object({"kind": "ClusterRoleBinding", "metadata": {"name": "eks:kube-proxy-windows"}})
    assert not check_legacy_object({"kind": "ConfigMap", "metadata": {"name": "vpc-resource-controller"}})
    assert not check_legacy_object({"kind": "Deployment"})
