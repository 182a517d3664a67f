"""Artefacts and container images, made of the binaries of the tests, as a mirror and a registry serve them."""

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from winkube.tables.artefacts import Artefact, artefacts_for
from winkube.tables.releases import SELF_MANAGED_RELEASES

from tests.binaries.build import ensure, find_go
from tests.binaries.recipes import recipe_for

from .template import folder, template

PAUSE = """\
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	children := make(chan os.Signal, 16)
	signal.Notify(children, syscall.SIGCHLD)
	go func() {
		for range children {
			for {
				if pid, _ := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 {
					break
				}
			}
		}
	}()
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGTERM, syscall.SIGINT)
	<-over
}
"""
TOOLS = ("sh", "cp", "cat", "sed", "mkdir", "ls", "sleep", "socat", "ping", "ip", "ipset", "conntrack", "nft", "curl",
         *(f"{name}{end}" for name in ("iptables", "ip6tables") for end in ("", "-save", "-restore")))  # fmt: skip
PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
OCI = "application/vnd.oci.image"
XTABLES = "usr/lib/x86_64-linux-gnu/xtables"
KUBE_PROXY = """\
#!/bin/sh
# A network namespace that is not the kernel's first one cannot set the size of the connection table.
sed -e '/^conntrack:/,/^[^ ]/s/maxPerCore: .*/maxPerCore: 0/' /var/lib/kube-proxy/config.conf > /tmp/config.conf
exec /usr/local/bin/kube-proxy.real --config=/tmp/config.conf --hostname-override="$NODE_NAME"
"""
STUBS = {"ecr-credential-provider": b"#!/bin/sh\necho no images of ECR here >&2\nexit 1\n"}
"""Programs that no test needs at work."""


@dataclass(frozen=True)
class Image:
    """A container image: the files in it, by their path."""

    name: str
    """As a manifest of Kubernetes names it."""
    files: Mapping[str, Path | bytes]
    entrypoint: tuple[str, ...]
    base: bool = False
    """Whether a shell and the network tools are in it as well."""


def binary(name: str, minor: str) -> Path:
    """A program of the tests, built now if it is not there."""
    recipe = recipe_for(name, minor, "linux")
    return ensure(recipe, lambda line: print(line, file=sys.stderr, flush=True)) / recipe.file(name)


def images(minor: str, authority: bytes) -> list[Image]:
    """Every image that the machines of a cluster run; ``authority`` signs what answers as AWS."""
    release = SELF_MANAGED_RELEASES[minor]
    kubernetes = [
        Image(f"registry.k8s.io/{name}:v{release.patch}", {f"usr/local/bin/{name}": binary(name, minor)}, (name,))
        for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
    ]
    proxy = {
        "usr/local/bin/kube-proxy.real": binary("kube-proxy", minor),
        "usr/local/bin/kube-proxy": KUBE_PROXY.encode(),
    }
    flannel = {"opt/bin/flanneld": binary("flanneld", minor), "opt/bin/install-conf": binary("install-conf", minor)}
    etcd = {f"usr/local/bin/{name}": binary(name, minor) for name in ("etcd", "etcdctl", "etcdutl")}
    cloud = {
        "usr/local/bin/aws-cloud-controller-manager": binary("aws-cloud-controller-manager", minor),
        "etc/ssl/certs/ca-certificates.crt": authority,
    }
    return [
        Image(release.cloud_controller_manager, cloud, ("aws-cloud-controller-manager",)),
        Image(release.pause_image, {"pause": _made_pause()}, ("/pause",)),
        *kubernetes,
        Image(f"registry.k8s.io/etcd:{release.etcd_image_tag}", etcd, ("etcd",)),
        Image(f"registry.k8s.io/kube-proxy:v{release.patch}", proxy, ("kube-proxy",), base=True),
        Image("ghcr.io/flannel-io/flannel:v0.28.9", flannel, ("/opt/bin/flanneld",), base=True),
        Image(
            "ghcr.io/flannel-io/flannel-cni-plugin:v1.9.1-flannel3",
            {"flannel": binary("flannel-cni", minor)},
            (),
            base=True,
        ),
        Image(
            f"registry.k8s.io/coredns/coredns:{release.coredns_tag}",
            {"coredns": binary("coredns", minor)},
            ("/coredns",),
        ),
        Image("registry.k8s.io/test/shell:1", {}, ("sleep", "infinity"), base=True),
    ]


class Registry:
    """Images as blobs and manifests on the disk; the registry's protocol is a matter of paths."""

    def __init__(self) -> None:
        self.blobs = folder() / "registry"
        self.blobs.mkdir(parents=True, exist_ok=True)
        self.manifests: dict[str, bytes] = {}
        """``<name>:<tag>`` and ``<name>@<digest>``, without the host."""

    def add(self, image: Image) -> None:
        """Make an image available."""
        layers = [self._layer(image.files)] if image.files else []
        if image.base:
            layers.insert(0, self._base())
        configuration = json.dumps(
            {
                "architecture": "amd64", "os": "linux",
                "config": {"Entrypoint": list(image.entrypoint), "Env": [PATH]},
                "rootfs": {"type": "layers", "diff_ids": [digest for digest, _ in layers]},
            }
        ).encode()  # fmt: skip
        config = self._blob(configuration)
        manifest = json.dumps(
            {
                "schemaVersion": 2, "mediaType": f"{OCI}.manifest.v1+json",
                "config": {"mediaType": f"{OCI}.config.v1+json", "digest": config, "size": len(configuration)},
                "layers": [{"mediaType": f"{OCI}.layer.v1.tar", "digest": digest, "size": size}
                           for digest, size in layers],
            }
        ).encode()  # fmt: skip
        name, _, tag = image.name.partition("/")[2].rpartition(":")
        self.manifests[f"{name}:{tag}"] = manifest
        self.manifests[f"{name}@sha256:{hashlib.sha256(manifest).hexdigest()}"] = manifest

    def blob(self, digest: str) -> Path:
        """Where a blob lies."""
        return self.blobs / digest.replace(":", "-")

    def _base(self) -> tuple[str, int]:
        root = template()
        return self._made(f"base {root.name} {TOOLS}", lambda: _base_layer(root))

    def _layer(self, files: Mapping[str, Path | bytes]) -> tuple[str, int]:
        name = repr([(path, str(one) if isinstance(one, Path) else one) for path, one in sorted(files.items())])
        return self._made(name, lambda: _tar(files))

    def _made(self, name: str, make: Callable[[], bytes]) -> tuple[str, int]:
        note = self.blobs / f"layer-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
        if not note.exists():
            note.write_text(self._blob(make()))
        digest = note.read_text()
        return digest, self.blob(digest).stat().st_size

    def _blob(self, data: bytes) -> str:
        digest = f"sha256:{hashlib.sha256(data).hexdigest()}"
        path = self.blob(digest)
        if not path.exists():
            new = path.with_name(f"{path.name}.{os.getpid()}")
            new.write_bytes(data)
            new.rename(path)
        return digest


def mirror(minor: str) -> tuple[dict[str, Path], dict[str, str]]:
    """The files of a mirror by the path that nodes ask for, and their digests by the names of winkube."""
    rows: dict[str, Artefact] = {}
    for role in ("control_plane", "worker"):
        rows |= {one.key: one for one in artefacts_for(minor, role=role)}
    files: dict[str, Path] = {}
    digests: dict[str, str] = {}
    for key, row in rows.items():
        path = _artefact(row, minor)
        files[row.url.removeprefix("https://")] = path
        digests[key] = f"sha256:{_digest(path)}"
    return files, digests


def _artefact(row: Artefact, minor: str) -> Path:
    members = {one.member: one.path.rpartition("/")[2] for one in row.install}
    sources: dict[str | None, Path | bytes] = {
        member: STUBS[name] if name in STUBS else binary(name, minor) for member, name in members.items()
    }
    made = repr((row.key, sorted((str(key), str(one)) for key, one in sources.items())))
    path = folder() / "mirror" / f"{row.key}-{hashlib.sha256(made.encode()).hexdigest()[:10]}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(f".{path.name}.{os.getpid()}")
        if row.kind == "file":
            (source,) = sources.values()
            if isinstance(source, Path):
                shutil.copyfile(source, new)
            else:
                new.write_bytes(source)
        else:
            new.write_bytes(gzip.compress(_tar({str(key): one for key, one in sources.items()}), 1, mtime=0))
        new.rename(path)
    return path


def _digest(path: Path) -> str:
    note = path.with_name(f"{path.name}.sha256")
    if not note.exists():
        with path.open("rb") as file:
            note.write_text(hashlib.file_digest(file, "sha256").hexdigest())
    return note.read_text()


def _tar(files: Mapping[str, Path | bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(_directory("tmp", 0o1777))
        for path, source in sorted(files.items()):
            data = source if isinstance(source, bytes) else source.read_bytes()
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(data), 0o755
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


def _directory(path: str, mode: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    member.type, member.mode = tarfile.DIRTYPE, mode
    return member


def _base_layer(root: Path) -> bytes:
    """The tools with the libraries that they load, also those that iptables opens by itself."""
    programs = [
        f"usr/{place}/{name}" for name in TOOLS for place in ("sbin", "bin") if _there(root, f"usr/{place}/{name}")
    ]
    extensions = [str(one.relative_to(root)) for one in sorted((root / XTABLES).glob("*.so"))]
    libraries = [f"usr/{one}" for one in _libraries(root, [*programs, *extensions])]
    wanted = {one: None for path in (*programs, *extensions, *libraries) for one in _links(root, path)}
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(_directory("tmp", 0o1777))
        for path in ("bin", "sbin", "lib", "lib64", *wanted):
            archive.add(root / path, path, recursive=False)
    return out.getvalue()


def _there(root: Path, path: str) -> bool:
    return (root / path).is_symlink() or (root / path).exists()


def _links(root: Path, path: str) -> Iterable[str]:
    """A path of the root, and where its links lead within the root."""
    while True:
        yield path
        if not (root / path).is_symlink():
            return
        path = os.path.normpath(Path("/", path).parent / (root / path).readlink()).lstrip("/")
        if not path.startswith(("usr/", "etc/")):
            path = f"usr/{path}"


def _libraries(root: Path, programs: Iterable[str]) -> set[str]:
    said = subprocess.run(
        ["chroot", root, "ldd", *(f"/{one}" for one in programs)], capture_output=True, text=True, check=False
    ).stdout
    return {
        word.lstrip("/")
        for line in said.splitlines()
        for word in line.split()
        if word.startswith("/lib") and not word.endswith(":")
    }


def pause() -> Path:
    """Where the program of the pause image lies, made or not."""
    return folder() / f"pause-{hashlib.sha256(PAUSE.encode()).hexdigest()[:10]}"


def _made_pause() -> Path:
    path = pause()
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        source = path.with_suffix(".go")
        source.write_text(PAUSE)
        environment = {**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off", "GO111MODULE": "off"}
        subprocess.run([find_go(), "build", "-ldflags=-s -w", "-o", path, source], check=True, env=environment)
    return path
