"""Rendered texts on this machine: placeholders filled in as the agent does it, paths below a folder of the test."""

from collections.abc import Mapping
from pathlib import Path

FACTS: Mapping[str, str] = {
    "${INSTANCE_ID}": "i-0123456789abcdef0",
    "${PRIVATE_IP}": "10.20.30.40",
    "${PROVIDER_ID}": "aws:///eu-west-1a/i-0123456789abcdef0",
    # Digits alone: a reader of YAML must not take it for a number.
    "${JOIN_TOKEN}": "123456.1234567890123456",
    "${ZONE}": "eu-west-1a",
    "${SLOT}": "cp-0",
}
ROOTS = ("/etc/kubernetes", "/var/log/kubernetes", "/var/lib/etcd", "/var/run/kmsplugin")


def filled(text: str) -> str:
    """A text as it stands on the node."""
    for name, fact in FACTS.items():
        text = text.replace(name, fact)
    return text


def moved(text: str, root: Path) -> str:
    """A text whose paths lie below ``root``."""
    for start in ROOTS:
        text = text.replace(start, f"{root}{start}")
    return text
