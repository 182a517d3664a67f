"""Runs a program as the CLI's language host does: in a process of its own, with the SDK's runtime as it is."""

import argparse
import asyncio
import logging
import os
import runpy
import sys
import traceback

import pulumi
from pulumi.runtime import config, run_in_stack, settings


def main() -> int:
    parser = argparse.ArgumentParser()
    for name in ("monitor", "engine", "project", "stack", "preview", "program"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    config.set_all_config(config.get_config_env(), config.get_config_secret_keys_env())
    settings.configure(
        settings.Settings(
            monitor=options.monitor, engine=options.engine, project=options.project, stack=options.stack,
            parallel=16, dry_run=options.preview == "true", organization="organization",
            root_directory=options.program,
        )
    )  # fmt: skip
    # A failed Output fails all that wait for it: it is told once, below.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    os.chdir(options.program)
    sys.path.insert(0, options.program)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    def run() -> None:
        runpy.run_path(options.program, run_name="__main__")

    try:
        loop.run_until_complete(run_in_stack(run))
    except pulumi.RunError as error:
        pulumi.log.error(str(error))
        return 1
    except Exception:
        pulumi.log.error(traceback.format_exc())
        return 1
    finally:
        loop.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
