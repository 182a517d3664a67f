"""``python -m tests.boot [scenario…|all|up|prepare]``: boots clusters on this machine, in namespaces of their own."""

import argparse
import os
import signal
import sys

from .bed import prepare
from .needs import missing
from .scenarios import SCENARIOS, run

INSIDE = "WINKUBE_BOOT_INSIDE"


def main() -> int:
    """Run scenarios; ``up`` leaves a cluster running; ``prepare`` only builds what runs, where a machine could boot."""
    parser = argparse.ArgumentParser(prog="python -m tests.boot", description=main.__doc__)
    parser.add_argument(
        "scenarios",
        nargs="*",
        metavar="scenario",
        help=f"up, prepare, all, or some of {', '.join(SCENARIOS)}; after the first boot, which always runs",
    )
    parser.add_argument("--kills", action="store_true", help="kill each agent at each of its steps of the first boot")
    parser.add_argument("--stack", default="kubeadm-dev")
    parser.add_argument("--slots", type=int, default=1)
    parser.add_argument("--minor", default="1.36")
    options = parser.parse_args()
    if unknown := set(options.scenarios) - {*SCENARIOS, "all", "up", "prepare", "first-boot"}:
        parser.error(f"there is no scenario {', '.join(sorted(unknown))}; there are: {', '.join(SCENARIOS)}")
    only_prepare = options.scenarios == ["prepare"]
    if lacking := missing():
        print("no machine can boot here:", *lacking, sep="\n  ", file=sys.stderr)
        return 0 if only_prepare else 2
    if INSIDE not in os.environ:
        prepare(options.minor)  # the namespace has no way out
        if only_prepare:
            return 0
        # Everything that is made dies with this process, whatever ends it.
        os.environ[INSIDE] = "1"
        command = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable,
                   "-m", "tests.boot", *sys.argv[1:]]  # fmt: skip
        os.execvp(command[0], command)  # noqa: S606
    # The first process of a namespace ignores what it does not ask for.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
