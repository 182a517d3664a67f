"""What nodes download: rows, digests, mirrors, and what is refused."""

import itertools
import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.node_agent import containerd, crio
from winkube.tables.artefacts import (
    ARCHITECTURES,
    DIGEST_CONFLICT,
    DIGEST_FORM,
    DIGEST_MISSING,
    DIGEST_UNKNOWN,
    ETCD_TOOLS,
    MIRROR_FORM,
    NODE_KIND,
    REGISTRY_FORM,
    NodeKind,
    artefacts_for,
    check_artefacts,
    known_digests,
    mirror_manifest,
    mirrored,
)
from winkube.tables.releases import SELF_MANAGED_RELEASES

MINORS = tuple(SELF_MANAGED_RELEASES)
LINUX = [
    NodeKind(architecture=architecture, runtime=runtime, role=role)
    for architecture, runtime, role in itertools.product(
        ARCHITECTURES, ("containerd", "cri-o"), ("control_plane", "worker")
    )
]
WINDOWS = NodeKind(os="windows")
DIGEST = f"sha256:{'0' * 64}"


def rows(minor, kind, **more):
    """The artefacts of a kind of node."""
    return artefacts_for(
        minor, os=kind.os, architecture=kind.architecture, runtime=kind.runtime, role=kind.role, **more
    )


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("kind", [one for one in LINUX if one.runtime == "containerd"])
def test_linux_with_containerd_needs_nothing_from_the_user(minor, kind):
    """Every minor, both architectures, both roles: all digests are in the table."""
    assert not check_artefacts(minor, [kind])
    assert all(one.digest for one in rows(minor, kind))


@pytest.mark.parametrize("minor", ["1.35", "1.36"])
def test_windows_needs_nothing_from_the_user_where_digests_could_be_looked_up(minor):
    assert not check_artefacts(minor, [WINDOWS])


def test_a_digest_that_could_not_be_looked_up_is_asked_for_with_the_command_that_gets_it():
    """Kubernetes 1.37.1 for Windows: kubelet and kube-proxy."""
    found = check_artefacts("1.37", [WINDOWS])
    assert [(one.rule, one.path) for one in found] == [
        (DIGEST_MISSING, ("artefact_digests", "kubelet-1.37.1-windows-amd64")),
        (DIGEST_MISSING, ("artefact_digests", "kube-proxy-1.37.1-windows-amd64")),
    ]
    assert found[0].remedy == (
        'add "kubelet-1.37.1-windows-amd64": "sha256:<digest>"; get it with: '
        "curl -fsSL https://dl.k8s.io/release/v1.37.1/bin/windows/amd64/kubelet.exe.sha256"
    )
    given_ = {one.path[1]: DIGEST for one in found}
    assert not check_artefacts("1.37", [WINDOWS], artefact_digests=given_)
    assert {one.digest for one in rows("1.37", WINDOWS, artefact_digests=given_) if one.key in given_} == {DIGEST}


def test_a_file_of_which_upstream_publishes_no_digest_is_summed_by_the_user():
    found = check_artefacts("1.37", [NodeKind(runtime="cri-o")])
    assert [one.path[1] for one in found] == ["cri-o-1.37.0-linux-amd64"]
    flannel = next(one for one in rows("1.36", WINDOWS) if one.name == "flanneld")
    assert flannel.digest_command == f"curl -fsSL {flannel.url} | sha256sum"


@pytest.mark.parametrize(
    "wrong",
    ["", "sha256:", "SHA256:" + "0" * 64, "0" * 64, "sha256:" + "0" * 63, "sha256:" + "G" * 64, "sha512:" + "0" * 64],
)
def test_a_malformed_digest_is_refused(wrong):
    key = "kubelet-1.37.1-windows-amd64"
    found = check_artefacts("1.37", [WINDOWS], artefact_digests={key: wrong, key.replace("let", "-proxy"): DIGEST})
    mistake = next(one for one in found if one.rule is DIGEST_FORM)
    assert mistake.path == ("artefact_digests", key)
    assert mistake.got == wrong
    assert "kubelet.exe.sha256" in mistake.remedy


def test_an_unknown_name_is_refused_with_the_nearest_one():
    found = check_artefacts("1.36", [WINDOWS], artefact_digests={"kubelet-1.36.4-window-amd64": DIGEST})
    assert [one.rule for one in found] == [DIGEST_UNKNOWN]
    assert 'did you mean "kubelet-1.36.4-windows-amd64"?' in found[0].remedy
    far = check_artefacts("1.36", [WINDOWS], artefact_digests={"xyz": DIGEST})
    assert '"kubelet-1.36.4-windows-amd64"' in far[0].remedy


def test_another_digest_for_upstreams_own_file_is_refused_and_allowed_with_a_mirror():
    key = "kubelet-1.36.4-linux-amd64"
    found = check_artefacts("1.36", [NodeKind()], artefact_digests={key: DIGEST})
    assert [(one.rule, one.path, one.got) for one in found] == [(DIGEST_CONFLICT, ("artefact_digests", key), DIGEST)]
    assert known_digests()["kubelet"]["1.36.4"]["linux-amd64"] in found[0].message
    assert not check_artefacts("1.36", [NodeKind()], artefact_digests={key: DIGEST}, mirror="https://mirror.test")


@pytest.mark.parametrize(
    "wrong",
    ["mirror.test", "ftp://mirror.test", "https://", "https://u:p@mirror.test", "https://mirror.test/?a", "s3://",
     "https://mirror.test/#x", "https://mirror.test:x", "https://mirror test"],
)  # fmt: skip
def test_a_mirror_that_is_no_base_url_is_refused(wrong):
    found = check_artefacts("1.36", [NodeKind()], mirror=wrong)
    assert [(one.rule, one.path, one.got) for one in found] == [(MIRROR_FORM, ("mirror",), wrong)]


@pytest.mark.parametrize("good", ["https://mirror.test", "http://10.0.0.1:8080/a/b/", "s3://bucket/prefix"])
def test_a_mirror_may_be_https_http_and_s3(good):
    assert not check_artefacts("1.36", [NodeKind()], mirror=good)


def test_registry_mirrors_name_a_host_and_a_url():
    found = check_artefacts(
        "1.36", [NodeKind()], registry_mirrors={"https://registry.k8s.io": "https://m.test", "ghcr.io": "m.test"}
    )
    assert [(one.rule, one.path) for one in found] == [
        (REGISTRY_FORM, ("registry_mirrors", "https://registry.k8s.io")),
        (REGISTRY_FORM, ("registry_mirrors", "ghcr.io")),
    ]
    good = {"registry.k8s.io": "https://m.test/v2/k8s", "localhost:5000": "http://10.0.0.1"}
    assert not check_artefacts("1.36", [NodeKind()], registry_mirrors=good)


@pytest.mark.parametrize(
    ("kind", "path", "part"),
    [
        (NodeKind(os="darwin"), ("os",), 'must be "linux" or "windows"'),
        (NodeKind(architecture="amd64"), ("architecture",), 'must be "x86_64" or "arm64"'),
        (NodeKind(os="windows", architecture="arm64"), ("architecture",), "only on x86_64"),
        (NodeKind(runtime="docker"), ("runtime",), "removed dockershim"),
        (NodeKind(runtime="crio"), ("runtime",), 'must be "containerd" or "cri-o"'),
        (NodeKind(os="windows", runtime="cri-o"), ("runtime",), "does not support Windows"),
    ],
)
def test_nodes_for_which_there_are_no_files_are_refused(kind, path, part):
    found = check_artefacts("1.36", [kind])
    assert [(one.rule, one.path) for one in found] == [(NODE_KIND, path)]
    assert part in found[0].message
    assert found[0].got == getattr(kind, path[0])


def test_all_mistakes_are_told_at_once():
    found = check_artefacts(
        "1.37", [NodeKind(os="windows", runtime="docker"), WINDOWS], mirror="x", artefact_digests={"y": "z"},
        registry_mirrors={"a": "b"},
    )  # fmt: skip
    assert {one.rule for one in found} == {
        NODE_KIND, MIRROR_FORM, DIGEST_FORM, DIGEST_UNKNOWN, REGISTRY_FORM, DIGEST_MISSING,
    }  # fmt: skip


def test_every_digest_of_the_table_has_its_form_and_none_stands_there_twice():
    """A digest that stands twice is a slip of whoever copied it."""
    digests = [
        digest
        for versions in known_digests().values()
        for platforms in versions.values()
        for digest in platforms.values()
    ]
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}", one) for one in digests)
    assert len(digests) == len(set(digests))


@pytest.mark.parametrize("minor", MINORS)
def test_versions_agree_with_the_release(minor):
    release = SELF_MANAGED_RELEASES[minor]
    by_name = {one.name: one.version for one in rows(minor, LINUX[0])}
    assert by_name["kubelet"] == by_name["kubeadm"] == by_name["kubectl"] == release.patch
    assert (by_name["containerd"], by_name["runc"]) == (release.containerd, release.runc)
    windows = {one.name: one.version for one in rows(minor, WINDOWS, optional=("kubectl", "kube-log-runner"))}
    assert {windows[name] for name in ("kubelet", "kube-proxy", "kubectl", "kube-log-runner")} == {release.patch}
    assert windows["containerd"] == release.containerd
    assert by_name["etcd"] == ETCD_TOOLS[release.etcd.rpartition(".")[0]]
    assert by_name["etcd"].rpartition(".")[0] == release.etcd.rpartition(".")[0]


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("kind", [*LINUX, WINDOWS])
def test_keys_urls_and_paths_are_unique_and_fit_the_system(minor, kind):
    artefacts = rows(minor, kind)
    assert len({one.key for one in artefacts}) == len(artefacts) == len({one.url for one in artefacts})
    paths = [install.path for one in artefacts for install in one.install]
    assert len(set(paths)) == len(paths)
    start = "C:\\" if kind.os == "windows" else "/"
    assert all(path.startswith(start) and "/\\" not in path for path in paths)
    assert all(one.url.startswith("https://") for one in artefacts)
    assert all(one.version.lstrip("v") in one.url or one.name == "cri-o" for one in artefacts)


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("kind", [one for one in LINUX if one.runtime == "containerd"])
def test_linux_programs_lie_where_no_package_manager_writes(minor, kind):
    """An upgrade of the system replaces files of ``/usr/bin`` and its like; a system may keep ``/usr`` for reading."""
    paths = [install.path for one in rows(minor, kind) for install in one.install]
    assert {path for path in paths if not path.startswith(("/usr/local/bin/", "/usr/local/sbin/", "/opt/"))} == set()
    assert {"/usr/local/bin/kubelet", "/usr/local/bin/kubeadm"} <= set(paths)


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("kind", LINUX)
def test_cni_plugins_are_unpacked_where_the_runtimes_look_for_them(minor, kind):
    (plugins,) = [one for one in rows(minor, kind) if one.name == "cni-plugins"]
    assert plugins.version == SELF_MANAGED_RELEASES[minor].cni_plugins
    assert plugins.digest.startswith("sha256:")
    assert {"/opt/cni/bin/bridge", "/opt/cni/bin/host-local", "/opt/cni/bin/loopback", "/opt/cni/bin/portmap"} <= {
        install.path for install in plugins.install
    }
    settings = tomllib.loads(containerd.configuration(SELF_MANAGED_RELEASES[minor].containerd, "pause"))
    assert settings["plugins"]["io.containerd.cri.v1.runtime"]["cni"]["bin_dirs"] == ["/opt/cni/bin"]
    assert tomllib.loads(crio.configuration("pause"))["crio"]["network"]["plugin_dirs"] == ["/opt/cni/bin/"]


@pytest.mark.parametrize("minor", MINORS)
@pytest.mark.parametrize("kind", [*LINUX, WINDOWS])
def test_every_node_has_crictl_of_its_minor_or_of_the_one_before(minor, kind):
    """Upstream publishes it some time after Kubernetes; one that is a minor older works."""
    (crictl,) = [one for one in rows(minor, kind) if one.name == "crictl"]
    assert 0 <= int(minor.split(".")[1]) - int(crictl.version.split(".")[1]) <= 1
    (install,) = crictl.install
    assert install.path == (r"C:\k\crictl.exe" if kind.os == "windows" else "/usr/local/bin/crictl")


@pytest.mark.parametrize("minor", MINORS)
def test_cri_o_is_of_the_minor_of_kubernetes(minor):
    """Its releases follow those of Kubernetes, and support no other; it is the project's own bundle."""
    (bundle,) = [one for one in rows(minor, NodeKind(runtime="cri-o")) if one.name == "cri-o"]
    assert bundle.version.rpartition(".")[0] == minor
    assert bundle.url == f"https://storage.googleapis.com/cri-o/artifacts/cri-o.amd64.v{bundle.version}.tar.gz"
    assert (bundle.digest or "").startswith("sha256:") == (SELF_MANAGED_RELEASES[minor].cri_o is not None)


def test_workers_get_neither_kubectl_nor_the_tools_of_etcd():
    names = {one.name for one in rows("1.36", NodeKind())}
    assert names == {"kubelet", "kubeadm", "containerd", "runc", "cni-plugins", "crictl", "ecr-credential-provider"}


def test_windows_takes_optional_files_only_when_asked():
    assert "kubectl" not in {one.name for one in rows("1.36", WINDOWS)}
    names = {one.name for one in rows("1.36", WINDOWS, optional=("kubectl", "kube-log-runner"))}
    assert {"kubectl", "kube-log-runner"} <= names
    found = check_artefacts("1.36", [WINDOWS], optional=("kube-log-runner",))
    assert [one.path[1] for one in found] == ["kube-log-runner-1.36.4-windows-amd64"]


def test_the_manifest_lists_every_file_of_a_mirror_once_with_its_place():
    manifest = mirror_manifest(["1.36"], [NodeKind(), NodeKind(role="control_plane"), WINDOWS], mirror="s3://m/p")
    names = [one["name"] for one in manifest]
    assert names == sorted(set(names))
    assert all(one["mirror"] == f"s3://m/p/{one['source'].removeprefix('https://')}" for one in manifest)
    assert all(one["digest"] for one in manifest)
    assert mirror_manifest(["1.36"], [WINDOWS])[0]["mirror"].startswith("github.com/")


@given(st.sampled_from(["https://m.test", "https://m.test/", "s3://b/p/", "http://m.test:8080/x"]))
def test_a_mirror_keeps_the_upstream_path_below_its_own(mirror):
    for one in rows("1.36", WINDOWS):
        url = mirrored(one.url, mirror)
        assert url.startswith(mirror.rstrip("/") + "/")
        assert url.endswith(one.url.removeprefix("https:/"))
        assert "//" not in url.partition("://")[2]
