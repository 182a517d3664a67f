"""The calls that the agent makes of kubeadm, as they stand on the command line."""

from pathlib import Path
from typing import Any

import pytest

from tests.node_agent.package import load
from tests.node_agent.test_parts import valid

document, node = load("document"), load("node")
FACTS = {"INSTANCE_ID": "i-0123456789abcdef0", "PRIVATE_IP": "10.0.0.7", "SLOT": "cp-0", "PROVIDER_ID": "aws:///x"}
TOKEN = "abcdef.0123456789abcdef"


class Recorded:
    """Stands in for the commands of a node, and keeps their words."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []

    def run(self, *call: str, **_: Any) -> str:
        """As if all went well; ``kubeadm token create`` says its token."""
        self.calls.append(call)
        return TOKEN


@pytest.fixture
def commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recorded:
    monkeypatch.setenv("WINKUBE_AGENT_ROOT", str(tmp_path))
    return Recorded()


def flags(call: tuple[str, ...]) -> dict[str, str]:
    """The flags of a call with their values."""
    return {name: value for name, _, value in (word.partition("=") for word in call if word.startswith("--"))}


def test_kubeadm_is_told_by_a_file_and_never_by_flags(commands: Recorded, tmp_path: Path) -> None:
    """Flags that a file excludes, such as ``--certificate-key``, and those that take lists apart, are in no call."""
    one = node.Node(document.parse(valid()), FACTS, commands)
    one.init(lambda: None)
    one.init(lambda: None, over_data=True)
    one.finish_init()
    one.join(TOKEN)
    one.finish_join()
    one.make_authorities()
    one.ensure_clients()
    calls = [call for call in commands.calls if call[:2] in (("kubeadm", "init"), ("kubeadm", "join"))]
    home = tmp_path / "var/lib/winkube"
    assert calls[0] == ("kubeadm", "init", f"--config={home}/kubeadm-init.yaml")
    assert ("kubeadm", "join", f"--config={home}/kubeadm-join.yaml") in calls
    assert len(calls) > 10
    for call in calls:
        given = flags(call)
        assert given.keys() <= {"--config", "--ignore-preflight-errors", "--kubeconfig-dir"}
        assert given["--config"].startswith(f"{home}/kubeadm-")


def test_a_token_is_short_lived_and_never_on_a_command_line(commands: Recorded) -> None:
    """kubeadm makes it; whoever lists the processes of a node does not see it."""
    one = node.Node(document.parse(valid()), FACTS, commands)
    assert one.new_token(3600) == TOKEN
    one.join(TOKEN)
    assert flags(commands.calls[0])["--ttl"] == "3600s"
    assert not any(TOKEN in word for call in commands.calls for word in call)
