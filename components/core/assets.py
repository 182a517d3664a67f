"""Binary content for Pulumi: as a file, so that it stands in no state and no plan."""

from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile, gettempdir

import pulumi


def file_asset(content: bytes) -> pulumi.FileAsset:
    """An asset with this content.

    Pulumi takes bytes from a file alone. As base64 in a property they would stand in the state, which is written anew
    after every step of a deployment.
    """
    return pulumi.FileAsset(str(kept(content)))


def kept(content: bytes) -> Path:
    """A file with this content, under its digest; one that somebody else made under that name is not believed."""
    digest = sha256(content).hexdigest()
    path = Path(gettempdir()) / f"winkube-{digest}"
    if path.is_symlink() or not path.is_file() or sha256(path.read_bytes()).hexdigest() != digest:
        with NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(content)
        Path(file.name).replace(path)
    return path
