"""What the program makes of the settings of a self-managed cluster."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from winkube.preview.model import Plan, Resource, unwrap_secrets

from stacks import deploy

from ..plans.stacks import ROOT, STACKS, evaluated, name_of
from .kubeadm_stack import SMALL


def is_self_managed(folder: Path, stack: str) -> bool:
    """Whether a stack says that it makes a control plane; told from its text, which costs no evaluation."""
    files = (folder / "__main__.py", folder / f"Pulumi.{stack}.yaml")
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    return "LinuxControlPlane" in text or "flavour: kubeadm" in text


SELF_MANAGED = [case for case in STACKS if is_self_managed(*case)]


def objects(plan: Plan, kind: str) -> dict[str, Resource]:
    """Objects in the cluster of a kind, by their name."""
    found = [it for it in plan.resources if it.type.startswith("kubernetes:") and it.type.endswith(f":{kind}")]
    return {unwrap_secrets(it.inputs["metadata"])["name"]: it for it in found}


def test_pods_have_the_range_that_kubeadm_is_told(record: Any, stack_of: Any) -> None:
    """flannel, without a word of it in the stack, on Linux and on Windows; one range everywhere."""
    changes = {"winkube:cluster.podCidr": "10.200.0.0/16", "winkube:cluster.serviceCidr": "10.201.0.0/16"}
    plan = record(deploy, config=stack_of(changes, SMALL), preview=False)
    networks = {
        json.loads(it.inputs["data"]["net-conf.json"])["Network"]
        for it in objects(plan, "ConfigMap").values() if "net-conf.json" in it.inputs["data"]
    }  # fmt: skip
    documents = [it.inputs["content"] for it in plan.resources if "/nodes/control-plane/" in str(it.inputs.get("key"))]
    told = {
        it["networking"]["podSubnet"]
        for text in documents for it in yaml.safe_load_all(json.loads(unwrap_secrets(text))["kubeadm"]["init"])
        if it["kind"] == "ClusterConfiguration"
    }  # fmt: skip
    assert networks == told == {"10.200.0.0/16"}


def test_a_cluster_has_load_balancers_and_disks() -> None:
    """The cloud controller manager always, the driver of disks where it is chosen."""
    for stack in ("kubeadm-dev", "kubeadm-prod"):
        assert "cloud-controller-manager" in objects(evaluated(ROOT, stack), "DaemonSet")
    releases = {it.inputs["name"]: it for it in evaluated(ROOT, "kubeadm-prod").resources if "helm.sh" in it.type}
    driver = releases["aws-ebs-csi-driver"].inputs["values"]
    assert driver["node"] == {"enableWindows": True, "windowsHostProcess": True}
    assert "insecure" not in json.dumps(unwrap_secrets(releases["metrics-server"].inputs["values"]), default=str)


@pytest.mark.parametrize(("folder", "stack"), SELF_MANAGED, ids=[name_of(*case) for case in SELF_MANAGED])
def test_a_control_plane_has_workers_of_both_systems(folder: Path, stack: str) -> None:
    kinds = {resource.type.rpartition(":")[2] for resource in evaluated(folder, stack).resources}
    assert {"LinuxControlPlane", "LinuxInstanceGroup", "WindowsInstanceGroup"} <= kinds
