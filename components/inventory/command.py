"""``winkube inventory``: an inventory of Ansible from a stack's outputs."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.mistakes import Mistakes
from .ansible import asking_inventory, fixed_inventory
from .machines import is_object, outputs_of, read_groups, read_machines

DONE, WRONG = 0, 2
ENDING = "aws_ec2.yml"


def add_inventory(commands: Any) -> None:
    """Add the command to a parser's sub-commands."""
    parser = commands.add_parser(
        "inventory", help="write an Ansible inventory of a stack's Linux machines (Kubespray)",
        description="Fixed machines (the output `machines`) become an inventory.ini of Kubespray; the Auto Scaling "
        "groups of a self-managed cluster become an inventory that asks EC2.",
    )  # fmt: skip
    parser.add_argument("file", help="what `pulumi stack output --json` or `winkube preview --format json` wrote; "
                        "- for standard input")  # fmt: skip
    parser.add_argument("--region", help="region of the machines, where outputs do not say it")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write to a file instead of the terminal")
    parser.set_defaults(run=run_inventory)


def run_inventory(options: argparse.Namespace) -> int:
    """Write the inventory, or say what is wrong."""
    try:
        text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text(encoding="utf-8")
        document: Any = json.loads(text)
    except (OSError, ValueError) as error:
        return _stop(f"{options.file} cannot be read: {error}; write it with `pulumi stack output --json`")
    if not is_object(document):
        return _stop(f"{options.file} holds no outputs; write it with `pulumi stack output --json`")
    made, found = inventory(document, options.region)
    if found:
        return _stop("\n  ".join([f"no inventory can be made of {options.file}:", *(it.text() for it in found)]))
    asks = made.startswith("# ") and "plugin: " in made
    if options.output is None:
        sys.stdout.write(made)
        return DONE
    if asks and not options.output.name.endswith(ENDING):
        return _stop(f'Ansible knows this inventory by its name: call it "{options.output.stem}.{ENDING}"')
    options.output.write_text(made, encoding="utf-8")
    return DONE


def inventory(document: Mapping[str, Any], region: str | None = None) -> tuple[str, Mistakes]:
    """The inventory of a stack, and what is wrong with what it says."""
    if "machines" in outputs_of(document):
        machines, found = read_machines(outputs_of(document))
        return ("" if found else fixed_inventory(machines)), found
    groups, found = read_groups(document, region)
    return ("" if groups is None else asking_inventory(groups)), found


def _stop(message: str) -> int:
    print(f"error: {message}", file=sys.stderr)
    return WRONG
