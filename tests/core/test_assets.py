"""Binary content as a file."""

from hashlib import sha256
from pathlib import Path

from winkube.core.assets import file_asset, kept

CONTENT = b"\x00winkube test\xff"


def test_a_file_has_the_content_and_its_digest_as_name() -> None:
    path = Path(file_asset(CONTENT).path)
    assert path.read_bytes() == CONTENT
    assert path.name == f"winkube-{sha256(CONTENT).hexdigest()}"
    assert kept(CONTENT) == path


def test_a_file_that_somebody_else_wrote_is_not_believed() -> None:
    path = kept(CONTENT)
    path.write_bytes(b"something else")
    assert kept(CONTENT).read_bytes() == CONTENT


def test_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(CONTENT)
    path = kept(CONTENT)
    path.unlink()
    path.symlink_to(target)
    assert not kept(CONTENT).is_symlink()
    assert target.read_bytes() == CONTENT
