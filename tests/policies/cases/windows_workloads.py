"""Cases of the rules about pods on Windows."""

import json
from typing import Any

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import (
    CONFIG_MAP,
    DEPLOYMENT,
    EKS_POD_IDENTITY,
    FARGATE_PROFILE,
    NETWORK_POLICY,
    POD,
    PVC,
    RUNTIME_CLASS,
    SECURITY_GROUP_POLICY,
    SERVICE,
    STATEFUL_SET,
    STORAGE_CLASS,
)
from winkube.tables.windows import BUILD_LABEL

from .base import Case, container, linux, one, planned, pod, windows, windows_case, windows_group

OS = "kubernetes.io/os"
CORE = "mcr.microsoft.com/windows/servercore"
SELECTED = {"nodeSelector": {OS: "windows"}}


def security(**fields: Any) -> Any:
    return windows(securityContext=fields)


def pod_security(**fields: Any) -> Any:
    return windows({"securityContext": fields})


def volumes(**source: Any) -> Any:
    return windows({"volumes": [{"name": "v", **source}]})


def mount(path: Any = "C:\\data", **fields: Any) -> Any:
    return windows(volumeMounts=[{"name": "v", "mountPath": path, **fields}])


def build(number: str, **fields: Any) -> Any:
    return windows({"nodeSelector": {OS: "windows", BUILD_LABEL: f"10.0.{number}"}}, **fields)


def host_process(**fields: Any) -> Any:
    options = {"windowsOptions": {"hostProcess": True, "runAsUserName": "NT AUTHORITY\\SYSTEM"}}
    return windows({"securityContext": options, "hostNetwork": True, **fields}, {"namespace": "kube-system"})


def labelled(props: Any, **labels: str) -> Any:
    return {**props, "metadata": {**props["metadata"], "labels": labels}}


def service(**spec: Any) -> Any:
    return planned(SERVICE, {"metadata": {"name": "s"}, "spec": {"selector": {"app": "shop"}, **spec}})


def selecting(kind: str, labels: Any) -> Any:
    return planned(kind, {"metadata": {}, "spec": {"podSelector": {"matchLabels": labels}}})


def claim(storage: Any) -> Any:
    return planned(PVC, {"metadata": {"name": "data"}, "spec": {"storageClassName": storage}})


def storage_class(name: str = "ebs", provisioner: str = "ebs.csi.aws.com", **parameters: Any) -> Any:
    return planned(
        STORAGE_CLASS, {"metadata": {"name": name}, "provisioner": provisioner, "parameters": parameters}, name
    )


def flannel(text: Any) -> Any:
    conf = text if text is UNKNOWN or isinstance(text, str) else json.dumps(text)
    return planned(CONFIG_MAP, {"metadata": {"name": "kube-flannel-cfg"}, "data": {"net-conf.json": conf}})


def runtime_class(name: str, build_number: Any) -> Any:
    selector = {BUILD_LABEL: build_number}
    return planned(
        RUNTIME_CLASS, {"metadata": {"name": name}, "handler": "h", "scheduling": {"nodeSelector": selector}}
    )


SHOP = planned(POD, labelled(windows(), app="shop"))
LINUX_SHOP = planned(POD, labelled(linux(), app="shop"))
WITH_CLAIM = planned(POD, volumes(persistentVolumeClaim={"claimName": "data"}))
NTFS = {"csi.storage.k8s.io/fstype": "ntfs"}
BOTH = [windows_group("a"), windows_group("b", "WINDOWS_CORE_2025_x86_64")]
VXLAN = {"Network": "10.244.0.0/16", "Backend": {"Type": "vxlan", "VNI": 4096, "Port": 4789}}
IDENTITY = {"namespace": "shop", "serviceAccount": "app", "clusterName": "c", "roleArn": "r"}


def refused(field: str, value: Any, *, in_pod: bool = False) -> Case:
    """A field that is not for Windows; with ``os.name`` the API server refuses it, which is another rule's."""
    where = pod_security if in_pod else security
    says = f"securityContext.{field} is"
    named = where(**{field: value})
    named["spec"]["os"] = {"name": "windows"}
    return windows_case([windows(), named], [where(**{field: value})], [where(**{field: UNKNOWN})], says)


CASES = {
    "windows-fields-refused": windows_case(
        [windows({"os": {"name": "windows"}}), security(privileged=True)],
        [
            windows({"os": {"name": "windows"}}, securityContext={"privileged": False}),
            windows({"os": {"name": "windows"}, "securityContext": {"runAsUser": 1000}}),
            windows({"os": {"name": "windows"}, "hostPID": True}),
        ],
        [windows({"os": {"name": "windows"}, "securityContext": UNKNOWN})],
        "the API server refuses it",
    ),
    "windows-no-privileged": refused("privileged", True),
    "windows-no-linux-security": refused("capabilities", {"drop": ["ALL"]}),
    "windows-no-numeric-users": refused("fsGroup", 1000, in_pod=True),
    "windows-no-sysctls": refused("sysctls", [{"name": "a", "value": "b"}], in_pod=True),
    "windows-no-shared-processes": windows_case(
        [windows({"shareProcessNamespace": False})],
        [windows({"shareProcessNamespace": True})],
        [windows({"shareProcessNamespace": UNKNOWN})],
        "shareProcessNamespace is true",
    ),
    "windows-no-host-namespaces": windows_case(
        [windows({"hostPID": False})],
        [windows({"hostPID": True}), windows({"hostIPC": True})],
        [windows({"hostPID": UNKNOWN})],
        "is true: Windows has no such namespaces",
    ),
    "windows-no-host-users": windows_case(
        [windows()],
        [windows({"hostUsers": False})],
        [windows({"hostUsers": UNKNOWN})],
        "hostUsers is set",
    ),
    "windows-no-escalation-field": refused("allowPrivilegeEscalation", False),
    "windows-no-read-only-root": refused("readOnlyRootFilesystem", True),
    "windows-no-proc-mount": refused("procMount", "Unmasked"),
    "windows-host-network": windows_case(
        [windows(), host_process()],
        [windows({"hostNetwork": True})],
        [windows({"hostNetwork": UNKNOWN})],
        "the pod is no HostProcess pod",
    ),
    "windows-host-process": windows_case(
        [windows(), host_process()],
        [
            host_process(hostNetwork=False),
            security(windowsOptions={"runAsUserName": "NT AUTHORITY\\SYSTEM"}),
            windows(
                {
                    "hostNetwork": True,
                    "containers": [container(securityContext={"windowsOptions": {"hostProcess": True}}), container()],
                }
            ),
        ],
        [windows({"securityContext": {"windowsOptions": UNKNOWN}})],
        "HostProcess",
    ),
    "windows-few-host-processes": windows_case(
        [windows(), host_process()],
        [{**host_process(), "metadata": {"namespace": "shop"}}],
        [{**host_process(), "metadata": {"namespace": UNKNOWN}}],
        "outside of the system's namespaces",
    ),
    "windows-container-user": windows_case(
        [windows(), security(windowsOptions={"runAsUserName": "ContainerUser"})],
        [security(windowsOptions={"runAsUserName": "ContainerAdministrator"})],
        [security(windowsOptions={"runAsUserName": UNKNOWN})],
        "is ContainerAdministrator",
    ),
    "windows-no-huge-pages": windows_case(
        [windows()],
        [windows(resources={"limits": {"memory": "1Gi", "hugepages-2Mi": "80Mi"}})],
        [windows(resources={"limits": UNKNOWN})],
        "huge pages",
    ),
    "windows-memory-limits": windows_case(
        [windows(), host_process()],
        [windows(resources={}), windows(resources={"requests": {"memory": "1Gi"}})],
        [windows(resources=UNKNOWN)],
        "has no limit of memory",
    ),
    "windows-no-block-devices": windows_case(
        [windows(volumeDevices=[])],
        [windows(volumeDevices=[{"name": "v", "devicePath": "/dev/xvdb"}])],
        [windows(volumeDevices=UNKNOWN)],
        "takes block devices",
    ),
    "windows-no-memory-volumes": windows_case(
        [volumes(emptyDir={})],
        [volumes(emptyDir={"medium": "Memory"})],
        [volumes(emptyDir={"medium": UNKNOWN})],
        "has no volumes in memory",
    ),
    "windows-no-nfs": windows_case(
        [volumes(csi={"driver": "ebs.csi.aws.com"}), volumes(csi={"driver": "smb.csi.k8s.io"})],
        [volumes(nfs={"server": "a", "path": "/"}), volumes(csi={"driver": "efs.csi.aws.com"})],
        [volumes(csi={"driver": UNKNOWN})],
        "cannot mount",
    ),
    "windows-no-mount-propagation": windows_case(
        [mount()],
        [mount(mountPropagation="Bidirectional")],
        [mount(mountPropagation=UNKNOWN)],
        "mountPropagation is set",
    ),
    "windows-whole-volumes": windows_case(
        [mount()],
        [mount(subPath="a")],
        [mount(subPath=UNKNOWN)],
        "mounts a part of a volume",
    ),
    "windows-mount-paths": windows_case(
        [mount(), mount("C:/data"), mount("/data"), mount("D:\\x")],
        [mount("data"), mount("C:\\"), mount("/")],
        [mount(UNKNOWN)],
        "mountPath",
    ),
    "windows-no-file-modes": windows_case(
        [volumes(secret={"secretName": "a"}), volumes(emptyDir={})],
        [
            volumes(secret={"secretName": "a", "defaultMode": 256}),
            volumes(configMap={"name": "a", "items": [{"key": "a", "path": "a", "mode": 256}]}),
        ],
        [volumes(secret={"secretName": "a", "defaultMode": UNKNOWN})],
        "have no effect on Windows",
    ),
    "windows-dns-policy": windows_case(
        [windows({"dnsPolicy": "ClusterFirst"})],
        [windows({"dnsPolicy": "ClusterFirstWithHostNet"}), host_process(dnsPolicy="ClusterFirstWithHostNet")],
        [windows({"dnsPolicy": UNKNOWN})],
        "Windows does not have",
    ),
    "windows-no-hyper-v": windows_case(
        [windows()],
        [windows(metadata={"annotations": {"experimental.windows.kubernetes.io/isolation-type": "hyperv"}})],
        [windows(metadata={"annotations": UNKNOWN})],
        "Hyper-V isolation",
    ),
    "windows-one-system": windows_case(
        [windows(), windows(image=f"{CORE}:ltsc2022")],
        [windows(image="alpine:3.20"), windows(image="nginx:1.27-alpine"), windows(image="ubuntu")],
        [windows(image=UNKNOWN)],
        "in a pod for Windows",
    ),
    "windows-pod-selects-nodes": windows_case(
        [windows(), pod({"runtimeClassName": "windows-2022", "containers": [container()]})],
        [
            pod({"os": {"name": "windows"}, "containers": [container()]}),
            pod({"containers": [container(image=f"{CORE}:ltsc2022")]}),
            pod(
                {
                    "containers": [container()],
                    "affinity": {
                        "nodeAffinity": {
                            "requiredDuringSchedulingIgnoredDuringExecution": {
                                "nodeSelectorTerms": [
                                    {"matchExpressions": [{"key": OS, "operator": "In", "values": ["windows"]}]}
                                ]
                            }
                        }
                    },
                }
            ),
        ],
        [
            pod({"os": {"name": "windows"}, "nodeSelector": {OS: UNKNOWN}, "containers": []}),
            pod({"containers": [container()], "nodeSelector": UNKNOWN}),
        ],
        "its node selector does not say",
    ),
    "windows-image-fits-build": windows_case(
        [build("20348", image=f"{CORE}:ltsc2022"), windows(image=f"{CORE}:ltsc2022"), build("20348")],
        [
            build("20348", image=f"{CORE}:ltsc2019"),
            windows(image=f"{CORE}:1909"),
            windows(
                {"runtimeClassName": "windows-2025"}, image="registry.example.com/app:1.2-windowsservercore-ltsc2022"
            ),
            windows({"containers": [container(image=f"{CORE}:ltsc2019"), container(image=f"{CORE}:ltsc2022")]}),
        ],
        [windows(image=UNKNOWN)],
        "",
    ),
    "windows-image-has-nodes": Case(
        [
            [windows_group(), planned(POD, windows(image=f"{CORE}:ltsc2022"))],
            [planned(POD, windows(image=f"{CORE}:ltsc2019"))],
        ],
        [[windows_group(), planned(POD, windows(image=f"{CORE}:ltsc2019"))]],
        [[windows_group(), planned(POD, windows(image=UNKNOWN))]],
        "built for Windows Server 2019, the nodes run 2022",
    ),
    "windows-build-selected": Case(
        [
            [*BOTH, planned(POD, build("20348"))],
            [BOTH[0], planned(POD, windows())],
            [*BOTH, planned(POD, windows({"runtimeClassName": "windows-2022"}))],
            [*BOTH, planned(POD, windows({"runtimeClassName": "own"})), runtime_class("own", "10.0.20348")],
        ],
        [[*BOTH, planned(POD, windows())]],
        [
            [*BOTH, planned(POD, windows({"runtimeClassName": UNKNOWN}))],
            [*BOTH, planned(POD, windows({"nodeSelector": {OS: "windows", BUILD_LABEL: UNKNOWN}}))],
        ],
        "nodes of Windows Server 2022 and 2025, and none is chosen",
    ),
    "windows-runtime-class-exists": Case(
        [[runtime_class("windows-2022", "10.0.20348")], [planned(RUNTIME_CLASS, {"metadata": {"name": "gvisor"}})]],
        [[runtime_class("windows-2022", "10.0.17763")], [runtime_class("own", "10.0.19041")]],
        [[runtime_class("windows-2022", UNKNOWN)]],
        "the ",
    ),
    "windows-service-size": one(
        DEPLOYMENT,
        [
            {"spec": {"replicas": 3, "template": {"spec": SELECTED}}},
            {"spec": {"replicas": 2000, "template": {"spec": {}}}},
        ],
        [{"spec": {"replicas": 2000, "template": {"spec": SELECTED}}}],
        [{"spec": {"replicas": UNKNOWN, "template": {"spec": SELECTED}}}],
        "2000 pods are more than the 1024",
    ),
    "windows-service-affinity": Case(
        [[SHOP, service()], [LINUX_SHOP, service(sessionAffinityConfig={"clientIP": {"timeoutSeconds": 10}})]],
        [[SHOP, service(sessionAffinityConfig={"clientIP": {"timeoutSeconds": 10}})]],
        [[SHOP, service(sessionAffinityConfig=UNKNOWN)]],
        "timeoutSeconds",
    ),
    "windows-service-ipv4": Case(
        [[SHOP, service(ipFamilies=["IPv4"])], [LINUX_SHOP, service(ipFamilies=["IPv6"])]],
        [[SHOP, service(ipFamilies=["IPv6"])], [SHOP, service(ipFamilyPolicy="RequireDualStack")]],
        [[SHOP, service(ipFamilies=UNKNOWN)]],
        "no IPv6 addresses",
    ),
    "windows-no-pod-identity": Case(
        [
            [planned(EKS_POD_IDENTITY, IDENTITY), planned(POD, linux({"serviceAccountName": "app"}))],
            [
                planned(EKS_POD_IDENTITY, {**IDENTITY, "namespace": "other"}),
                planned(POD, windows({"serviceAccountName": "app"})),
            ],
        ],
        [[planned(EKS_POD_IDENTITY, IDENTITY), planned(POD, windows({"serviceAccountName": "app"}))]],
        [[planned(EKS_POD_IDENTITY, IDENTITY), planned(POD, windows({"serviceAccountName": UNKNOWN}))]],
        "Pod Identity does not reach",
    ),
    "windows-no-pod-security-groups": Case(
        [
            [selecting(SECURITY_GROUP_POLICY, {"app": "shop"}), LINUX_SHOP],
            [selecting(SECURITY_GROUP_POLICY, {"app": "x"}), SHOP],
        ],
        [[selecting(SECURITY_GROUP_POLICY, {"app": "shop"}), SHOP]],
        [[selecting(SECURITY_GROUP_POLICY, UNKNOWN), SHOP]],
        "no effect",
    ),
    "windows-network-policy": Case(
        [
            [selecting(NETWORK_POLICY, {"app": "shop"}), LINUX_SHOP],
            [selecting(NETWORK_POLICY, {"app": "shop"}), SHOP, planned("kubernetes:helm.sh/v3:Release", {}, "calico")],
        ],
        [[selecting(NETWORK_POLICY, {"app": "shop"}), SHOP]],
        [[selecting(NETWORK_POLICY, UNKNOWN), SHOP]],
        "nothing enforces the policy there",
    ),
    "fargate-takes-no-windows": Case(
        [
            [planned(FARGATE_PROFILE, {"selectors": [{"namespace": "system"}]}), SHOP],
            [planned(FARGATE_PROFILE, {"selectors": [{"namespace": "shop", "labels": {"app": "x"}}]}), SHOP],
            [planned(FARGATE_PROFILE, {"selectors": [{"namespace": "shop"}]}), LINUX_SHOP],
        ],
        [[planned(FARGATE_PROFILE, {"selectors": [{"namespace": "sh*"}]}), SHOP]],
        [[planned(FARGATE_PROFILE, {"selectors": [{"namespace": UNKNOWN}]}), SHOP]],
        "takes the Windows pods",
    ),
    "windows-volumes-ntfs": Case(
        [
            [WITH_CLAIM, claim("ebs"), storage_class(**NTFS)],
            [WITH_CLAIM, claim("elsewhere")],
            [WITH_CLAIM],
            [
                planned(
                    STATEFUL_SET,
                    {
                        "spec": {
                            "template": {"spec": SELECTED},
                            "volumeClaimTemplates": [{"spec": {"storageClassName": "smb"}}],
                        }
                    },
                ),
                storage_class("smb", "smb.csi.k8s.io"),
            ],
        ],
        [
            [WITH_CLAIM, claim("ebs"), storage_class()],
            [WITH_CLAIM, claim("efs"), storage_class("efs", "efs.csi.aws.com")],
            [
                planned(
                    STATEFUL_SET,
                    {
                        "spec": {
                            "template": {"spec": SELECTED},
                            "volumeClaimTemplates": [{"spec": {"storageClassName": "ebs"}}],
                        }
                    },
                ),
                storage_class(**{"csi.storage.k8s.io/fstype": "xfs"}),
            ],
        ],
        [[WITH_CLAIM, claim(UNKNOWN), storage_class()], [WITH_CLAIM, claim("ebs"), storage_class(fsType=UNKNOWN)]],
        "the pods run on Windows, and their StorageClass",
    ),
    "ntfs-not-expanded": one(
        STORAGE_CLASS,
        [{"parameters": NTFS}, {"parameters": {}, "allowVolumeExpansion": True}],
        [{"parameters": NTFS, "allowVolumeExpansion": True}],
        [{"parameters": NTFS, "allowVolumeExpansion": UNKNOWN}],
        "allowVolumeExpansion is true",
    ),
    "flannel-fits-windows": Case(
        [
            [SHOP, flannel(VXLAN)],
            [flannel({"Backend": {"Type": "host-gw"}})],
            [SHOP, planned(CONFIG_MAP, {"metadata": {"name": "a"}, "data": {"a": "b"}})],
        ],
        [
            [SHOP, flannel({"Backend": {"Type": "vxlan"}})],
            [SHOP, flannel({"Backend": {"Type": "host-gw"}})],
            [windows_group(), flannel("{")],
        ],
        [[SHOP, flannel(UNKNOWN)]],
        "",
    ),
    "windows-no-legacy-controller": one(
        DEPLOYMENT,
        [{"metadata": {"name": "vpc-resource-controller", "namespace": "shop"}}, {"metadata": {"name": "app"}}],
        [{"metadata": {"name": "vpc-resource-controller", "namespace": "kube-system"}}],
        [{"metadata": {"name": UNKNOWN, "namespace": "kube-system"}}],
        "leaves Windows addresses alone",
    ),
    "pod-network-maintained": one(
        POD,
        [linux()],
        [linux(image="docker.io/weaveworks/weave-kube:2.8.1")],
        [linux(image=UNKNOWN)],
        "Weave Net",
    ),
}
