"""Pods, workloads and Services with what the API server is to say of them under our admission policies.

All in mode ``deny``, with the default that pods are for Linux, in a namespace whose Pod Security level is not said.
"""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

BUILD = "node.kubernetes.io/windows-build"
OS = "kubernetes.io/os"
LIMIT = {"limits": {"memory": "512Mi"}}
OURS = {"key": "os", "operator": "Equal", "value": "windows", "effect": "NoSchedule"}
PLACED_2022 = {OS: "windows", BUILD: "10.0.20348", "kubernetes.io/arch": "amd64"}
PLACED_2025 = {OS: "windows", BUILD: "10.0.26100", "kubernetes.io/arch": "amd64"}


@dataclass(frozen=True, kw_only=True)
class Case:
    """One object, and the answer."""

    name: str
    manifest: dict[str, Any]
    refused: tuple[str, ...] = ()
    """Texts of the refusal; none means that it is accepted."""
    becomes: dict[str, Any] = field(default_factory=dict[str, Any])
    """Fields of the pod's spec after admission; None stands for a field that is not there."""
    namespace: str = "matrix"


def pod(*, image: str = "web:v1", resources: Any = LIMIT, container: dict[str, Any] | None = None, **spec: Any) -> Any:
    """A pod with one container."""
    one = {"name": "web", "image": image, "resources": deepcopy(resources), **(container or {})}
    return {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [one], **spec}}


def windows(**more: Any) -> Any:
    """A good Windows pod of Server 2022, with something else."""
    given: dict[str, Any] = {"runtimeClassName": "windows-2022", **more}
    return pod(**given)


def workload(kind: str, inner: Any) -> Any:
    """The pod as the template of a workload."""
    marks = {"app": "matrix"}
    template: dict[str, Any] = {"metadata": {"labels": marks}, "spec": inner["spec"]}
    if kind in ("Job", "CronJob"):
        template["spec"].setdefault("restartPolicy", "Never")
    if kind == "CronJob":
        spec: Any = {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": template}}}
    elif kind == "Job":
        spec = {"template": template}
    else:
        spec = {"selector": {"matchLabels": marks}, "template": template}
    if kind == "StatefulSet":
        spec["serviceName"] = "matrix"
    return {"apiVersion": "batch/v1" if kind in ("Job", "CronJob") else "apps/v1", "kind": kind, "spec": spec}


def service(**spec: Any) -> Any:
    """A Service of Windows pods, which says so in a label."""
    whole = {"selector": {"app": "web"}, "ports": [{"port": 80}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"labels": {OS: "windows"}}, "spec": whole}


HOST_PROCESS = {"windowsOptions": {"hostProcess": True, "runAsUserName": r"NT AUTHORITY\SYSTEM"}}
ANY = [{"operator": "Exists"}]
LINUX_AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": OS, "operator": "In", "values": ["linux"]}]}]
        }
    }
}
CLAIM = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
NFS = {"server": "s", "path": "/p"}
BASE = "mcr.microsoft.com/windows/servercore"

PLACED = (
    Case(name="plain", manifest=pod(), becomes={"nodeSelector": {OS: "linux"}, "runtimeClassName": None}),
    Case(name="plain with another selector", manifest=pod(nodeSelector={"disk": "fast"}),
         becomes={"nodeSelector": {"disk": "fast", OS: "linux"}}),
    Case(name="plain with an affinity to Linux", manifest=pod(affinity=LINUX_AFFINITY), becomes={"nodeSelector": None}),
    Case(name="plain without limits", manifest=pod(resources={}), becomes={"nodeSelector": {OS: "linux"}}),
    Case(name="privileged Linux pod", manifest=pod(container={"securityContext": {"privileged": True}}),
         becomes={"nodeSelector": {OS: "linux"}}),
    Case(name="Linux by os", manifest=pod(os={"name": "linux"}), becomes={"nodeSelector": {OS: "linux"}}),
    Case(name="Linux by os with an affinity to Linux", manifest=pod(os={"name": "linux"}, affinity=LINUX_AFFINITY),
         becomes={"nodeSelector": None}),
    Case(name="Linux by os on a named node", manifest=pod(os={"name": "linux"}, nodeName="n1"),
         becomes={"nodeSelector": None}),
    Case(name="Linux by selector", manifest=pod(nodeSelector={OS: "linux"}), becomes={"nodeSelector": {OS: "linux"}}),
    Case(name="Linux pod on a named node", manifest=pod(nodeName="n1"), becomes={"nodeSelector": None}),
    Case(name="os alone", manifest=pod(os={"name": "windows"}),
         becomes={"runtimeClassName": "windows-2022", "nodeSelector": PLACED_2022}),
    Case(name="os and a build", manifest=pod(os={"name": "windows"}, nodeSelector={BUILD: "10.0.26100"}),
         becomes={"runtimeClassName": "windows-2025", "nodeSelector": PLACED_2025}),
    Case(name="class alone", manifest=windows(), becomes={"os": {"name": "windows"}, "nodeSelector": PLACED_2022}),
    Case(name="the other class", manifest=pod(runtimeClassName="windows-2025"),
         becomes={"os": {"name": "windows"}, "nodeSelector": PLACED_2025}),
    Case(name="class and os", manifest=windows(os={"name": "windows"}), becomes={"nodeSelector": PLACED_2022}),
    Case(name="selector alone", manifest=pod(nodeSelector={OS: "windows"}),
         becomes={"runtimeClassName": "windows-2022", "nodeSelector": PLACED_2022}),
    Case(name="selector and build", manifest=pod(nodeSelector={OS: "windows", BUILD: "10.0.26100"}),
         becomes={"runtimeClassName": "windows-2025", "nodeSelector": PLACED_2025}),
    Case(name="selector of a build without a class", manifest=pod(nodeSelector={OS: "windows", BUILD: "10.0.17763"}),
         becomes={"runtimeClassName": None}),
    Case(name="class with own toleration", manifest=windows(tolerations=[OURS]), becomes={"nodeSelector": PLACED_2022}),
    Case(name="image of the build", manifest=windows(image=f"{BASE}:ltsc2022"), becomes={"os": {"name": "windows"}}),
    Case(name="image by digest", manifest=windows(image=f"{BASE}@sha256:{'0' * 64}"), becomes={}),
    Case(name="claimed volume", manifest=windows(volumes=[CLAIM]), becomes={}),
    Case(name="emptyDir on disk", manifest=windows(volumes=[{"name": "tmp", "emptyDir": {}}]), becomes={}),
    Case(name="HostProcess where it may run", namespace="matrix-host",
         manifest=windows(hostNetwork=True, securityContext=HOST_PROCESS), becomes={"os": {"name": "windows"}}),
    Case(name="anything in an exempt namespace", namespace="kube-system",
         manifest=pod(os={"name": "windows"}, resources={}), becomes={"runtimeClassName": None}),
)  # fmt: skip

REFUSED = (
    Case(name="no memory limit", manifest=windows(resources={}),
         refused=("no memory limit in web", "set resources.limits.memory", "WK-K8S-011")),
    Case(name="all that is wrong at once",
         manifest=windows(resources={}, image=f"{BASE}:ltsc2019", volumes=[{"name": "t", "nfs": NFS}]),
         refused=("no memory limit in web", "WK-K8S-011", "ltsc2019", "WK-K8S-012", "volumes t", "WK-K8S-016")),
    Case(name="no memory limit, by os", manifest=pod(os={"name": "windows"}, resources={"limits": {"cpu": "1"}}),
         refused=("WK-K8S-011",)),
    Case(name="no memory limit, by selector", manifest=pod(nodeSelector={OS: "windows"}, resources={}),
         refused=("WK-K8S-011",)),
    Case(name="no memory limit in an init container",
         manifest=windows(initContainers=[{"name": "prepare", "image": "x:v1"}]),
         refused=("no memory limit in prepare", "WK-K8S-011")),
    Case(name="image of an older build", manifest=windows(image=f"{BASE}:ltsc2019"),
         refused=(f"{BASE}:ltsc2019", "WK-K8S-012")),
    Case(name="image of a newer build", manifest=windows(image=f"{BASE}/iis:windowsservercore-ltsc2025"),
         refused=("windowsservercore-ltsc2025", "WK-K8S-012")),
    Case(name="image of a build by number", manifest=windows(image=f"{BASE}:10.0.26100.1742"),
         refused=("10.0.26100.1742", "WK-K8S-012")),
    Case(name="image of 2022 on 2025", manifest=pod(runtimeClassName="windows-2025", image=f"{BASE}:ltsc2022"),
         refused=("ltsc2022", "WK-K8S-012")),
    Case(name="image of another build with a digest", refused=("WK-K8S-012",),
         manifest=windows(image=f"{BASE}:ltsc2019@sha256:{'0' * 64}")),
    Case(name="base image latest", manifest=windows(image=f"{BASE}:latest"),
         refused=(f"{BASE}:latest names no build", "write a tag such as ltsc2022", "WK-K8S-037")),
    Case(name="base image without a tag", manifest=windows(image=BASE), refused=("names no build", "WK-K8S-037")),
    Case(name="host network", manifest=pod(nodeSelector={OS: "windows"}, hostNetwork=True),
         refused=("Windows has no hostNetwork", "HostProcess", "WK-K8S-010")),
    Case(name="host network by class", manifest=windows(hostNetwork=True),
         refused=("hostNetwork",)),
    Case(name="DNS policy of host networks", manifest=windows(dnsPolicy="ClusterFirstWithHostNet"),
         refused=("dnsPolicy ClusterFirstWithHostNet", "WK-K8S-010")),
    Case(name="privileged", refused=("web: privileged", "WK-K8S-010"),
         manifest=pod(nodeSelector={OS: "windows"}, container={"securityContext": {"privileged": True}})),
    Case(name="numeric user", refused=("securityContext.runAsUser", "WK-K8S-010"),
         manifest=pod(nodeSelector={OS: "windows"}, securityContext={"runAsUser": 1000})),
    Case(name="group of volumes", refused=("securityContext.fsGroup", "WK-K8S-010"),
         manifest=pod(nodeSelector={OS: "windows"}, securityContext={"fsGroup": 1000})),
    Case(name="process ids of the host", manifest=pod(nodeSelector={OS: "windows"}, hostPID=True),
         refused=("hostPID", "WK-K8S-010")),
    Case(name="two at once", refused=("hostPID, hostIPC", "WK-K8S-010"),
         manifest=pod(nodeSelector={OS: "windows"}, hostPID=True, hostIPC=True)),
    Case(name="capabilities", refused=("web: capabilities", "WK-K8S-010"),
         manifest=pod(nodeSelector={OS: "windows"},
                      container={"securityContext": {"capabilities": {"add": ["NET_ADMIN"]}}})),
    Case(name="Linux field with a class, said by the API server itself",
         manifest=windows(securityContext={"runAsUser": 1000}), refused=("runAsUser",)),
    Case(name="huge pages", refused=("web: huge pages", "WK-K8S-010"),
         manifest=windows(resources={"limits": {"memory": "1Gi", "hugepages-2Mi": "2Mi"}})),
    Case(name="mounts that propagate", refused=("web: mountPropagation", "WK-K8S-010"),
         manifest=windows(volumes=[{"name": "d", "emptyDir": {}}], container={"volumeMounts": [
             {"name": "d", "mountPath": "C:/d", "mountPropagation": "HostToContainer"}]})),
    Case(name="NFS", refused=("cannot mount the volumes share", "smb.csi.k8s.io", "WK-K8S-016"),
         manifest=windows(volumes=[{"name": "share", "nfs": NFS}])),
    Case(name="memory as a disk", refused=("tmp", "WK-K8S-016"),
         manifest=windows(volumes=[{"name": "tmp", "emptyDir": {"medium": "Memory"}}])),
    Case(name="EFS", refused=("files", "WK-K8S-016"),
         manifest=windows(volumes=[{"name": "files", "csi": {"driver": "efs.csi.aws.com"}}])),
    Case(name="volume from before CSI", refused=("old", "WK-K8S-016"),
         manifest=windows(volumes=[{"name": "old", "awsElasticBlockStore": {"volumeID": "vol-1"}}])),
    Case(name="HostProcess in an ordinary namespace", refused=("may not run in matrix", "WK-K8S-038"),
         manifest=windows(hostNetwork=True, securityContext=HOST_PROCESS)),
    Case(name="HostProcess that does not say Windows", refused=("WK-K8S-038",),
         manifest=pod(hostNetwork=True, securityContext=HOST_PROCESS, tolerations=ANY, nodeName="win-1")),
    Case(name="HostProcess in a container alone", refused=("WK-K8S-038",),
         manifest=pod(hostNetwork=True, nodeName="win-1", container={"securityContext": HOST_PROCESS})),
    Case(name="Linux that selects Windows", manifest=windows(os={"name": "linux"}),
         refused=("os.name is linux", "WK-K8S-013")),
    Case(name="selector against its class", manifest=windows(nodeSelector={BUILD: "10.0.26100"}),
         refused=("conflict", "runtimeClass.scheduling.nodeSelector")),
    Case(name="class that is not there", manifest=pod(runtimeClassName="windows-2019"), refused=("not found",)),
)  # fmt: skip

WORKLOADS = (
    *(Case(name=f"{kind} without a memory limit", manifest=workload(kind, windows(resources={})),
           refused=("no memory limit in web", "WK-K8S-011"))
      for kind in ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob")),
    Case(name="Deployment with an image of another build", refused=("1809", "WK-K8S-012"),
         manifest=workload("Deployment", windows(image=f"{BASE}:1809"))),
    Case(name="Deployment with HostProcess", refused=("may not run in matrix", "WK-K8S-038"),
         manifest=workload("Deployment", windows(hostNetwork=True, securityContext=HOST_PROCESS))),
    Case(name="CronJob with NFS", refused=("share", "WK-K8S-016"),
         manifest=workload("CronJob", windows(volumes=[{"name": "share", "nfs": NFS}]))),
    Case(name="Linux Deployment", manifest=workload("Deployment", pod(resources={})), becomes={"nodeSelector": None}),
    Case(name="good Deployment", manifest=workload("Deployment", windows()), becomes={}),
)  # fmt: skip

DAEMON_SETS = (
    Case(name="DaemonSet that says nothing", manifest=workload("DaemonSet", pod()),
         becomes={"nodeSelector": {OS: "linux"}, "tolerations": None}),
    Case(name="DaemonSet that tolerates everything", manifest=workload("DaemonSet", pod(tolerations=ANY)),
         becomes={"nodeSelector": {OS: "linux"}, "tolerations": ANY}),
    Case(name="DaemonSet for Linux by os that tolerates everything",
         manifest=workload("DaemonSet", pod(os={"name": "linux"}, tolerations=ANY)),
         becomes={"nodeSelector": {OS: "linux"}, "tolerations": ANY}),
    Case(name="DaemonSet with an affinity", manifest=workload("DaemonSet", pod(affinity=LINUX_AFFINITY)),
         becomes={"nodeSelector": None}),
    Case(name="DaemonSet by os", manifest=workload("DaemonSet", pod(os={"name": "windows"})),
         becomes={"nodeSelector": {OS: "windows"}, "tolerations": [OURS]}),
    Case(name="DaemonSet by os that tolerates everything",
         manifest=workload("DaemonSet", pod(os={"name": "windows"}, tolerations=ANY)),
         becomes={"nodeSelector": {OS: "windows"}, "tolerations": ANY}),
    Case(name="DaemonSet by class", manifest=workload("DaemonSet", windows()),
         becomes={"nodeSelector": {OS: "windows", BUILD: "10.0.20348"}, "tolerations": [OURS]}),
    Case(name="DaemonSet by class with another toleration",
         manifest=workload("DaemonSet", windows(tolerations=[{"key": "team", "operator": "Exists"}])),
         becomes={"tolerations": [{"key": "team", "operator": "Exists"}, OURS]}),
    Case(name="DaemonSet by selector",
         manifest=workload("DaemonSet", pod(nodeSelector={OS: "windows", "disk": "fast"})),
         becomes={"nodeSelector": {OS: "windows", "disk": "fast"}, "tolerations": [OURS]}),
    Case(name="complete DaemonSet",
         manifest=workload("DaemonSet", windows(nodeSelector={OS: "windows", BUILD: "10.0.20348"}, tolerations=[OURS])),
         becomes={"nodeSelector": {OS: "windows", BUILD: "10.0.20348"}, "tolerations": [OURS]}),
)  # fmt: skip

SERVICES = (
    Case(name="Service", manifest=service(), becomes={}),
    Case(name="sticky Service", manifest=service(sessionAffinity="ClientIP"), becomes={}),
    Case(name="sticky Service with a timeout", refused=("sessionAffinityConfig.clientIP.timeoutSeconds", "WK-K8S-039"),
         manifest=service(sessionAffinity="ClientIP", sessionAffinityConfig={"clientIP": {"timeoutSeconds": 60}})),
    Case(name="SCTP", manifest=service(ports=[{"port": 80, "protocol": "SCTP"}]),
         refused=("protocol SCTP", "WK-K8S-039")),
    Case(name="source ranges", refused=("loadBalancerSourceRanges", "WK-K8S-039"),
         manifest=service(type="LoadBalancer", loadBalancerSourceRanges=["10.0.0.0/8"])),
    Case(name="Service by selector", refused=("WK-K8S-039",),
         manifest={**service(selector={OS: "windows"}, ports=[{"port": 80, "protocol": "SCTP"}]), "metadata": {}}),
    Case(name="Service of Linux pods with a timeout",
         manifest={**service(sessionAffinity="ClientIP", sessionAffinityConfig={"clientIP": {"timeoutSeconds": 60}}),
                   "metadata": {}}),
)  # fmt: skip

CASES = (*PLACED, *REFUSED, *WORKLOADS, *DAEMON_SETS, *SERVICES)
