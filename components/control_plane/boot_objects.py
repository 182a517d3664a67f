"""The agent as a file that Pulumi uploads: the same bytes on every machine, known by their digest."""

from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile, gettempdir

import pulumi

from ..node_agent.zipapp import zipapp, zipapp_sha256


def agent_asset() -> tuple[str, pulumi.FileAsset]:
    """The digest of the agent, and the file with it.

    Pulumi uploads binary content from a file alone: as text, two megabytes would stand in its state.
    """
    digest = zipapp_sha256()
    return digest, pulumi.FileAsset(str(kept(zipapp(), digest)))


def kept(content: bytes, digest: str) -> Path:
    """A file with this content, made once; one that somebody else made under its name is not believed."""
    path = Path(gettempdir()) / f"winkube-{digest}"
    if not path.is_file() or sha256(path.read_bytes()).hexdigest() != digest:
        with NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        Path(file.name).replace(path)
    return path
