"""Names for digests: of what a plan carries, of boot code, and of the artefacts in the library's table."""

import hashlib
import itertools
import re
from collections.abc import Iterator
from typing import Any

from winkube.node_agent.zipapp import zipapp_sha256
from winkube.preview.model import Plan, Resource, Secret
from winkube.tables.artefacts import known_digests
from winkube.windows_boot.bundle import bundle_digest

SHORTEST = 64
"""Shorter texts are no code and no document, so nothing is derived from them."""
_DIGEST = re.compile(r"(?<![0-9a-f])(?:[0-9a-f]{128}|[0-9a-f]{64})(?![0-9a-f])")
_MOST_PARTS = 5
"""A map of more texts is not tried in every order."""


class Digests:
    """The digests that are known in a plan."""

    def __init__(self, plan: Plan) -> None:
        self._names = dict(_of_artefacts())
        self._names[zipapp_sha256()] = "<sha256 of the node agent>"
        self._names[bundle_digest()] = "<sha256 of the boot code of Windows>"
        for resource in plan.resources:
            for content, name in _contents(resource):
                self._names.setdefault(hashlib.sha256(content.encode()).hexdigest(), f"<sha256 of {name}>")

    def named(self, text: str) -> str:
        """A text with names for the digests in it; those that nobody knows stay."""
        return _DIGEST.sub(lambda found: self._names.get(found[0], found[0]), text) if len(text) >= SHORTEST else text


def texts(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Every text in a decoded value, secret or not, with its path."""
    if isinstance(value, Secret):
        yield from texts(value.value, path)
    elif isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from texts(inner, (*path, index))


def _of_artefacts() -> Iterator[tuple[str, str]]:
    for project, versions in known_digests().items():
        for version, platforms in versions.items():
            for platform, digest in platforms.items():
                function, _, digits = digest.partition(":")
                yield digits, f"<{function} of {project} {version} {platform}>"


def _contents(resource: Resource) -> Iterator[tuple[str, str]]:
    for path, text in texts(resource.inputs):
        if len(text) >= SHORTEST:
            yield text, f"{resource.name}: {'.'.join(map(str, path))}"
    data = resource.inputs.get("data")
    if resource.type.endswith(":ConfigMap") and isinstance(data, dict):
        # Pods carry the digest of their configuration, whose texts are joined in the order in which they were written.
        parts = [text for _, text in texts(data)]
        for order in itertools.permutations(parts) if len(parts) <= _MOST_PARTS else ():
            yield "\0".join(order), resource.name
