"""What several of these cases are made of."""

from typing import Any

ALWAYS = {"when": "always"}


def binding(role: Any = "view", **subject: Any) -> dict[str, Any]:
    return {"metadata": {"name": "b"}, "roleRef": {"kind": "ClusterRole", "name": role}, "subjects": [subject]}
