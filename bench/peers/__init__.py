"""The same shapes in AWS CDK and cdk8s, measured in the same run; left out, in words, where they cannot be had."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def peers(folder: Path, runs: int) -> Iterator[dict[str, Any]]:
    """What is measured of the peers, as the arguments of a process; they write into ``folder``."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        print("peers are not measured: they need node and npm", file=sys.stderr)
        return
    modules = _installed(npm)
    if modules is None:
        return
    environment = {**os.environ, "NODE_PATH": str(modules), "CDK_DISABLE_CLI_TELEMETRY": "true", "CI": "true"}
    for groups in (2, 1000):
        output = folder / f"cdk-{groups}"
        app = [node, str(HERE / "cdk.js"), str(groups), str(output)]
        # What a person gives: it runs the app, and reads what that wrote.
        synth = [node, str(modules / "aws-cdk" / "bin" / "cdk"), "synth", "--quiet", "--no-notices",
                 "--no-version-reporting", "--app", shlex.join(app), "--output", str(output)]  # fmt: skip
        for how, value in (("with", "true"), ("without", "false")):
            named = {"runs": runs, "environment": {**environment, "CDK_VALIDATION": value}}
            yield {"name": f"AWS CDK, {groups} groups, {how} validation", "command": app, **named}
            command = [*synth, f"--validation={value}"]
            yield {"name": f"cdk synth, {groups} groups, {how} validation", "command": command, **named}
    command = [node, str(HERE / "cdk8s.js"), "1000", str(folder / "cdk8s")]
    yield {"name": "cdk8s, 1000 objects", "command": command, "runs": runs, "environment": environment}


def _installed(npm: str) -> Path | None:
    """The modules of the lock file, in the user's cache; None, in words, where they cannot be had."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "winkube" / "peers"
    lock = (HERE / "package-lock.json").read_bytes()
    stamp = cache / "installed.json"
    if not stamp.is_file() or stamp.read_bytes() != lock:
        cache.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, cache / name)
        command = [npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
        done = subprocess.run(command, cwd=cache, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"peers are not measured: npm ci failed: {done.stderr.strip()[-200:]}", file=sys.stderr)
            return None
        stamp.write_bytes(lock)
    return cache / "node_modules"
