"""A smoke test that says whether Windows pods run and are reached: a web server on Windows, and a client on Linux.

- a namespace, and for each Windows release a Deployment of IIS with its Service;
- a Job on Linux that asks each Service, and through it the name service, the pod network and kube-proxy of both kinds
  of nodes; its last line is JSON, and it fails when one of them does not answer.

Needs :class:`WindowsRuntimeClasses` of the same releases. Images of Windows are large: the first start on a node takes
minutes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from ..core.mistakes import Mistakes, Rule
from ..kubernetes import manifests
from ..kubernetes.component import KubernetesComponent
from ..kubernetes.manifests import Manifest, check_image
from ..scheduling.runtime_class_manifests import RELEASES, check_releases, runtime_class_name
from ..tables.windows import BUILD_LABEL, WINDOWS_RELEASES

SAMPLES = Rule(
    "WK-K8S-047",
    "Sample workloads need a namespace of their own.",
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/",
)

SERVER_IMAGE = "mcr.microsoft.com/windows/servercore/iis"
CLIENT_IMAGE = "public.ecr.aws/docker/library/busybox:1.37.0"
SERVER_MEMORY = "800Mi"
DEADLINE_SECONDS = 1200
"""Pulling the image of a server takes minutes on a new node."""
_CLIENT = """failed=0
for url in "$@"; do
  tries=0
  until wget -q -T 5 -O /dev/null "$url"; do
    tries=$((tries + 1))
    if [ "$tries" -ge 110 ]; then echo "{\\"url\\":\\"$url\\",\\"reached\\":false}"; failed=1; break; fi
    sleep 10
  done
  if [ "$tries" -lt 110 ]; then echo "{\\"url\\":\\"$url\\",\\"reached\\":true}"; fi
done
exit "$failed"
"""


@dataclass(frozen=True, kw_only=True)
class SampleWorkloadsArgs:
    """A smoke test of a cluster with Windows nodes."""

    releases: Sequence[str] = ("2022",)
    """The Windows releases of the cluster's nodes."""
    namespace: str = "winkube-sample"
    """Namespace of the test; it is created and deleted with the test."""
    replicas: int = 1
    """Number of web servers per release."""
    client_image: str = CLIENT_IMAGE
    """Image of the client; it must contain ``sh`` and ``wget``."""


def server_name(release: str) -> str:
    """The name of a release's Deployment and Service.

    >>> server_name("2022")
    'web-windows-2022'
    """
    return f"web-windows-{release}"


def server(release: str, namespace: str, replicas: int) -> Manifest:
    """The Deployment of IIS on one Windows release."""
    row, name = WINDOWS_RELEASES[release], server_name(release)
    pod: dict[str, Any] = {
        "os": {"name": "windows"},
        "runtimeClassName": runtime_class_name(release),
        # Said once more than the RuntimeClass does: webhooks that look at the pod before it is admitted see it too.
        "nodeSelector": {manifests.OS_LABEL: "windows", BUILD_LABEL: row.build},
        "automountServiceAccountToken": False,
        "containers": [
            {
                "name": "web",
                "image": f"{SERVER_IMAGE}:windowsservercore-{row.image_tag}",
                "ports": [{"containerPort": 80}],
                "resources": {"requests": {"cpu": "200m", "memory": SERVER_MEMORY},
                              "limits": {"memory": SERVER_MEMORY}},
                "readinessProbe": {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 5},
                "securityContext": {"windowsOptions": {"runAsUserName": "ContainerAdministrator"}},
            }
        ],
    }  # fmt: skip
    marks = manifests.labels(name)
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": manifests.metadata(name, namespace),
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app.kubernetes.io/name": name}},
            "template": {"metadata": {"labels": marks}, "spec": pod},
        },
    }


def service(release: str, namespace: str) -> Manifest:
    """The Service of one release; its label says that its pods are Windows ones."""
    name = server_name(release)
    meta = manifests.metadata(name, namespace)
    meta["labels"] = {**meta["labels"], manifests.OS_LABEL: "windows"}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": meta,
        "spec": {"selector": {"app.kubernetes.io/name": name}, "ports": [{"port": 80, "targetPort": 80}]},
    }


def client(releases: Sequence[str], namespace: str, image: str) -> Manifest:
    """The Job on Linux that asks each Service by its name."""
    name = "web-client"
    urls = [f"http://{server_name(release)}.{namespace}" for release in releases]
    locked = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    pod: dict[str, Any] = {
        "restartPolicy": "Never",
        "nodeSelector": dict(manifests.LINUX_ONLY),
        "automountServiceAccountToken": False,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 65534, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [
            {
                "name": "client",
                "image": image,
                "command": ["sh", "-c", _CLIENT, "client", *urls],
                "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}},
                "securityContext": locked,
            }
        ],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": manifests.metadata(name, namespace),
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": DEADLINE_SECONDS,
            "template": {"metadata": {"labels": manifests.labels(name)}, "spec": pod},
        },
    }


def sample_manifests(releases: Sequence[str], namespace: str, replicas: int, image: str) -> dict[str, Manifest]:
    """Every object by part."""
    objects = {"namespace": manifests.namespace(namespace)}
    for release in releases:
        objects[f"server-{release}"] = server(release, namespace, replicas)
        objects[f"service-{release}"] = service(release, namespace)
    return {**objects, "client": client(releases, namespace, image)}


def check_sample_workloads(args: SampleWorkloadsArgs) -> Mistakes:
    """Everything that is wrong with the arguments (``WK-K8S-001``, ``-029``, ``-047``)."""
    found = check_releases(args.releases)
    if not manifests.NAMESPACE.fullmatch(args.namespace):
        found.add(SAMPLES, ("namespace",), "a namespace has at most 63 lower-case letters, digits and hyphens",
                  'write a name such as "winkube-sample"', args.namespace)  # fmt: skip
    if not args.releases:
        found.add(RELEASES, ("releases",), "no Windows release is listed", 'write ["2022"]')
    if args.namespace in ("default", "kube-system", "kube-public", "kube-node-lease"):
        found.add(SAMPLES, ("namespace",), "removing the samples removes the namespace too", 'write "winkube-sample"',
                  args.namespace)  # fmt: skip
    if args.replicas < 1:
        found.add(
            SAMPLES, ("replicas",), "each release needs at least one web server", "set replicas to 1", args.replicas
        )
    found.take(check_image(args.client_image, ("client_image",)))
    return found


class SampleWorkloads(KubernetesComponent):
    """A smoke test: the Job ``web-client`` succeeds when every Windows web server answers a Linux client.

    :raises WinkubeError: ``WK-K8S-001``, ``WK-K8S-029``, ``WK-K8S-047``.
    """

    job: str
    """Namespace and name of the test Job."""

    def __init__(self, name: str, args: SampleWorkloadsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, opts, check_sample_workloads(args))
        manifests = sample_manifests(args.releases, args.namespace, args.replicas, args.client_image)
        self.apply_manifests(name, manifests)
        self.job = f"{args.namespace}/web-client"
        self.register_outputs({"job": self.job})
