"""``python3 agent.pyz run|token|backup|leave|status``: ``run`` is the service, the others are for people."""

import argparse
import os
import sys
from pathlib import Path
from typing import Optional

DOCUMENT = "/etc/winkube/node.json"


def main(arguments: Optional[list[str]] = None) -> int:
    """Run a command; 0 when it worked, 1 when it failed, with the reason as a line of the log."""
    parser = argparse.ArgumentParser(prog="agent.pyz", description="The winkube agent of a Linux node.")
    parser.add_argument("command", choices=("run", "token", "backup", "leave", "status"),
                        help="run: the service; token: a new join token; backup: a backup of etcd now; "
                        "leave: leave the cluster; status: what this node is doing")  # fmt: skip
    parser.add_argument("--document", type=Path, help=f"the node document (default {DOCUMENT})")
    chosen = parser.parse_args(arguments)

    from .errors import AgentError
    from .log import log
    from .node import ROOT

    root = Path(os.environ.get(ROOT, "/"))
    try:
        if chosen.command == "status":
            sys.stdout.write((root / "var/lib/winkube/status.json").read_text(encoding="utf-8"))
            return 0
        _do(str(chosen.command), chosen.document or root / DOCUMENT.lstrip("/"))
    except AgentError as error:
        log("failed", command=chosen.command, problem=str(error))
        return 1
    except FileNotFoundError as error:
        log("failed", command=chosen.command, problem=f"{error.filename} is missing: the agent never ran here")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _do(command: str, path: Path) -> None:
    from .agent import Agent
    from .document import read
    from .join_token import LEADER, TokenKeeper
    from .leave import leave
    from .log import log

    agent = Agent(read(path), exclusive=command == "run")
    if command == "run":
        agent.run()
    elif command == "token":
        TokenKeeper(agent.store, agent.node).refresh(agent.store.read(LEADER))
    elif command == "backup":
        log("backup", key=agent.make_backup().key)
    else:
        leave(agent.node, agent.store, agent.state)


if __name__ == "__main__":
    sys.exit(main())
