"""The stacks of the program and of every example, as validators see them."""

from pathlib import Path

import yaml
from winkube.preview.evaluation.project import read_project

ROOT = Path(__file__).resolve().parent.parent.parent
_FOLDERS = {"program": ROOT} | {
    path.parent.name: path.parent
    for path in (ROOT / "examples").glob("*/Pulumi.yaml")
    if "python" in str(yaml.safe_load(path.read_text(encoding="utf-8"))["runtime"])
}
PROGRAMS = {
    f"{name}-{stack}": (folder, stack)
    for name, folder in sorted(_FOLDERS.items())
    for stack in read_project(folder).stacks()
}
"""Label to folder and stack."""
