"""Looks up the digests that upstream publishes for every file of the table, and compares or adds them.

``python -m winkube.tables.refresh_artefacts`` needs a way to the internet, and says what it found:

- ``same``: the table has what upstream publishes;
- ``new``: the table had none, or the release is new; ``--write`` adds it;
- ``OTHER``: the table has another digest. Nothing is written then: somebody has to find out why.
"""

import argparse
import json
import re
import sys
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from .artefacts import ARCHITECTURES, RUNTIMES, Artefact, NodeKind, artefacts_for, known_digests
from .releases import SELF_MANAGED_RELEASES

Read = Callable[[str], str]
OPTIONAL = ("kubectl", "kubeadm", "kube-log-runner", "ecr-credential-provider")
_HEX = re.compile(r"\b([0-9a-f]{128}|[0-9a-f]{64})\b")


def all_artefacts() -> dict[str, Artefact]:
    """Every file of every minor and kind of node, by its key."""
    return {one.key: one for minor in SELF_MANAGED_RELEASES for kind in _kinds() for one in _rows(minor, kind)}


def published(artefact: Artefact, read: Read) -> str | None:
    """What upstream publishes: the only digest of a file, or the one on the line with the file's name."""
    if not artefact.digest_url:
        return None
    text = read(artefact.digest_url)
    lines = [line for line in text.splitlines() if artefact.url.rpartition("/")[2] in line] or text.splitlines()
    found = [match[1] for line in lines if (match := _HEX.search(line))]
    return f"sha{256 if len(found[0]) == 64 else 512}:{found[0]}" if len(set(found)) == 1 else None


def compare(read: Read) -> Iterator[tuple[str, Artefact, str | None]]:
    """``same``, ``new``, ``OTHER`` or ``none``, the artefact, and what upstream publishes."""
    for _, artefact in sorted(all_artefacts().items()):
        digest = published(artefact, read)
        if digest is None:
            yield "none", artefact, None
        elif artefact.digest in (digest, None):
            yield ("same" if artefact.digest else "new"), artefact, digest
        else:
            yield "OTHER", artefact, digest


def main(arguments: Sequence[str] | None = None, read: Read | None = None, target: Path | None = None) -> int:
    """Compare, and write what is new; 1 when a digest differs."""
    parser = argparse.ArgumentParser(description="Look up the digests of what nodes download.")
    parser.add_argument("--write", action="store_true", help="add new digests to artefact_digests.json")
    chosen = parser.parse_args(arguments)
    rows = list(compare(read or _read))
    for word, artefact, digest in rows:
        sys.stdout.write(f"{word:5} {artefact.key} {digest or 'upstream publishes none'}\n")
    if any(word == "OTHER" for word, _, _ in rows):
        return 1
    if chosen.write:
        table = {
            name: {version: dict(platforms) for version, platforms in versions.items()}
            for name, versions in known_digests().items()
        }
        for word, artefact, digest in rows:
            if word == "new" and digest:
                platform = f"{artefact.os}-{ARCHITECTURES[artefact.architecture]}"
                table.setdefault(artefact.name, {}).setdefault(artefact.version, {})[platform] = digest
        text = json.dumps(dict(sorted(table.items())), indent=1)
        (target or Path(__file__).with_name("artefact_digests.json")).write_text(f"{text}\n", encoding="utf-8")
    return 0


def _kinds() -> Iterator[NodeKind]:
    for architecture in ARCHITECTURES:
        for runtime in RUNTIMES:
            yield NodeKind(architecture=architecture, runtime=runtime, role="control_plane")
    yield NodeKind(os="windows")


def _rows(minor: str, kind: NodeKind) -> tuple[Artefact, ...]:
    return artefacts_for(
        minor,
        os="windows" if kind.os == "windows" else "linux",
        architecture="arm64" if kind.architecture == "arm64" else "x86_64",
        runtime="cri-o" if kind.runtime == "cri-o" else "containerd",
        role="control_plane",
        optional=OPTIONAL,
    )


def _read(url: str) -> str:
    with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310 (the URLs of the table are https)
        return answer.read().decode()


if __name__ == "__main__":
    sys.exit(main())
