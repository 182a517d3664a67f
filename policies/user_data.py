"""User data: what a machine is given to run at its first start, and what it tells about the machine."""

import base64
import binascii
import re
from typing import Any

from .model import Planned, System


def user_data(resource: Planned) -> Any:
    """The user data of what starts an instance."""
    return resource.props.get("userData") or resource.props.get("userDataBase64")


def decoded(value: Any) -> str | None:
    """User data as text, whether it was encoded or not; none where it is not known."""
    if not isinstance(value, str):
        return None
    try:
        return base64.b64decode(value, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return value


def known_user_data(resource: Planned) -> str | None:
    """The user data of what starts an instance, as text.

    :raises Undecided: when it is not known yet.
    """
    for name in ("userData", "userDataBase64"):
        resource[name].known()
    return decoded(user_data(resource))


def system_of_user_data(value: Any) -> System | None:
    """The operating system that user data is written for, if it shows.

    >>> system_of_user_data("<powershell>exit</powershell>"), system_of_user_data("#!/bin/bash")
    ('windows', 'linux')
    """
    text = decoded(value)
    if text is None:
        return None
    if re.search(r"<(?:powershell|script|persist)>", text):
        return "windows"
    linux = r"\s*(?:#!|#cloud-config|MIME-Version:|Content-Type: multipart|\[settings|apiVersion: node\.eks\.aws)"
    return "linux" if re.match(linux, text) else None


def joins_eks(resource: Planned) -> bool:
    """Whether an instance's user data makes it a node of an EKS cluster."""
    text = decoded(user_data(resource)) or ""
    return bool(re.search(r"EKSBootstrap|/etc/eks/bootstrap\.sh|node\.eks\.aws|settings\.kubernetes|nodeadm", text))
