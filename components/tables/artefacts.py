"""What nodes download: every file with its URL, its digest and where it is installed. Pure.

State of 2026-11-21. The digests are in ``artefact_digests.json``; none is calculated here, each was published or pinned
by others and looked up:

- Linux kubelet, kubeadm, kubectl of 1.35 and 1.36: kubespray ``checksums.yml`` (46dbdd3, August 2026); those that kops
  also lists (``assetdata/k8s-1.35.yaml``, ``k8s-1.36.yaml``, 268927e) agree; of 1.37: kops ``k8s-1.37.yaml`` (9b02081).
- Windows kubelet, kube-proxy, kubectl, containerd, crictl, CNI plug-ins and flannel: RKE2 ``Dockerfile.windows``
  (branches ``release-1.35`` 624a919 and ``release-1.36`` d9ca309, with the older patches from their history).
- containerd, runc, CNI plug-ins, crictl, CRI-O, etcd 3.6: kubespray as above; kops agrees on the first three.
- etcd 3.7.1: four public projects pin the same digests. ecr-credential-provider: kops ``ecr.yaml``.

A file without a digest that could be looked up has none in the table, and the user has to name it (``WK-ART-001``): no
node ever installs what it cannot verify. ``etcdctl`` and ``etcdutl`` come from etcd's release and not from its image: a
restore has to work where no container runs.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path as FilePath
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from ..core.mistakes import Mistakes, Path, Rule, nearest, one_of
from .releases import SELF_MANAGED_RELEASES, SelfManagedRelease

VERIFY_PAGE = "https://kubernetes.io/docs/tasks/administer-cluster/verify-signed-artifacts/"
DIGEST_MISSING = Rule("WK-ART-001", "Every download of a node must be verified by a digest.", VERIFY_PAGE)
DIGEST_FORM = Rule(
    "WK-ART-002", "A digest is written as sha256:<64 hexadecimal digits> or sha512:<128 hexadecimal digits>."
)
DIGEST_UNKNOWN = Rule("WK-ART-003", "A digest must belong to a file that the nodes of this cluster download.")
MIRROR_FORM = Rule("WK-ART-004", "A mirror is an https, http or s3 URL to which paths can be appended.")
REGISTRY_FORM = Rule(
    "WK-ART-005",
    "A registry mirror maps the registry's host to the URL of its mirror.",
    "https://github.com/containerd/containerd/blob/main/docs/hosts.md",
)
NODE_KIND = Rule(
    "WK-ART-006",
    "Nodes run Linux or Windows on x86_64 or Linux on arm64, with containerd or, on Linux, CRI-O.",
    "https://kubernetes.io/docs/setup/production-environment/container-runtimes/",
)
DIGEST_CONFLICT = Rule("WK-ART-007", "Without a mirror, an upstream file must keep its known digest.", VERIFY_PAGE)

Os = Literal["linux", "windows"]
Architecture = Literal["x86_64", "arm64"]
Runtime = Literal["containerd", "cri-o"]
Role = Literal["control_plane", "worker"]
Kind = Literal["file", "tar.gz"]

OSES: tuple[Os, ...] = ("linux", "windows")
ARCHITECTURES: Mapping[str, str] = {"x86_64": "amd64", "arm64": "arm64"}
"""AWS' word for an architecture to the one in the names of files."""
RUNTIMES: tuple[Runtime, ...] = ("containerd", "cri-o")
MIRROR_SCHEMES = ("https", "http", "s3")

ETCD_TOOLS: Mapping[str, str] = {"3.6": "3.6.14", "3.7": "3.7.1"}
"""etcd's minor to the release of which etcdctl and etcdutl are taken: a patch of the same minor reads its files."""
ECR_CREDENTIAL_PROVIDER = "1.31.7"
FLANNELD = "0.28.9"
FLANNEL_CNI = "1.9.1-flannel3"
LINUX_BIN = "/usr/local/bin"
LINUX_CNI_BIN = "/opt/cni/bin"
LINUX_CREDENTIAL_PROVIDERS = "/opt/winkube/credential-providers"
CNI_PLUGINS = ("bridge", "host-local", "loopback", "portmap", "bandwidth", "firewall", "tuning")
WINDOWS_BIN = r"C:\k"
WINDOWS_CNI_BIN = r"C:\opt\cni\bin"
WINDOWS_CONTAINERD = r"C:\Program Files\containerd"
WINDOWS_CREDENTIAL_PROVIDERS = r"C:\k\credential-providers"
WINDOWS_CNI_PLUGINS = ("win-overlay.exe", "win-bridge.exe", "host-local.exe")

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class Install:
    """One file that comes out of an artefact."""

    member: str | None
    """Its path in the archive; None when the artefact is the file."""
    path: str
    mode: int = 0o755


@dataclass(frozen=True, slots=True)
class Artefact:
    """One file that nodes download."""

    name: str
    version: str
    os: Os
    architecture: Architecture
    url: str
    digest: str | None
    """``sha256:<hex>`` or ``sha512:<hex>``; None when the user has to give it."""
    kind: Kind
    install: tuple[Install, ...]
    digest_url: str = ""
    """Where upstream publishes the digest; empty where it publishes none."""

    @property
    def key(self) -> str:
        """Its name in ``artefact_digests``, one per file.

        >>> artefacts_for("1.36", os="linux", architecture="arm64")[0].key
        'kubelet-1.36.4-linux-arm64'
        """
        return f"{self.name}-{self.version}-{self.os}-{ARCHITECTURES[self.architecture]}"

    @property
    def digest_command(self) -> str:
        """How a person gets the digest: what upstream publishes, or that of the file itself."""
        if self.digest_url:
            return f"curl -fsSL {self.digest_url}"
        return f"curl -fsSL {self.url} | sha256sum"

    def document(self) -> dict[str, Any]:
        """As the Linux node document has it."""
        return {
            "name": self.key, "url": self.url, "digest": self.digest, "kind": self.kind,
            "install": [{"member": one.member, "path": one.path, "mode": f"{one.mode:04o}"} for one in self.install],
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeKind:
    """Nodes that download the same files."""

    os: str = "linux"
    architecture: str = "x86_64"
    runtime: str = "containerd"
    role: str = "worker"


@cache
def known_digests() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """The digests of the table: name, version, ``<os>-<architecture>``."""
    text = FilePath(__file__).with_name("artefact_digests.json").read_text(encoding="utf-8")
    return cast(Mapping[str, Mapping[str, Mapping[str, str]]], json.loads(text))


def artefacts_for(
    minor: str,
    *,
    os: Os = "linux",
    architecture: Architecture = "x86_64",
    runtime: Runtime = "containerd",
    role: Role = "worker",
    optional: Sequence[str] = (),
    artefact_digests: Mapping[str, str] = {},
    mirror: str | None = None,
) -> tuple[Artefact, ...]:
    """Everything that one kind of node downloads, in the order in which it is needed.

    :param optional: files that not every cluster needs: ``kubectl``, ``kubeadm``, ``kube-log-runner`` and
        ``ecr-credential-provider`` on Windows.
    :param artefact_digests: the user's digests, by :attr:`Artefact.key`; they win over the table.
    :param mirror: base URL of a mirror, instead of the upstream hosts.
    :raises KeyError: for what :func:`check_artefacts` refuses.
    """
    digests = tuple(sorted(artefact_digests.items()))
    return _artefacts(minor, os, architecture, runtime, role, tuple(optional), digests, mirror)


@lru_cache(maxsize=64)
def _artefacts(
    minor: str,
    os: Os,
    architecture: Architecture,
    runtime: Runtime,
    role: Role,
    optional: Sequence[str],
    digests: tuple[tuple[str, str], ...],
    mirror: str | None,
) -> tuple[Artefact, ...]:
    """Remembered, as the groups of a cluster are of a few kinds and each asks several times."""
    release = SELF_MANAGED_RELEASES[minor]
    rows = _windows(release, optional) if os == "windows" else _linux(release, architecture, runtime, role)
    given = dict(digests)
    return tuple(_completed(row, given, mirror) for row in rows)


def mirrored(url: str, mirror: str | None) -> str:
    """A URL on the user's mirror: the upstream host becomes the first part of the path.

    >>> mirrored("https://dl.k8s.io/release/v1.36.4/bin/linux/amd64/kubelet", "s3://mirror/winkube/")
    's3://mirror/winkube/dl.k8s.io/release/v1.36.4/bin/linux/amd64/kubelet'
    """
    return f"{mirror.rstrip('/')}/{url.removeprefix('https://')}" if mirror else url


def mirror_manifest(
    minors: Iterable[str], kinds: Iterable[NodeKind], *, mirror: str | None = None, optional: Sequence[str] = ()
) -> list[dict[str, str | None]]:
    """All files of some minors and kinds of nodes, for whoever fills a mirror: source, digest, place on the mirror."""
    kinds = tuple(kinds)
    rows: dict[str, dict[str, str | None]] = {}
    for minor in minors:
        for kind in kinds:
            for one in _of_kind(minor, kind, optional):
                url = mirrored(one.url, mirror) if mirror else one.url.removeprefix("https://")
                rows[one.key] = {"name": one.key, "source": one.url, "digest": one.digest, "mirror": url,
                                 "digest_source": one.digest_url or None}  # fmt: skip
    return [rows[key] for key in sorted(rows)]


def check_artefacts(
    minor: str,
    kinds: Iterable[NodeKind],
    *,
    mirror: str | None = None,
    artefact_digests: Mapping[str, str] = {},
    registry_mirrors: Mapping[str, str] = {},
    optional: Sequence[str] = (),
) -> Mistakes:
    """What nodes cannot download, or could not verify (``WK-ART-001`` to ``WK-ART-007``).

    The minor itself is judged by the table of releases.
    """
    found = check_mirrors(mirror, registry_mirrors)
    rows: dict[str, Artefact] = {}
    for kind in kinds:
        wrong = check_node_kind(kind)
        found.take(wrong)
        if not wrong and minor in SELF_MANAGED_RELEASES:
            rows.update({one.key: one for one in _of_kind(minor, kind, optional)})
    for key, digest in artefact_digests.items():
        path: Path = ("artefact_digests", key)
        if not _DIGEST.fullmatch(digest):
            found.add(DIGEST_FORM, path, "is not a digest",
                      f'write "sha256:<64 hexadecimal digits>", lower case; {_how(rows.get(key))}', digest)  # fmt: skip
        if key not in rows:
            close = nearest(key, sorted(rows))
            names = f'did you mean "{close}"?' if close else f"the names are {one_of(sorted(rows) or ['none'])}"
            found.add(DIGEST_UNKNOWN, path, "no node of this cluster downloads a file with this name",
                      f"use the name that winkube uses; {names}", key)  # fmt: skip
            continue
        known = rows[key].digest
        if mirror is None and known is not None and digest != known and _DIGEST.fullmatch(digest):
            found.add(DIGEST_CONFLICT, path, f"the upstream file has the digest {known}, and no mirror is set",
                      "remove it, or set mirror to the location of your build", digest)  # fmt: skip
    for key, row in rows.items():
        if row.digest is None and key not in artefact_digests:
            found.add(DIGEST_MISSING, ("artefact_digests", key), "winkube knows no digest for this file",
                      f'add "{key}": "sha256:<digest>"; {_how(row)}')  # fmt: skip
    return found


def check_node_kind(kind: NodeKind, path: Path = ()) -> Mistakes:
    """Whether there are files for such nodes (``WK-ART-006``)."""
    found = Mistakes()
    if kind.os not in OSES:
        found.add(NODE_KIND, (*path, "os"), f"must be {one_of(OSES)}", f'set os to "{OSES[0]}"', kind.os)
    if kind.architecture not in ARCHITECTURES:
        found.add(NODE_KIND, (*path, "architecture"), f"must be {one_of(list(ARCHITECTURES))}",
                  f'set architecture to "{nearest(kind.architecture, list(ARCHITECTURES)) or "x86_64"}"',
                  kind.architecture)  # fmt: skip
    elif (kind.os, kind.architecture) == ("windows", "arm64"):
        found.add(NODE_KIND, (*path, "architecture"), "Windows nodes run only on x86_64",
                  'use an x86_64 instance type, or set os to "linux"', kind.architecture)  # fmt: skip
    if kind.runtime == "docker":
        found.add(NODE_KIND, (*path, "runtime"), "Kubernetes 1.24 removed dockershim: the kubelet cannot use Docker",
                  'set runtime to "containerd"; images made with Docker run there unchanged', kind.runtime)  # fmt: skip
    elif kind.runtime not in RUNTIMES:
        found.add(NODE_KIND, (*path, "runtime"), f"must be {one_of(RUNTIMES)}",
                  f'set runtime to "{nearest(kind.runtime, RUNTIMES) or RUNTIMES[0]}"', kind.runtime)  # fmt: skip
    elif (kind.os, kind.runtime) == ("windows", "cri-o"):
        found.add(
            NODE_KIND, (*path, "runtime"), "CRI-O does not support Windows", 'set runtime to "containerd"', "cri-o"
        )
    return found


def check_mirrors(mirror: str | None, registry_mirrors: Mapping[str, str]) -> Mistakes:
    """Whether mirrors have the right form (``WK-ART-004``, ``WK-ART-005``)."""
    found = Mistakes()
    if mirror is not None and not _plain_url(mirror, MIRROR_SCHEMES):
        found.add(MIRROR_FORM, ("mirror",), "must be an https, http or s3 URL without user, query and fragment",
                  'write it as "https://mirror.example.com/winkube" or "s3://bucket/prefix"', mirror)  # fmt: skip
    for host, url in registry_mirrors.items():
        path: Path = ("registry_mirrors", host)
        if not _HOST.fullmatch(host):
            found.add(REGISTRY_FORM, path, "is not the host of a registry",
                      'write only the host, such as "registry.k8s.io"', host)  # fmt: skip
        if not _plain_url(url, ("https", "http")):
            found.add(REGISTRY_FORM, path, "must be an http or https URL without user, query and fragment",
                      'write it as "https://registry.example.com" or "https://registry.example.com/v2/prefix"',
                  url)  # fmt: skip
    return found


def _plain_url(text: str, schemes: Sequence[str]) -> bool:
    try:
        url = urlsplit(text)
        return bool(
            url.scheme in schemes and url.hostname and url.port != 0 and "@" not in url.netloc and not url.query
            and not url.fragment and not re.search(r"[\s\"'$`\\]", text)
        )  # fmt: skip
    except ValueError:  # a port that is no number
        return False


def _how(row: Artefact | None) -> str:
    return f"get it with: {row.digest_command}" if row else "take it from the page of the release"


def _of_kind(minor: str, kind: NodeKind, optional: Sequence[str]) -> tuple[Artefact, ...]:
    return artefacts_for(
        minor, os=cast(Os, kind.os), architecture=cast(Architecture, kind.architecture),
        runtime=cast(Runtime, kind.runtime), role=cast(Role, kind.role), optional=optional,
    )  # fmt: skip


def _completed(row: Artefact, digests: Mapping[str, str], mirror: str | None) -> Artefact:
    platform = f"{row.os}-{ARCHITECTURES[row.architecture]}"
    known = known_digests().get(row.name, {}).get(row.version, {}).get(platform)
    return replace(row, digest=digests.get(row.key, known), url=mirrored(row.url, mirror))


def _kubernetes(
    release: SelfManagedRelease, os: Os, architecture: Architecture, program: str, folder: str, *, exe: str = ""
) -> Artefact:
    url = f"https://dl.k8s.io/release/v{release.patch}/bin/{os}/{ARCHITECTURES[architecture]}/{program}{exe}"
    path = f"{folder}\\{program}{exe}" if os == "windows" else f"{folder}/{program}"
    return Artefact(
        program, release.patch, os, architecture, url, None, "file", (Install(None, path),), f"{url}.sha256"
    )


def _github(
    name: str, version: str, os: Os, architecture: Architecture, file: str, kind: Kind, install: Iterable[Install],
    *, digest_file: str = "",
) -> Artefact:  # fmt: skip
    base = f"https://github.com/{file.rpartition('/')[0]}"
    digest_url = f"{base}/{digest_file}" if digest_file else ""
    return Artefact(
        name, version, os, architecture, f"https://github.com/{file}", None, kind, tuple(install), digest_url
    )


def _linux(release: SelfManagedRelease, architecture: Architecture, runtime: Runtime, role: Role) -> Iterable[Artefact]:
    word = ARCHITECTURES[architecture]
    programs = ("kubelet", "kubeadm", "kubectl") if role == "control_plane" else ("kubelet", "kubeadm")
    yield from (_kubernetes(release, "linux", architecture, program, LINUX_BIN) for program in programs)
    if runtime == "containerd":
        yield _containerd(release, "linux", architecture)
        yield _github(
            "runc", release.runc, "linux", architecture,
            f"opencontainers/runc/releases/download/v{release.runc}/runc.{word}", "file",
            (Install(None, "/usr/local/sbin/runc"),), digest_file="runc.sha256sum",
        )  # fmt: skip
    else:
        yield _cri_o(release, architecture)
    yield _cni(release, "linux", architecture)
    yield _crictl(release, "linux", architecture)
    yield _credential_provider("linux", architecture)
    if role == "control_plane":
        version = ETCD_TOOLS[release.etcd.rpartition(".")[0]]
        folder = f"etcd-v{version}-linux-{word}"
        yield _github(
            "etcd", version, "linux", architecture, f"etcd-io/etcd/releases/download/v{version}/{folder}.tar.gz",
            "tar.gz", (Install(f"{folder}/{tool}", f"{LINUX_BIN}/{tool}") for tool in ("etcdctl", "etcdutl")),
            digest_file="SHA256SUMS",
        )  # fmt: skip


def _windows(release: SelfManagedRelease, optional: Sequence[str]) -> Iterable[Artefact]:
    architecture: Architecture = "x86_64"
    wanted = ("kubelet", "kube-proxy", *(one for one in ("kubectl", "kubeadm", "kube-log-runner") if one in optional))
    for program in wanted:
        yield _kubernetes(release, "windows", architecture, program, WINDOWS_BIN, exe=".exe")
    yield _containerd(release, "windows", architecture)
    yield _cni(release, "windows", architecture)
    yield _github(
        "flannel-cni", FLANNEL_CNI, "windows", architecture,
        f"flannel-io/cni-plugin/releases/download/v{FLANNEL_CNI}/flannel-amd64.exe", "file",
        (Install(None, rf"{WINDOWS_CNI_BIN}\flannel.exe"),),
    )  # fmt: skip
    yield _github(
        "flanneld", FLANNELD, "windows", architecture,
        f"flannel-io/flannel/releases/download/v{FLANNELD}/flanneld.exe", "file",
        (Install(None, rf"{WINDOWS_BIN}\flanneld.exe"),),
    )  # fmt: skip
    yield _crictl(release, "windows", architecture)
    if "ecr-credential-provider" in optional:
        yield _credential_provider("windows", architecture)


def _containerd(release: SelfManagedRelease, os: Os, architecture: Architecture) -> Artefact:
    version = release.containerd
    file = f"containerd-{version}-{os}-{ARCHITECTURES[architecture]}.tar.gz"
    members = {"linux": ("containerd", "containerd-shim-runc-v2", "ctr"),
               "windows": ("containerd.exe", "containerd-shim-runhcs-v1.exe", "ctr.exe")}[os]  # fmt: skip
    folder = f"{LINUX_BIN}/" if os == "linux" else f"{WINDOWS_CONTAINERD}\\"
    return _github(
        "containerd", version, os, architecture, f"containerd/containerd/releases/download/v{version}/{file}",
        "tar.gz", (Install(f"bin/{one}", f"{folder}{one}") for one in members), digest_file=f"{file}.sha256sum",
    )  # fmt: skip


def _cni(release: SelfManagedRelease, os: Os, architecture: Architecture) -> Artefact:
    version = release.cni_plugins
    file = f"cni-plugins-{os}-{ARCHITECTURES[architecture]}-v{version}.tgz"
    install = (
        (Install(one, rf"{WINDOWS_CNI_BIN}\{one}") for one in WINDOWS_CNI_PLUGINS) if os == "windows"
        else (Install(one, f"{LINUX_CNI_BIN}/{one}") for one in CNI_PLUGINS)
    )  # fmt: skip
    return _github(
        "cni-plugins", version, os, architecture,
        f"containernetworking/plugins/releases/download/v{version}/{file}", "tar.gz", install,
        digest_file=f"{file}.sha256",
    )  # fmt: skip


def _crictl(release: SelfManagedRelease, os: Os, architecture: Architecture) -> Artefact:
    file = f"crictl-v{release.crictl}-{os}-{ARCHITECTURES[architecture]}.tar.gz"
    install = (
        Install("crictl.exe", rf"{WINDOWS_BIN}\crictl.exe") if os == "windows"
        else Install("crictl", f"{LINUX_BIN}/crictl")
    )  # fmt: skip
    return _github(
        "crictl", release.crictl, os, architecture,
        f"kubernetes-sigs/cri-tools/releases/download/v{release.crictl}/{file}", "tar.gz", (install,),
        digest_file=f"{file}.sha256",
    )  # fmt: skip


def _credential_provider(os: Os, architecture: Architecture) -> Artefact:
    word = ARCHITECTURES[architecture]
    name = f"ecr-credential-provider-{os}-{word}"
    url = f"https://artifacts.k8s.io/binaries/cloud-provider-aws/v{ECR_CREDENTIAL_PROVIDER}/{os}/{word}/{name}"
    path = (
        rf"{WINDOWS_CREDENTIAL_PROVIDERS}\ecr-credential-provider.exe" if os == "windows"
        else f"{LINUX_CREDENTIAL_PROVIDERS}/ecr-credential-provider"
    )  # fmt: skip
    return Artefact(
        "ecr-credential-provider", ECR_CREDENTIAL_PROVIDER, os, architecture, url, None, "file",
        (Install(None, path),), f"{url}.sha256",
    )  # fmt: skip


def _cri_o(release: SelfManagedRelease, architecture: Architecture) -> Artefact:
    """CRI-O's own bundle, with the OCI runtimes and the monitor of containers.

    Where no patch of the minor could be looked up, the first one is named, and the user gives its digest.
    """
    version = release.cri_o or f"{release.minor}.0"
    url = f"https://storage.googleapis.com/cri-o/artifacts/cri-o.{ARCHITECTURES[architecture]}.v{version}.tar.gz"
    programs = ("crio", "pinns", "conmon", "crun", "runc")
    return Artefact(
        "cri-o", version, "linux", architecture, url, None, "tar.gz",
        (*(Install(f"cri-o/bin/{one}", f"/usr/local/bin/{one}") for one in programs),
         Install("cri-o/contrib/policy.json", "/etc/containers/policy.json", 0o644)),
        f"{url}.sha256sum",
    )  # fmt: skip
