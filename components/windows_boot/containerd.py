"""Configuration of containerd on Windows nodes: pure text, read by the real containerd.exe in the tests."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from .paths import CNI_BINARIES, CNI_CONFIGURATION, CONTAINERD_DATA, CONTAINERD_HOSTS

UPSTREAM_IMAGES = "registry.k8s.io"


def containerd_configuration(pause_image: str, data: str = CONTAINERD_DATA) -> str:
    r"""``config.toml``: version 4, that of containerd 2.3 and later; ``bin_dirs``, because 2.4 dropped ``bin_dir``.

    The runtimes are containerd's own: ``runhcs-wcow-process`` is the default one, and RuntimeClasses name it.

    >>> "sandbox = 'registry.k8s.io/pause:3.10.2'" in containerd_configuration("registry.k8s.io/pause:3.10.2")
    True
    """
    # Literal strings: a backslash in them is a backslash.
    return f"""\
version = 4
root = '{data}\\root'
state = '{data}\\state'

[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = '{pause_image}'

[plugins.'io.containerd.cri.v1.images'.registry]
config_path = '{CONTAINERD_HOSTS}'

[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ['{CNI_BINARIES}']
conf_dir = '{CNI_CONFIGURATION}'
max_conf_num = 1

[plugins.'io.containerd.cri.v1.runtime'.containerd]
default_runtime_name = 'runhcs-wcow-process'
"""


def hosts_directory(registry: str) -> str:
    r"""The folder below ``certs.d`` for a registry; a colon cannot be part of a name on Windows.

    >>> hosts_directory("registry.example.com:5000")
    'registry.example.com_5000_'
    """
    host, colon, port = registry.partition(":")
    return f"{host}_{port}_" if colon else registry


def hosts_text(registry: str, mirror: str) -> str:
    """``hosts.toml`` of a registry that has a mirror; the registry itself is asked where the mirror does not know.

    A mirror with a path has to bring ``/v2`` with it, which is put in front of the path.
    """
    parts = urlsplit(mirror if "://" in mirror else f"https://{mirror}")
    path = parts.path.rstrip("/")
    override = ""
    if path and not path.startswith("/v2"):
        path = f"/v2{path}"
    if path:
        override = "override_path = true\n"
    server = "https://registry-1.docker.io" if registry == "docker.io" else f"https://{registry}"
    return (
        f"server = '{server}'\n\n"
        f"[host.'{parts.scheme}://{parts.netloc}{path}']\n"
        f"capabilities = ['pull', 'resolve']\n{override}"
    )


def hosts_files(mirrors: Mapping[str, str]) -> dict[str, str]:
    """Path on the node to the text of each registry's ``hosts.toml``."""
    return {
        rf"{CONTAINERD_HOSTS}\{hosts_directory(registry)}\hosts.toml": hosts_text(registry, mirror)
        for registry, mirror in sorted(mirrors.items())
    }


def pause_image(upstream: str, repository: str | None) -> str:
    """The pause image from the repository that the cluster takes its images from.

    >>> pause_image("registry.k8s.io/pause:3.10.2", "registry.example.com/k8s/")
    'registry.example.com/k8s/pause:3.10.2'
    """
    return upstream if repository is None else upstream.replace(UPSTREAM_IMAGES, repository.rstrip("/"), 1)
