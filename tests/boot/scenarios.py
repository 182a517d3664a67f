"""What machines go through."""

import argparse
import json
import sys
import time
from typing import Any

from .bed import Bed


def run(options: argparse.Namespace) -> int:
    """Boot, and then the scenarios one after the other on the same cluster."""
    bed = Bed(options.stack, options.minor, options.slots)
    try:
        first_boot(bed, options.slots)
        if "up" in options.scenarios:
            first = next(iter(bed.machines.values()))
            print(f"nsenter -t {first.init} -a  # a shell on {first.instance}; interrupt to end", file=sys.stderr)
            while True:
                time.sleep(1)
    except BaseException:
        report(bed)
        raise
    finally:
        bed.close()
    return 0


def first_boot(bed: Bed, slots: int) -> None:
    """All slots and one worker at once, until every node is Ready."""
    bed.stand_in_for_controllers()
    began = time.monotonic()
    for number in range(slots):
        bed.launch(f"cp-{number}")
    bed.launch("linux")
    bed.wait("API behind the balancer's name", lambda: bed.client.request("GET", "/readyz"), 600)
    bed.wait("namespace", lambda: bed.client.list("v1", "Namespace"), 60)
    refused = bed.apply_objects()
    for one in refused:
        bed.say("REFUSED", what=one)
    bed.wait("nodes Ready", lambda: len(bed.ready()) == slots + 1, 600)
    bed.say("first boot", seconds=round(time.monotonic() - began, 1))


def report(bed: Bed) -> None:
    """Everything that helps to see what went wrong."""
    print(json.dumps(bed.status(), indent=1)[:4000], file=sys.stderr)
    for machine in bed.machines.values():
        print(f"=== {machine.instance}", file=sys.stderr)
        try:
            print(
                machine.run("journalctl", "-b", "-o", "cat", "--no-pager", "-u", "winkube-agent", "-n", "60"),
                file=sys.stderr,
            )
            print(
                machine.run("journalctl", "-b", "--no-pager", "-u", "kubelet", "-u", "containerd", "-n", "60"),
                file=sys.stderr,
            )
        except Exception as error:
            print(error, file=sys.stderr)


def lines(machine: Any) -> list[dict[str, Any]]:
    """What the agent of a machine logged."""
    found: list[dict[str, Any]] = []
    for line in machine.console.read_text(errors="replace").splitlines():
        at = line.find("{")
        if at >= 0:
            try:
                found.append(json.loads(line[at:]))
            except ValueError:
                continue
    return found
