"""What is built: one recipe per set of programs, from a module of ours that pins every dependency.

Each folder under ``modules/`` holds a ``go.mod`` and a ``go.sum``: the versions there are what is built. The
dependencies of the small sets are pinned to those of Kubernetes 1.36, so that Go compiles a common package once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from winkube.tables.kubernetes import EKS_MINORS
from winkube.tables.releases import SELF_MANAGED_MINORS

MODULES = Path(__file__).parent / "modules"
MINORS = SELF_MANAGED_MINORS
"""The minors of which winkube makes clusters itself: a new one needs a folder ``modules/kubernetes-<minor>``."""
EKS_ONLY = tuple(minor for minor in EKS_MINORS if minor not in MINORS)
"""Minors that it runs on EKS alone: tested where `make binaries` has built their control planes."""
DEFAULT_MINOR = "1.36"


@dataclass(frozen=True, kw_only=True)
class Patch:
    """A change of one file of a module that is made in a copy before the build."""

    file: str
    """Relative to the module's folder."""
    old: str
    """Must be there exactly once."""
    new: str
    why: str


@dataclass(frozen=True)
class Recipe:
    """A set of programs that one ``go build`` makes."""

    set: str
    module: str
    """The folder under ``modules/``."""
    source: str
    """The Go module whose version names the set, and which a patch changes."""
    packages: Mapping[str, str]
    """Name of the program (without ``.exe``) to its package."""
    os: str = "linux"
    minor: str | None = None
    """None: one version serves every minor."""
    patches: tuple[Patch, ...] = ()
    stamp: bool = False
    """Whether the version of Kubernetes is linked in: kubeadm refuses to run without."""
    tags: str = ""
    """Build tags of a program with parts in C, linked statically: gcc, and libraries that the tags name, are needed."""
    default: bool = True
    """Whether ``python -m tests.binaries`` without names builds it."""
    needs: str = field(default="", compare=False)
    """What uses it, in a word or two, for the list."""

    @cached_property
    def version(self) -> str:
        """The pinned version, as in ``go.mod``."""
        for line in (MODULES / self.module / "go.mod").read_text().splitlines():
            words = line.removeprefix("require ").split()
            if words[:1] == [self.source]:
                return words[1]
        raise LookupError(f"{self.source} is not required by modules/{self.module}/go.mod")

    @property
    def command(self) -> str:
        """What a person types to have it built."""
        return "make machines" if self.needs.startswith("real machines") else "make binaries"

    @property
    def title(self) -> str:
        """For people and folders: set, version, and the system if it is not Linux."""
        return f"{self.set}-{self.version}" + ("" if self.os == "linux" else f"-{self.os}")

    def file(self, name: str) -> str:
        """What the program's file is called."""
        return f"{name}.exe" if self.os == "windows" else name


_REGISTRY_WITHOUT_SOCKET = Patch(
    file="pkg/kubelet/cm/devicemanager/plugin/v1beta1/server.go",
    old='net.Listen("unix", s.SocketPath())',
    new='net.Listen("tcp", "127.0.0.1:0")',
    why="Wine has no AF_UNIX: the device-plugin registry, which no test uses, listens on a loopback port instead",
)
_CLOUD_SDK = "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud"
_FLANNEL_BACKENDS = (
    Patch(
        file="main.go",
        old='\t_ "github.com/flannel-io/flannel/pkg/backend/udp"\n',
        new="",
        why="needs cgo",
    ),
    Patch(
        file="main.go",
        old='\t_ "github.com/flannel-io/flannel/pkg/backend/tencentvpc"\n',
        new="",
        why="the SDK of that cloud cannot be had from the module proxy",
    ),
    *(
        Patch(file="go.mod", old=f"\t{_CLOUD_SDK}/{part} v1.3.149\n", new="", why="the same SDK")
        for part in ("common", "vpc")
    ),
)


_COREDNS = "github.com/coredns/coredns"
_NO_CLOUDS = tuple(
    Patch(
        file="core/plugin/zplugin.go",
        old=f'\t_ "{_COREDNS}/plugin/{name}"\n',
        new="",
        why="a cluster's DNS needs none of these; their SDKs are most of the build",
    )
    for name in ("azure", "clouddns", "etcd", "nomad", "route53", "trace")
)


def _kubernetes(*names: str) -> dict[str, str]:
    return {name: f"k8s.io/kubernetes/cmd/{name}" for name in names}


def _cni(*paths: str) -> dict[str, str]:
    return {path.rsplit("/", 1)[-1]: f"github.com/containernetworking/plugins/plugins/{path}" for path in paths}


def _control_plane(minor: str) -> Recipe:
    programs = _kubernetes("kube-apiserver", "kube-controller-manager", "kube-scheduler")
    return Recipe("kubernetes", packages=programs, needs="test bed", **_of_kubernetes(minor))


def _of_kubernetes(minor: str) -> dict[str, Any]:
    return {"module": f"kubernetes-{minor}", "source": "k8s.io/kubernetes", "minor": minor, "stamp": True}


def _per_minor(minor: str) -> tuple[Recipe, ...]:
    common = _of_kubernetes(minor)
    return (
        _control_plane(minor),
        Recipe("kubeadm", packages=_kubernetes("kubeadm"), needs="kubeadm documents", **common),
        Recipe(
            "kubernetes-node",
            packages=_kubernetes("kubelet", "kube-proxy"),
            default=False,
            needs="real machines",
            **common,
        ),
        Recipe(
            "kubernetes-node",
            packages=_kubernetes("kubelet", "kube-proxy"),
            os="windows",
            patches=(_REGISTRY_WITHOUT_SOCKET,),
            # The others take ten minutes more: `make binaries` builds them, and what is there is tested.
            default=minor == DEFAULT_MINOR,
            needs="Windows nodes under Wine",
            **common,
        ),
    )


def _windows_too(recipe: Recipe, packages: Mapping[str, str] | None = None) -> tuple[Recipe, Recipe]:
    return recipe, replace(recipe, os="windows", packages=packages or recipe.packages)


_ETCD = "go.etcd.io/etcd"
_CONTAINERD = "github.com/containerd/containerd/v2"
_FLANNEL = "github.com/flannel-io/flannel"
_PLUGINS = "github.com/containernetworking/plugins"
RECIPES: tuple[Recipe, ...] = (
    *_per_minor(DEFAULT_MINOR)[:1],
    Recipe(
        "etcd",
        module="etcd",
        source=f"{_ETCD}/server/v3",
        packages={"etcd": f"{_ETCD}/server/v3", "etcdctl": f"{_ETCD}/etcdctl/v3", "etcdutl": f"{_ETCD}/etcdutl/v3"},
        needs="test bed, backups",
    ),
    Recipe("kwok", "kwok", "sigs.k8s.io/kwok", {"kwok": "sigs.k8s.io/kwok/cmd/kwok"}, needs="test bed"),
    *_windows_too(
        Recipe(
            "cni",
            module="cni",
            source=_PLUGINS,
            packages=_cni("ipam/host-local", "main/bridge", "main/loopback", "meta/portmap", "meta/bandwidth"),
            needs="network configurations",
        ),
        _cni("ipam/host-local", "main/windows/win-overlay"),
    ),
    *_windows_too(Recipe("cni-flannel", "cni-flannel", _PLUGINS, _cni("meta/flannel"), needs="the same")),
    *_windows_too(
        Recipe(
            "containerd",
            module="containerd",
            source=_CONTAINERD,
            packages={"containerd": f"{_CONTAINERD}/cmd/containerd"},
            needs="runtime configurations",
        )
    ),
    *_windows_too(
        Recipe(
            "flannel",
            module="flannel",
            source=_FLANNEL,
            packages={"flanneld": _FLANNEL},
            patches=_FLANNEL_BACKENDS,
            needs="network configurations",
        )
    ),
    Recipe(
        "stand-in-runtime",
        module="stand-in-runtime",
        source="k8s.io/cri-api",
        packages={"stand-in-runtime": "winkube.test/binaries/stand-in-runtime"},
        needs="Windows nodes under Wine",
    ),
    Recipe(
        "actionlint",
        module="actionlint",
        source="github.com/rhysd/actionlint",
        packages={"actionlint": "github.com/rhysd/actionlint/cmd/actionlint"},
        needs="workflows",
    ),
    Recipe(
        "containerd-tools",
        module="containerd",
        source=_CONTAINERD,
        packages={name: f"{_CONTAINERD}/cmd/{name}" for name in ("containerd-shim-runc-v2", "ctr")},
        default=False,
        needs="real machines",
    ),
    Recipe(
        "cni-more",
        module="cni-more",
        source=_PLUGINS,
        packages=_cni("meta/firewall", "meta/tuning"),
        default=False,
        needs="real machines",
    ),
    Recipe(
        "runc",
        "runc",
        "github.com/opencontainers/runc",
        {"runc": "github.com/opencontainers/runc"},
        tags="seccomp,netgo,osusergo",
        default=False,
        needs="real machines (with gcc and libseccomp-dev)",
    ),
    Recipe(
        "crictl",
        "crictl",
        "sigs.k8s.io/cri-tools",
        {"crictl": "sigs.k8s.io/cri-tools/cmd/crictl"},
        default=False,
        needs="real machines",
    ),
    Recipe(
        "coredns", "coredns", _COREDNS, {"coredns": _COREDNS}, patches=_NO_CLOUDS, default=False, needs="real machines"
    ),
    Recipe(
        "cloud-controller-manager",
        "cloud-provider-aws",
        "k8s.io/cloud-provider-aws",
        {"aws-cloud-controller-manager": "k8s.io/cloud-provider-aws/cmd/aws-cloud-controller-manager"},
        default=False,
        needs="real machines",
    ),
    # The same plug-in with the library that speaks version 1.0.0 of CNI, as later releases do.
    Recipe(
        "cni-flannel-1",
        "cni-flannel-1",
        _PLUGINS,
        {"flannel-cni": f"{_PLUGINS}/plugins/meta/flannel"},
        default=False,
        needs="real machines",
    ),
    Recipe(
        "kubectl",
        f"kubectl-{DEFAULT_MINOR}",
        "k8s.io/kubernetes",
        _kubernetes("kubectl"),
        minor=DEFAULT_MINOR,
        stamp=True,
        default=False,
        needs="real machines",
    ),
    Recipe(
        "flannel-tools",
        "flannel",
        _FLANNEL,
        {"install-conf": f"{_FLANNEL}/cmd/install_conf"},
        default=False,
        patches=_FLANNEL_BACKENDS,
        needs="real machines",
    ),
    *_per_minor(DEFAULT_MINOR)[1:],
    *(recipe for minor in reversed(MINORS) if minor != DEFAULT_MINOR for recipe in _per_minor(minor)),
    *(_control_plane(minor) for minor in EKS_ONLY),
)
"""In the order in which they are built: what most tests need first."""


def recipe_for(program: str, minor: str, os: str) -> Recipe:
    """The recipe whose programs include this one."""
    found = [r for r in RECIPES if program in r.packages and r.os == os and r.minor in (None, minor)]
    if not found:
        known = sorted({f"{name} ({r.os}, {r.minor or 'any minor'})" for r in RECIPES for name in r.packages})
        raise LookupError(f"no recipe builds {program} for {os} and {minor}; there are: {', '.join(known)}")
    return found[0]
