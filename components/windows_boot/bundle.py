"""The boot code of Windows nodes as one zip, the same bytes for the same scripts, addressed by their digest. Pure."""

import hashlib
import io
import zipfile
from functools import cache
from pathlib import Path

SCRIPTS = Path(__file__).parent / "scripts"
LOADER = "Loader.ps1"
"""The part that stands in user data and fetches the rest."""
ENTRY = "Start-Node.ps1"
"""The script of the bundle that the loader runs."""

_EPOCH = (1980, 1, 1, 0, 0, 0)


def script_names() -> tuple[str, ...]:
    """The scripts of the bundle, sorted."""
    return tuple(sorted(path.name for path in SCRIPTS.glob("*.ps1") if path.name != LOADER))


def script(name: str) -> str:
    """The text of one script, with the line ends of its repository."""
    return (SCRIPTS / name).read_text(encoding="utf-8")


@cache
def bundle() -> bytes:
    """All scripts as a zip. Neither time nor machine shows in it; nothing is compressed, as versions of zlib differ."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        for name in script_names():
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = 0
            entry.external_attr = 0
            archive.writestr(entry, script(name))
    return data.getvalue()


def digest(content: bytes | str) -> str:
    """SHA-256 in hexadecimal: the last part of an object's key."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def bundle_digest() -> str:
    """The digest under which the bundle lies in the bucket."""
    return digest(bundle())
