"""What resources of EKS say: a Kubernetes minor, the Windows release of a group, the values of an add-on."""

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from .model import Planned, Value


def minor_of(value: Value) -> str | None:
    """A Kubernetes minor such as ``1.36``, none where there is none.

    :raises Undecided: when it is not known yet.
    """
    text = value.text
    return text if text and re.fullmatch(r"\d+\.\d+", text) else None


def release_of_group(group: Planned) -> str | None:
    """The Windows release of a managed group's image."""
    found = re.match(r"WINDOWS_(?:CORE|FULL)_(\d{4})_", str(group["amiType"].settled))
    return found[1] if found else None


def is_windows_group(group: Planned) -> bool:
    """Whether a managed group's image is one of Windows.

    :raises Undecided: when the image is not known yet.
    """
    return (group["amiType"].text or "").startswith("WINDOWS")


def addon_values(values: Value) -> Mapping[str, Any]:
    """The configuration of an add-on: JSON, or the flat part of YAML.

    :raises Undecided: when it is not known yet.
    """
    text = values.text
    if not text:
        return {}
    try:
        document = json.loads(text)
    except ValueError:
        pairs = re.findall(r"(?m)^([A-Za-z][\w]*):[ \t]*[\"']?([^\"'\n#]*?)[\"']?[ \t]*$", text)
        return dict(pairs)
    return cast(Mapping[str, Any], document) if isinstance(document, Mapping) else {}
