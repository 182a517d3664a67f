"""The machine steps below a temporary root, with a real web server and stand-in commands."""

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
from winkube.node_agent.winkube_agent.downloads import DIGEST, place
from winkube.node_agent.winkube_agent.errors import AgentError
from winkube.node_agent.winkube_agent.machine import BUDGETS, Machine

from . import web as standin

FACTS = {"INSTANCE_ID": "i-0123456789abcdef0", "ZONE": "eu-west-1a", "PRIVATE_IP": "10.0.1.5", "SLOT": "cp-0",
         "PROVIDER_ID": "aws:///eu-west-1a/i-0123456789abcdef0"}  # fmt: skip
KUBELET = os.urandom(3 << 20)


def sha256(data):
    """The digest as artefacts have it."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def archive(members):
    """A tar.gz of names to bytes, or to a function that makes the member another kind."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            if callable(data):
                data(info)
                tar.addfile(info)
            else:
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return target.getvalue()


@pytest.fixture
def web():
    with standin.serving() as server:
        yield server


class Commands:
    """Stands in for the commands of the system; keeps the calls."""

    def __init__(self):
        self.calls = []
        self.failing = set()

    def __call__(self, call, **_):
        self.calls.append(" ".join(call))
        code = next((1 for one in self.failing if self.calls[-1].startswith(one)), 0)
        return subprocess.CompletedProcess(call, code, "", "it is broken\n" if code else "")


@pytest.fixture
def commands():
    return Commands()


@pytest.fixture
def make(tmp_path, commands):
    def machine(fetch=None, **document):
        whole = {"bucket": {"name": "state", "prefix": "clusterconfigs/dev/"}, "runtime": "containerd",
                 "deadlines": {"download_wait_seconds": 0.01, "download_attempts": 4}, **document}  # fmt: skip
        return Machine(whole, FACTS, fetch or no_bucket, tmp_path, commands)

    return machine


def no_bucket(bucket, key):
    """A bucket that nobody may read."""
    raise PermissionError(f"{bucket}/{key}")


def kubelet(web, digest=None, path="/usr/local/bin/kubelet"):
    """An artefact that is one file."""
    web.files.setdefault("/kubelet", KUBELET)
    return {"name": "kubelet-1", "url": f"{web.url}/kubelet", "digest": digest or sha256(KUBELET), "kind": "file",
            "install": [{"member": None, "path": path, "mode": "0755"}]}  # fmt: skip


def everything(root):
    """All files below a root, without the machine's own marks."""
    return sorted(str(one.relative_to(root)) for one in root.rglob("*") if one.is_file())


def test_a_file_is_downloaded_verified_and_installed_once(web, make, tmp_path):
    """The second time, also after a restart, nothing is downloaded."""
    make(artefacts=[kubelet(web)]).artefacts()
    target = tmp_path / "usr/local/bin/kubelet"
    assert target.read_bytes() == KUBELET
    assert target.stat().st_mode & 0o777 == 0o755
    make(artefacts=[kubelet(web)]).artefacts()
    assert web.paths() == ["/kubelet"]
    assert not [one for one in everything(tmp_path) if "part" in one or ".new" in one]


def test_a_file_that_was_changed_afterwards_is_brought_again(web, make, tmp_path):
    make(artefacts=[kubelet(web)]).artefacts()
    (tmp_path / "usr/local/bin/kubelet").write_bytes(b"half")
    make(artefacts=[kubelet(web)]).artefacts()
    assert (tmp_path / "usr/local/bin/kubelet").read_bytes() == KUBELET


def test_a_wrong_digest_leaves_nothing_and_says_file_expected_and_got(web, make, tmp_path):
    wrong = f"sha256:{'0' * 64}"
    with pytest.raises(AgentError) as caught:
        make(artefacts=[kubelet(web, wrong)]).artefacts()
    text = str(caught.value)
    assert "[WK-ART-020]" in text
    assert all(part in text for part in ("kubelet-1", f"{web.url}/kubelet", wrong, sha256(KUBELET), "it was deleted"))
    assert everything(tmp_path) == []


def test_a_new_version_with_a_wrong_digest_leaves_the_old_one(web, make, tmp_path):
    make(artefacts=[kubelet(web)]).artefacts()
    web.files["/kubelet"] = b"something else"
    with pytest.raises(AgentError):
        make(artefacts=[kubelet(web, f"sha256:{'1' * 64}")]).artefacts()
    assert (tmp_path / "usr/local/bin/kubelet").read_bytes() == KUBELET


@pytest.mark.parametrize("digest", ["", "sha256:", "md5:" + "0" * 32, None])
def test_nothing_is_downloaded_without_a_digest(web, make, digest):
    with pytest.raises(AgentError, match=r"no digest"):
        make(artefacts=[{**kubelet(web), "digest": digest}]).artefacts()
    assert web.paths() == []


def test_sha512_is_a_digest_too(web, make, tmp_path):
    digest = f"sha512:{hashlib.sha512(KUBELET).hexdigest()}"
    assert DIGEST.fullmatch(digest)
    make(artefacts=[kubelet(web, digest)]).artefacts()
    assert (tmp_path / "usr/local/bin/kubelet").exists()


def test_a_download_that_was_cut_is_continued_where_it_ended(web, make, tmp_path):
    web.broken = ["cut"]
    make(artefacts=[kubelet(web)]).artefacts()
    assert (tmp_path / "usr/local/bin/kubelet").read_bytes() == KUBELET
    ranges = [headers.get("Range") for _, _, headers in web.asked]
    assert ranges == [None, f"bytes={len(KUBELET) // 2}-"]


def test_a_part_of_something_else_is_thrown_away(web, make, tmp_path):
    """What lies there from before may be anything: it is verified with the rest."""
    folder = tmp_path / "var/lib/winkube/machine/artefacts"
    folder.mkdir(parents=True)
    (folder / f"kubelet-1-{sha256(KUBELET)[7:23]}.part").write_bytes(b"x" * 1000)
    make(artefacts=[kubelet(web)]).artefacts()
    assert (tmp_path / "usr/local/bin/kubelet").read_bytes() == KUBELET
    (tmp_path / "usr/local/bin/kubelet").unlink()
    (folder / f"kubelet-1-{sha256(KUBELET)[7:23]}.part").write_bytes(b"x" * (len(KUBELET) + 1))
    make(artefacts=[kubelet(web)]).artefacts()
    assert (tmp_path / "usr/local/bin/kubelet").read_bytes() == KUBELET


@pytest.mark.parametrize("trouble", [["500", "503", "close"], ["close", "cut", "500"]])
def test_a_server_in_trouble_is_asked_again(web, make, tmp_path, trouble):
    web.broken = trouble
    make(artefacts=[kubelet(web)]).artefacts()
    assert (tmp_path / "usr/local/bin/kubelet").read_bytes() == KUBELET
    assert len(web.paths()) == 4


@pytest.mark.parametrize(("trouble", "asked"), [(["500"] * 9, 4), (["404"] * 9, 1), (["403"] * 9, 1)])
def test_what_cannot_be_downloaded_is_told_with_its_url(web, make, trouble, asked):
    web.broken = trouble
    with pytest.raises(AgentError) as caught:
        make(artefacts=[kubelet(web)]).artefacts()
    assert "[WK-ART-021]" in str(caught.value)
    assert f"{web.url}/kubelet" in str(caught.value)
    assert f"HTTP {trouble[0]}" in str(caught.value)
    assert len(web.paths()) == asked


def test_one_mistake_does_not_stop_the_other_artefacts(web, make, tmp_path):
    lost = {**kubelet(web, path="/usr/local/bin/other"), "name": "other", "url": f"{web.url}/lost"}
    with pytest.raises(AgentError, match="lost"):
        make(artefacts=[lost, kubelet(web)]).artefacts()
    assert (tmp_path / "usr/local/bin/kubelet").exists()


@pytest.mark.parametrize("stream", [True, False])
def test_a_mirror_can_be_a_bucket(make, tmp_path, stream):
    asked = []

    def fetch(bucket, key):
        asked.append((bucket, key))
        return io.BytesIO(KUBELET) if stream else KUBELET

    one = {"name": "kubelet", "url": "s3://mirror/dl.k8s.io/kubelet", "digest": sha256(KUBELET), "kind": "file",
           "install": [{"member": None, "path": "/usr/local/bin/kubelet", "mode": "0755"}]}  # fmt: skip
    make(fetch, artefacts=[one]).artefacts()
    assert asked == [("mirror", "dl.k8s.io/kubelet")]
    assert (tmp_path / "usr/local/bin/kubelet").read_bytes() == KUBELET


def tar(web, data, *members):
    """An artefact that is an archive."""
    web.files["/a.tgz"] = data
    return {"name": "cni", "url": f"{web.url}/a.tgz", "digest": sha256(data), "kind": "tar.gz",
            "install": [{"member": one, "path": f"/opt/cni/bin/{Path(one).name}", "mode": "0755"}
                        for one in members]}  # fmt: skip


def test_only_named_members_leave_an_archive(web, make, tmp_path):
    """A member's own path does not matter: the document says where it goes."""
    data = archive({"./bridge": b"bridge", "./LICENSE": b"text", "../../etc/passwd": b"root", "/etc/shadow": b"x"})
    make(artefacts=[tar(web, data, "bridge")]).artefacts()
    assert (tmp_path / "opt/cni/bin/bridge").read_bytes() == b"bridge"
    assert [one for one in everything(tmp_path) if not one.startswith("var/lib/winkube")] == ["opt/cni/bin/bridge"]
    assert not (tmp_path.parent / "etc/passwd").exists()


def symbolic(info):
    """A member that points somewhere."""
    info.type, info.linkname = tarfile.SYMTYPE, "/etc/shadow"


def hard(info):
    """A member that is another one."""
    info.type, info.linkname = tarfile.LNKTYPE, "bridge"


def device(info):
    """A member that is no file."""
    info.type, info.devmajor, info.devminor = tarfile.CHRTYPE, 1, 3


@pytest.mark.parametrize("kind", [symbolic, hard, device])
def test_a_member_that_is_no_plain_file_is_refused(web, make, tmp_path, kind):
    data = archive({"bridge": b"bridge", "portmap": kind})
    with pytest.raises(AgentError, match="link where a file") as caught:
        make(artefacts=[tar(web, data, "portmap")]).artefacts()
    assert caught.value.rule.code == "WK-ART-022"
    assert not (tmp_path / "opt/cni/bin/portmap").exists()


def test_a_missing_member_and_a_broken_archive_are_refused(web, make):
    with pytest.raises(AgentError) as caught:
        make(artefacts=[tar(web, archive({"bridge": b""}), "bridge", "portmap")]).artefacts()
    assert (caught.value.rule.code, caught.value.got) == ("WK-ART-022", "portmap")
    for data in (b"no archive", archive({"bridge": os.urandom(100_000)})[:50_000]):
        with pytest.raises(AgentError, match="is not an archive"):
            make(artefacts=[tar(web, data, "bridge")]).artefacts()


@pytest.mark.parametrize("path", ["etc/passwd", "/etc/../../passwd", ""])
def test_a_path_that_climbs_is_refused(tmp_path, path):
    with pytest.raises(AgentError):
        place(tmp_path, path)


def test_files_are_filled_in_with_their_modes_and_written_only_when_they_differ(make, tmp_path):
    files = [
        {"path": "/etc/a.conf", "mode": "0640", "content": "id=${INSTANCE_ID} ip=${PRIVATE_IP} $HOME ${OTHER}\n"},
        {"path": "/etc/deep/er/b", "mode": "0755", "content": ""},
    ]
    make(files=files).files()
    target = tmp_path / "etc/a.conf"
    assert target.read_text() == "id=i-0123456789abcdef0 ip=10.0.1.5 $HOME ${OTHER}\n"
    assert [target.stat().st_mode & 0o777, (tmp_path / "etc/deep/er/b").stat().st_mode & 0o777] == [0o640, 0o755]
    before = target.stat().st_ino
    target.chmod(0o666)
    make(files=files).files()
    assert target.stat().st_ino == before
    assert target.stat().st_mode & 0o777 == 0o640


def test_secrets_come_from_the_bucket_and_are_for_root_alone(make, tmp_path, capsys):
    def fetch(bucket, key):
        return io.BytesIO(f"{bucket}:{key}".encode())

    make(fetch, secrets=[{"path": "/etc/kubernetes/pki/ca.key", "mode": "0600", "key": "pki/1/ca.key"}]).secrets()
    target = tmp_path / "etc/kubernetes/pki/ca.key"
    assert target.read_text() == "state:pki/1/ca.key"
    assert target.stat().st_mode & 0o777 == 0o600
    assert "state:pki" not in capsys.readouterr().out


def test_a_secret_that_cannot_be_read_is_told_with_its_key(make):
    with pytest.raises(AgentError) as caught:
        make(secrets=[{"path": "/etc/kubernetes/pki/ca.key", "key": "pki/1/ca.key"}]).secrets()
    assert caught.value.rule.code == "WK-ART-024"
    assert caught.value.got == "pki/1/ca.key (PermissionError)"


def test_kernel_settings_are_made_only_where_they_differ(make, tmp_path, commands):
    (tmp_path / "proc/sys/net/ipv4").mkdir(parents=True)
    (tmp_path / "proc/sys/net/ipv4/ip_forward").write_text("1\n")
    (tmp_path / "sys/module/br_netfilter").mkdir(parents=True)
    (tmp_path / "proc/swaps").write_text("Filename\tType\n/dev/sdb partition\n")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/fstab").write_text("/dev/sda1 / ext4 defaults 0 1\n/dev/sdb none swap sw 0 0\n#x none swap sw\n")
    machine = make(modules=["overlay", "br_netfilter"], sysctls={"net.ipv4.ip_forward": "1", "kernel.panic": "10"})
    machine.kernel()
    machine.kernel()
    assert commands.calls == ["modprobe overlay", "sysctl -w kernel.panic=10", "swapoff -a"] * 2
    assert (tmp_path / "etc/modules-load.d/90-winkube.conf").read_text() == "overlay\nbr_netfilter\n"
    assert "kernel.panic = 10\n" in (tmp_path / "etc/sysctl.d/90-winkube.conf").read_text()
    assert (tmp_path / "etc/fstab").read_text() == (
        "/dev/sda1 / ext4 defaults 0 1\n# winkube: /dev/sdb none swap sw 0 0\n#x none swap sw\n"
    )


def test_a_command_that_fails_is_told_with_what_it_said(make, commands):
    commands.failing = {"modprobe"}
    with pytest.raises(AgentError) as caught:
        make(modules=["overlay"]).kernel()
    assert (caught.value.rule.code, caught.value.got) == ("WK-ART-023", "it is broken")


SERVICES = ["containerd.service", "kubelet.service", "winkube-agent.service"]
UNIT = {"path": "/etc/systemd/system/containerd.service", "mode": "0644", "content": "[Service]\n"}


def test_only_services_whose_files_changed_are_started_again(make, commands):
    """And never the agent's own, which would end the agent."""
    machine = make(services=SERVICES, files=[UNIT])
    machine.files()
    machine.services()
    assert commands.calls == [
        "systemctl daemon-reload", "systemctl enable containerd.service", "systemctl restart containerd.service",
        "systemctl enable kubelet.service", "systemctl start kubelet.service", "crictl info --quiet",
    ]  # fmt: skip
    commands.calls.clear()
    machine.files()
    machine.services()
    assert commands.calls == [
        "systemctl enable containerd.service", "systemctl start containerd.service",
        "systemctl enable kubelet.service", "systemctl start kubelet.service", "crictl info --quiet",
    ]  # fmt: skip


def test_a_runtime_that_does_not_serve_the_kubelet_is_started_again(make, commands, monkeypatch, capsys):
    """As containerd is when it came up without its CRI service: systemd takes it for started."""
    monkeypatch.setattr("time.sleep", lambda seconds: commands.failing.clear())
    commands.failing = {"crictl info"}
    make(services=SERVICES).services()
    assert commands.calls[-3:] == ["crictl info --quiet", "systemctl restart containerd.service", "crictl info --quiet"]
    assert '"event": "started again", "service": "containerd.service"' in capsys.readouterr().out


def test_a_runtime_that_never_serves_the_kubelet_is_told_of(make, commands, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    commands.failing = {"crictl info"}
    with pytest.raises(AgentError) as told:
        make(services=SERVICES).services()
    assert "WK-ART-023" in str(told.value)
    assert "read journalctl -u containerd.service" in str(told.value)
    assert commands.calls.count("systemctl restart containerd.service") == 2


def test_a_new_binary_starts_its_service_again(web, make, commands):
    machine = make(services=SERVICES, artefacts=[{**kubelet(web), "name": "anything"}])
    machine.artefacts()
    machine.services()
    assert "systemctl restart kubelet.service" in commands.calls
    assert "systemctl start containerd.service" in commands.calls


def test_a_restart_is_not_lost_by_a_kill_between_the_file_and_the_service(make, commands):
    make(services=SERVICES, files=[UNIT]).files()
    machine = make(services=SERVICES, files=[UNIT])
    machine.files()
    machine.services()
    assert "systemctl restart containerd.service" in commands.calls


def test_images_are_pulled_only_when_they_are_not_there_and_do_not_stop_the_node(make, commands, capsys, monkeypatch):
    monkeypatch.setattr("winkube.node_agent.winkube_agent.machine.time.sleep", lambda _: None)
    commands.failing = {"crictl inspecti --quiet b", "crictl inspecti --quiet c", "crictl pull c"}
    make(images=["a", "b", "c"]).images()
    assert sorted(set(commands.calls)) == [
        "crictl inspecti --quiet a", "crictl inspecti --quiet b", "crictl inspecti --quiet c", "crictl pull b",
        "crictl pull c",
    ]  # fmt: skip
    assert commands.calls.count("crictl pull c") == 3
    assert '"image not pulled", "image": "c"' in capsys.readouterr().out


def test_an_archive_of_images_is_imported_once(make, commands, tmp_path):
    (tmp_path / "images.tar").write_bytes(b"images")
    make(images=["/images.tar"]).images()
    make(images=["/images.tar"]).images()
    assert commands.calls == [f"ctr --namespace k8s.io images import {tmp_path}/images.tar"]
    with pytest.raises(AgentError) as caught:
        make(images=["/images.tar"], runtime="cri-o").images()
    assert caught.value.rule.code == "WK-ART-025"


def test_every_phase_is_logged_with_its_budget(make, capsys):
    machine = make(deadlines={"kernel_budget_seconds": 0})
    machine.prepare()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    phases = [line for line in lines if line["event"] == "phase"]
    assert [line["phase"] for line in phases] == list(BUDGETS) == list(machine.durations)
    assert [line["within_budget"] for line in phases] == [False] + [True] * 5
    assert [line["budget_seconds"] for line in phases] == [0, *list(BUDGETS.values())[1:]]


PROGRAM = """
import json, subprocess, sys
from winkube.node_agent.winkube_agent.machine import Machine
document, root = json.loads(sys.argv[1]), sys.argv[2]
run = lambda call, **_: subprocess.CompletedProcess(call, 0, "", "")
Machine(document, {}, lambda bucket, key: b"secret", root, run).prepare()
"""
PHASES = list(BUDGETS)


@pytest.mark.parametrize("border", [f"machine {phase}{side}" for phase in PHASES for side in ("", "!")])
def test_a_kill_at_any_border_is_made_good_by_the_next_start(web, tmp_path, border):
    """SIGKILL before or after a phase; then a start without a kill; all is there, and nothing half."""
    document = {
        "bucket": {"name": "b"}, "artefacts": [kubelet(web)], "services": SERVICES, "files": [UNIT],
        "secrets": [{"path": "/etc/ca.key", "key": "k"}], "modules": [], "sysctls": {}, "images": [],
        "runtime": "containerd",
    }  # fmt: skip
    call = [sys.executable, "-c", PROGRAM, json.dumps(document), str(tmp_path)]
    killed = subprocess.run(call, env={**os.environ, "WINKUBE_AGENT_KILL_AT": border}, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    subprocess.run(call, capture_output=True, check=True)
    assert (tmp_path / "usr/local/bin/kubelet").read_bytes() == KUBELET
    assert (tmp_path / "etc/ca.key").read_bytes() == b"secret"
    assert not [one for one in everything(tmp_path) if one.endswith((".new", ".part", "changed.json"))]
    assert web.paths() == ["/kubelet"]


def test_a_kill_in_the_middle_of_a_download_is_continued_by_the_next_start(web, tmp_path):
    """SIGKILL after half of the file: nothing is installed, and the other half is asked for."""
    document = {"bucket": {"name": "b"}, "artefacts": [kubelet(web)], "runtime": "containerd"}
    call = [sys.executable, "-c", PROGRAM, json.dumps(document), str(tmp_path)]
    web.broken = ["hang"]
    process = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert web.hanging.wait(20)
    part = tmp_path / f"var/lib/winkube/machine/artefacts/kubelet-1-{sha256(KUBELET)[7:23]}.part"
    until = time.monotonic() + 60
    while (not part.exists() or part.stat().st_size == 0) and time.monotonic() < until:
        time.sleep(0.01)
    process.kill()
    process.wait(10)
    web.going_on.set()
    assert not (tmp_path / "usr/local/bin/kubelet").exists()
    subprocess.run(call, capture_output=True, check=True)
    assert (tmp_path / "usr/local/bin/kubelet").read_bytes() == KUBELET
    assert web.asked[-1][2]["Range"].startswith("bytes=")
