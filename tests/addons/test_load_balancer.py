"""How load balancers reach Windows pods."""

import pytest
from winkube.addons.load_balancer import ingress_annotations, service_annotations
from winkube.addons.load_balancer_rules import check_targets
from winkube.core.errors import WinkubeError


def test_pods_are_targets_by_default():
    assert check_targets("ip") == []
    assert service_annotations() == {
        "service.beta.kubernetes.io/aws-load-balancer-type": "external",
        "service.beta.kubernetes.io/aws-load-balancer-nlb-target-type": "ip",
        "service.beta.kubernetes.io/aws-load-balancer-scheme": "internal",
    }


@pytest.mark.parametrize("windows", [True, False])
def test_nodes_as_targets_are_those_of_the_pods_system(windows: bool):
    system = "windows" if windows else "linux"
    key = "service.beta.kubernetes.io/aws-load-balancer-target-node-labels"
    assert service_annotations("instance", windows=windows)[key] == f"kubernetes.io/os={system}"
    assert ingress_annotations("instance", windows=windows)["alb.ingress.kubernetes.io/target-node-labels"] == (
        f"kubernetes.io/os={system}"
    )
    assert not any("node-labels" in key for key in ingress_annotations("ip"))


@pytest.mark.parametrize("kind", ["NodePort", "LoadBalancer"])
def test_instance_targets_take_services_with_node_ports(kind: str):
    assert check_targets("instance", service_type=kind) == []


@pytest.mark.parametrize(
    ("given", "code", "path", "remedy"),
    [
        ({"target_type": "pod"}, "WK-ADD-060", "target_type", 'write "ip"'),
        ({"target_type": "instances"}, "WK-ADD-060", "target_type", 'write "instance"'),
        ({"target_type": "instance", "service_type": "ClusterIP"}, "WK-ADD-061", "service_type",
         'set target_type to "ip", or service_type to "NodePort"'),
        ({"target_type": "ip", "windows_ipam": False}, "WK-ADD-062", "target_type", "turn on Windows IPAM"),
        ({"target_type": "ip", "scheme": "public"}, "WK-ADD-063", "scheme", "write one of these"),
    ],
)  # fmt: skip
def test_ways_that_do_not_reach_windows_pods(given, code: str, path: str, remedy: str):
    (mistake,) = check_targets(**given)
    assert (mistake.rule.code, mistake.path, mistake.remedy) == (code, (path,), remedy)
    with pytest.raises(WinkubeError, match=code):
        ingress_annotations(**given)
    if "service_type" not in given:
        with pytest.raises(WinkubeError, match=code):
            service_annotations(**given)
