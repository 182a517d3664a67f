"""The proxy of nodes: its form, and what is written for it on Windows and on Amazon Linux 2023."""

import re
import subprocess
import sys
from collections.abc import Callable
from email import message_from_string
from pathlib import Path
from typing import Any

import pytest
from winkube.ec2.proxy import UNITS, Proxy, check_proxy, proxy_commands, proxy_script
from winkube.eks.bootstrap import Bootstrap, al2023_user_data
from winkube.eks.group_options import check_group_options, managed_user_data
from winkube.eks.node_groups import EksLinuxNodeGroupArgs, EksWindowsNodeGroupArgs
from winkube.eks.target import EksTarget

PROXY = Proxy(https="http://p:3128", http="http://q:80", no_proxy=(".corp.example.com",))
TARGET = EksTarget(
    name="dev", kubernetes_version="1.36", endpoint="https://dev.eks", certificate_authority="Q0E=",
    service_cidr="10.100.0.0/16", security_group_id="sg-1",
)  # fmt: skip
LINUX = EksLinuxNodeGroupArgs(name="system", cluster=TARGET, subnet_ids=["subnet-1"], proxy=PROXY)
DIRECT = {
    "localhost", "127.0.0.1", "169.254.169.254", ".svc", ".cluster.local", ".internal", ".eks.amazonaws.com",
    ".eks.amazonaws.com.cn", "10.100.0.0/16", ".corp.example.com",
}  # fmt: skip


def shell_of(text: str) -> str:
    """The one shell part of a MIME text."""
    payload: Any = message_from_string(text).get_payload()
    (script,) = [part.get_payload() for part in payload if part.get_content_type() == "text/x-shellscript"]
    return script


def managed() -> str:
    return shell_of(managed_user_data(LINUX, TARGET) or "")


def self_started() -> str:
    node = Bootstrap(
        cluster_name="dev", endpoint="https://dev.eks", certificate_authority="Q0E=", service_cidr="10.100.0.0/16",
        dns_cluster_ip="10.100.0.10", proxy=PROXY, before=("echo \"$HTTPS_PROXY\"",),
    )  # fmt: skip
    return shell_of(al2023_user_data(node, {}))


@pytest.mark.parametrize("script", [managed, self_started])
def test_the_shell_part_is_good_shell(script: Callable[[], str], tmp_path: Path):
    """shellcheck has nothing to say about it."""
    file = tmp_path / "part.sh"
    file.write_text(script())
    tool = Path(sys.executable).parent / "shellcheck"
    done = subprocess.run([tool, "--shell=bash", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def run(tmp_path: Path, *, nodeadm_failed: bool) -> tuple[str, list[str]]:
    """The shell part, run with stand-ins for the metadata service and systemd: its output, and systemd's commands."""
    tools, calls = tmp_path / "bin", tmp_path / "calls"
    tools.mkdir()
    calls.touch()
    stand_ins = {
        "curl": 'case "${*: -1}" in */token) echo t;; */mac) echo 0a:1b;; */0a:1b/vpc-ipv4-cidr-blocks) '
        "printf '10.0.0.0/16\\n100.64.0.0/16\\n';; *) exit 22;; esac",
        "systemctl": f'echo "$*" >> {calls}; case "$*" in *is-failed*) exit {0 if nodeadm_failed else 1};; esac',
    }
    for name, body in stand_ins.items():
        (tools / name).write_text(f"#!/bin/bash\n{body}\n")
        (tools / name).chmod(0o755)
    (tmp_path / "etc").mkdir()
    done = subprocess.run(
        ["bash", "-c", self_started().replace("/etc/", f"{tmp_path}/etc/")],
        env={"PATH": f"{tools}:/usr/bin:/bin"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, calls.read_text().splitlines()


def test_a_node_of_amazon_linux_gets_the_proxy_everywhere(tmp_path: Path):
    """Units that join the node, logins and the group's own commands; the VPC's ranges are reached directly."""
    output, calls = run(tmp_path, nodeadm_failed=False)
    assert output == "http://p:3128\n"
    lines = dict(line.split("=", 1) for line in (tmp_path / "etc/proxy.env").read_text().splitlines())
    assert lines["HTTPS_PROXY"] == lines["https_proxy"] == '"http://p:3128"'
    assert lines["HTTP_PROXY"] == lines["http_proxy"] == '"http://q:80"'
    assert lines["NO_PROXY"] == lines["no_proxy"]
    assert DIRECT | {"10.0.0.0/16", "100.64.0.0/16"} <= set(lines["NO_PROXY"].strip('"').split(","))
    assert (tmp_path / "etc/environment").read_text() == (tmp_path / "etc/proxy.env").read_text()
    for unit in UNITS:
        drop_in = tmp_path / f"etc/systemd/system/{unit}.service.d/proxy.conf"
        assert drop_in.read_text() == f"[Service]\nEnvironmentFile={tmp_path}/etc/proxy.env\n"
    assert {"containerd", "kubelet"} <= set(UNITS)
    assert "daemon-reload" in calls
    assert not [call for call in calls if "nodeadm-run" in call]


def test_nodeadm_starts_again_where_it_failed_without_the_proxy(tmp_path: Path):
    """Its first half runs before user data; the second waits for the end of user data, so nobody waits for it."""
    _, calls = run(tmp_path, nodeadm_failed=True)
    assert calls[-2:] == ["start nodeadm-config.service", "--no-block start nodeadm-run.service"]
    assert calls.index("daemon-reload") < calls.index("start nodeadm-config.service")


def test_windows_reaches_its_vpc_directly():
    """The ranges come from the metadata service and are joined to what is known beforehand."""
    commands = proxy_commands(PROXY, "10.100.0.0/16")
    (line,) = [command for command in commands if command.startswith("$env:NO_PROXY")]
    known = re.search(r"@\('([^']*)'\)", line)
    assert known
    assert set(known[1].split(",")) >= DIRECT
    assert "$ranges" in line
    ranges = next(index for index, command in enumerate(commands) if command.startswith("$ranges"))
    assert ranges < commands.index(line)


def test_groups_of_either_start_take_a_proxy():
    """Managed and self-managed ones, on both systems."""
    windows = EksWindowsNodeGroupArgs(name="windows", cluster=TARGET, subnet_ids=["subnet-1"], proxy=PROXY)
    assert not check_group_options(LINUX, TARGET)
    assert not check_group_options(windows, TARGET)
    assert "SetEnvironmentVariable('NO_PROXY'" in (managed_user_data(windows, TARGET) or "")


@pytest.mark.parametrize(
    ("proxy", "path", "got", "remedy"),
    [
        (Proxy(https="p:3128"), ("proxy", "https"), "p:3128", 'write "http://p:3128"'),
        (Proxy(https="http://p:1 "), ("proxy", "https"), "http://p:1 ", 'write "http://p:1"'),
        (Proxy(https="http://p", http="http://$(id)"), ("proxy", "http"), "http://$(id)",
         'write "http://proxy.example.com:3128"'),
        (Proxy(https="http://p", no_proxy=("a,b",)), ("proxy", "no_proxy", 0), "a,b", ".example.com"),
        (Proxy(https="http://p", no_proxy=("x", "it's")), ("proxy", "no_proxy", 1), "it's", "one per entry"),
    ],
)  # fmt: skip
def test_a_proxy_has_a_form(proxy: Proxy, path: tuple[str | int, ...], got: str, remedy: str):
    """WK-EKS-088 at the field, with the address that was probably meant."""
    (mistake,) = check_proxy(proxy)
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-088", path, got)
    assert remedy in mistake.remedy


def test_a_wrong_proxy_is_told_with_the_group():
    """The check is part of the group's."""
    (mistake,) = check_group_options(
        EksLinuxNodeGroupArgs(name="system", cluster=TARGET, subnet_ids=["subnet-1"], proxy=Proxy(https="p")), TARGET
    )
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-088", ("proxy", "https"))


def test_the_script_is_short_enough_for_commands_beside_it():
    """User data has 16 KiB."""
    assert len("\n".join(proxy_script(PROXY, "10.100.0.0/16"))) < 2048
