"""``winkube cluster``: status, kubeconfig, roll, backup, restore."""

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

DONE, UNHEALTHY, WRONG = 0, 1, 2
"""Exit codes: done, or healthy; not healthy; the command could not be carried out."""


def add_cluster(commands: Any) -> None:
    """Add the group of commands to a parser's sub-commands."""
    cluster = commands.add_parser("cluster", help="look after a self-managed cluster: status, roll, backup, restore",
                                  epilog="Exit codes: 0 done, 1 not healthy, 2 could not be done.")  # fmt: skip
    inner = cluster.add_subparsers(title="commands", required=True, metavar="COMMAND")
    status = _add(inner, "status", "show slots, machines, certificates and backups", _status)
    status.add_argument("--format", choices=("table", "json"), default="table", help="how to show it (default: table)")
    kubeconfig = _add(inner, "kubeconfig", "write the kubeconfig of a stack's administrator", _kubeconfig, aws=False)
    kubeconfig.add_argument("--stack", required=True, help="the Pulumi stack of the cluster")
    kubeconfig.add_argument("--program", type=Path, default=Path(), metavar="DIR", help="folder with Pulumi.yaml")
    kubeconfig.add_argument("--output", type=Path, required=True, metavar="FILE",
                            help="file to write, readable by you alone")  # fmt: skip
    roll = _add(inner, "roll", "replace machines one slot at a time, behind health gates", _roll)
    roll.add_argument("--all", action="store_true", help="also those that are up to date")
    roll.add_argument("--slot", help="this one alone, such as cp-1")
    roll.add_argument("--timeout-minutes", type=float, default=30, help="for the new machine of a slot (default: 30)")
    _add(inner, "backup", "make a backup of etcd now", _backup)
    restore = _add(inner, "restore", "list backups, and restore one of them", _restore)
    restore.add_argument(
        "--backup", metavar="KEY", help="the backup, or the beginning of its name (default: the newest)"
    )
    restore.add_argument("--list", action="store_true", help="list them and stop")
    restore.add_argument("--yes", metavar="NAME", help="the cluster's name once more, instead of being asked for it")


def _add(commands: Any, word: str, text: str, run: Callable[[argparse.Namespace], int], *, aws: bool = True) -> Any:
    parser = commands.add_parser(word, help=text, description=text)
    if aws:
        parser.add_argument("name", help="the cluster's name, such as prod.example.com")
        parser.add_argument("--region", help="the region (default: that of the AWS configuration)")

    def carried_out(options: argparse.Namespace) -> int:
        from .clients import OpsError, aws_problem

        try:
            return run(options)
        except OpsError as error:
            told = str(error)
        except Exception as error:
            told = aws_problem(error)
            if told is None:
                raise
        print(f"error: {told}", file=sys.stderr)
        return WRONG

    parser.set_defaults(run=carried_out)
    return parser


def _status(options: argparse.Namespace) -> int:
    from .clients import Clients
    from .cluster import find
    from .show import as_json, as_table

    cluster = find(Clients(options.region), options.name)
    print(as_json(cluster) if options.format == "json" else as_table(cluster))
    return UNHEALTHY if cluster.faults else DONE


def _kubeconfig(options: argparse.Namespace) -> int:
    from .clients import OpsError

    pulumi = shutil.which("pulumi")
    if pulumi is None:
        raise OpsError("the kubeconfig is a secret of the Pulumi state: install the Pulumi CLI to read it")
    command = [pulumi, "stack", "output", "kubeconfig", "--show-secrets", "--stack", options.stack,
               "--cwd", str(options.program), "--non-interactive"]  # fmt: skip
    answer = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
    if answer.returncode:
        raise OpsError(f"pulumi could not read it: {answer.stderr.strip()}")
    # Made readable by its owner alone before anything is in it.
    path: Path = options.output
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(answer.stdout)
    print(f"written to {path}; its certificate is short-lived, pulumi up renews it", file=sys.stderr)
    return DONE


def _roll(options: argparse.Namespace) -> int:
    from .actions import Patience, roll
    from .clients import Clients
    from .show import Progress

    patience = Patience(slot=options.timeout_minutes * 60)
    with Progress() as say:
        rolled = [slot.name for slot in roll(Clients(options.region), options.name, every=options.all,
                                             only=options.slot, say=say, patience=patience)]  # fmt: skip
    print(f"rolled: {', '.join(rolled)}" if rolled else "nothing to roll: every machine is up to date")
    return DONE


def _backup(options: argparse.Namespace) -> int:
    from .actions import Patience, backup
    from .clients import Clients
    from .show import Progress

    with Progress() as say:
        made = backup(Clients(options.region), options.name, say=say, patience=Patience())
    print(made.key)
    return DONE


def _restore(options: argparse.Namespace) -> int:
    from .actions import restore
    from .clients import Clients, OpsError
    from .cluster import find
    from .show import backups_table

    clients = Clients(options.region)
    cluster = find(clients, options.name)
    if options.list or not cluster.backups:
        print(backups_table(cluster))
        return DONE if cluster.backups else UNHEALTHY
    wanted: str = options.backup or ""
    chosen = next((it for it in cluster.backups if wanted in (it.key, "") or it.name.startswith(wanted)), None)
    if chosen is None:
        raise OpsError(f"there is no backup {wanted}: see them with --list")
    print(f"{chosen.key}\nof {chosen.taken:%Y-%m-%d %H:%M:%S} UTC, revision {chosen.revision}: what was written to the "
          "cluster since is lost.", file=sys.stderr)  # fmt: skip
    if (options.yes or _asked("Type the cluster's name to restore it: ")) != cluster.name:
        raise OpsError("not restored: that is not the cluster's name")
    print(f"s3://{cluster.bucket}/{restore(clients, options.name, chosen)}")
    return DONE


def _asked(question: str) -> str:
    try:
        return input(question).strip()
    except EOFError:
        return ""
