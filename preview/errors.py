"""Errors that prevent a plan: in the project, in its settings or in the program."""

import traceback
from dataclasses import dataclass
from pathlib import Path


class PreviewError(Exception):
    """The program or its settings are wrong. The message is complete; the exit code is 2."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A line of the program."""

    file: str
    line: int
    function: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}\n    {self.text}"


class ProgramError(PreviewError):
    """The program raised an exception. Holds its message and the innermost frame of the program."""

    def __init__(self, message: str, frame: Frame | None = None, hints: tuple[str, ...] = ()) -> None:
        self.message, self.frame, self.hints = message, frame, hints
        where = f"\n  at {frame}" if frame else ""
        super().__init__(message + where + "".join(f"\n  {hint}" for hint in hints))


def own_frame(error: BaseException, directory: str) -> Frame | None:
    """The innermost frame of ``error`` in the directory of the program; None if there is none."""
    root = Path(directory).resolve()
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        if path.is_relative_to(root) and "site-packages" not in path.parts:
            return Frame(str(path.relative_to(root)), frame.lineno or 0, frame.name, frame.line or "")
    return None
