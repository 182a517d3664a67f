"""The PowerShell scripts of our DaemonSets, as text."""

from pathlib import Path

_SCRIPTS = Path(__file__).parent / "scripts"


def script(name: str) -> str:
    """The text of one of our PowerShell scripts. It has no byte order mark, so it stays ASCII."""
    return (_SCRIPTS / name).read_text(encoding="ascii")
