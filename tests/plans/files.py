"""The files of some plans: which pieces have one, what it is called, and what stands in it."""

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from winkube.node_agent import loader
from winkube.preview.model import Plan
from winkube.windows_boot import bundle

from .document import PlanDocument
from .yaml_text import Piece, Tagged, written

SHARED = "shared"
"""The folder of what several stacks carry."""
SHARED_FROM = 8
"""What has as many lines, and is carried more than once, is written once."""


def plan_files(plans: Mapping[str, Plan]) -> dict[str, str]:
    """Path to text for the plans of some stacks, each with the name of its folder."""
    documents = {folder: PlanDocument(plan).value() for folder, plan in plans.items()}
    pieces = _Pieces()
    for folder, document in documents.items():
        pieces.collect(folder, document)
    files = {f"{folder}/plan.yaml": written(document, pieces.path_of) for folder, document in documents.items()}
    return dict(sorted((files | pieces.files()).items()))


class _Pieces:
    """Everything that may have a file, by its text: the same text is written once."""

    def __init__(self) -> None:
        self._carriers: dict[str, list[tuple[str, Piece]]] = {}
        self._alone: dict[Piece, str] = {}
        self._paths: dict[str, str] | None = None

    def collect(self, folder: str, value: Any) -> None:
        """Find the pieces in a value; those inside one that was seen before are carried by that one alone."""
        if isinstance(value, Piece):
            text = self._text(value)
            first = text not in self._carriers
            self._carriers.setdefault(text, []).append((folder, value))
            if first:
                self.collect(folder, value.value)
        elif isinstance(value, Tagged):
            self.collect(folder, value.value)
        elif isinstance(value, dict | list):
            for inner in value.values() if isinstance(value, dict) else value:
                self.collect(folder, inner)

    def path_of(self, piece: Piece) -> str | None:
        """The file of a piece, nothing for one that stands where it is carried."""
        if self._paths is None:
            self._paths = self._names()
        return self._paths.get(self._text(piece))

    def files(self) -> dict[str, str]:
        """Path to text, with the code that user data carries as files of their own."""
        found: dict[str, str] = {}
        for carriers in self._carriers.values():
            piece = carriers[0][1]
            if path := self.path_of(piece):
                value = piece.value
                text = value if isinstance(value, str) else written(value, self.path_of)
                found[path], used = _without_loaders(text)
                found |= used
        return found

    def _text(self, piece: Piece) -> str:
        """A piece with everything in it: what makes two pieces the same."""
        if piece not in self._alone:
            self._alone[piece] = piece.value if isinstance(piece.value, str) else written(piece.value)
        return self._alone[piece]

    def _names(self) -> dict[str, str]:
        wanted: dict[str, list[str]] = {}
        for text, carriers in self._carriers.items():
            folders = {folder for folder, _ in carriers}
            if any(piece.always for _, piece in carriers) or (len(carriers) > 1 and text.count("\n") >= SHARED_FROM):
                folder, piece = carriers[0]
                path = f"{folder}/{_plain(piece.name)}"
                if len(folders) > 1:
                    path = f"{SHARED}/{_plain(piece.name.removeprefix(folder.removeprefix('program-') + '-'))}"
                wanted.setdefault(path, []).append(text)
        paths: dict[str, str] = {}
        for path, texts in wanted.items():
            for text in texts:
                paths[text] = path if len(texts) == 1 else _apart(path, self._carriers[text][0], paths)
        return paths


def _apart(path: str, carrier: tuple[str, Piece], taken: Mapping[str, str]) -> str:
    """A path for one of several texts of the same name: with the stack that carries it first."""
    stem, dot, ending = path.rpartition(".")
    number = 1
    while True:
        own = f"{stem}@{carrier[0]}{f'-{number}' if number > 1 else ''}{dot}{ending}"
        if own not in taken.values():
            return own
        number += 1


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)


@cache
def loader_lines() -> Mapping[str, list[str]]:
    """The lines of code that stands in user data, between lines that differ."""
    code = {"loader.sh": loader.script(), "Loader.ps1": bundle.script(bundle.LOADER)}
    return {f"{SHARED}/{name}": text.splitlines() for name, text in code.items()}


def _without_loaders(text: str) -> tuple[str, dict[str, str]]:
    """A text in which one line stands for the code of a loader, and the files of those loaders."""
    lines, used = text.split("\n"), dict[str, str]()
    for path, code in loader_lines().items():
        for start in range(len(lines) - len(code) + 1):
            indent = lines[start][: len(lines[start]) - len(lines[start].lstrip())]
            if [(indent + line).rstrip() for line in code] == lines[start : start + len(code)]:
                lines[start : start + len(code)] = [f"{indent}<{path}>"]
                used[path] = "\n".join([*code, ""])
                break
    return "\n".join(lines), used
