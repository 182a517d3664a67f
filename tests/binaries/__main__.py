"""``python -m tests.binaries [--list] [--all] [set…]``: build what the tests use, with progress on stderr."""

import argparse
import fnmatch
import sys
import time

from .build import BuildError, GoMissingError, built, ensure, folder
from .recipes import RECIPES


def main() -> int:
    """Build the sets that are named (shell patterns over ``set-version[-windows]``), else those the tests use."""
    parser = argparse.ArgumentParser(prog="python -m tests.binaries", description=main.__doc__)
    parser.add_argument(
        "sets", nargs="*", metavar="set", help="such as etcd, kubernetes-v1.36*, kubernetes-node-*-windows"
    )
    parser.add_argument("--all", action="store_true", help="also what the default tests do not need")
    parser.add_argument("--if-possible", action="store_true", help="without Go only say so: the tests then skip")
    parser.add_argument("--list", action="store_true", help="only say what there is")
    options = parser.parse_args()
    chosen = [
        recipe
        for recipe in RECIPES
        if any(recipe.set == name or fnmatch.fnmatch(recipe.title, name) for name in options.sets)
        or (not options.sets and (recipe.default or options.all))
    ]
    if not chosen:
        parser.error(f"no set is called so; there are: {', '.join(recipe.title for recipe in RECIPES)}")
    if options.list:
        for recipe in chosen:
            state = folder(recipe) if built(recipe) else "not built"
            print(f"{recipe.title:42} {recipe.needs:28} {', '.join(recipe.packages)}: {state}")
        return 0
    started = time.monotonic()
    try:
        for recipe in chosen:
            ensure(recipe, lambda line: print(line, file=sys.stderr, flush=True))
    except GoMissingError as error:
        print(error, file=sys.stderr)
        return 0 if options.if_possible else 1
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{len(chosen)} sets are there ({time.monotonic() - started:.0f} s)", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
