"""Artefacts: downloaded, verified by their digest, and only then installed. Nothing unverified reaches its place.

A download that was interrupted is continued; a file whose digest is wrong is deleted; each file is installed by a
rename, so that a kill at any point leaves the old file or the new one. What a loss of power breaks is found by its
digest when the agent starts again, so nothing waits here until hundreds of megabytes are on the disk.
"""

import gzip
import hashlib
import json
import os
import random
import re
import tarfile
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any, Optional
from urllib.parse import urlsplit

from .errors import AgentError, Rule
from .log import log
from .state import write_atomically

WRONG_DIGEST = Rule("WK-ART-020", "A file is installed only if it is what its digest says.")
UNREACHABLE = Rule("WK-ART-021", "Every artefact can be downloaded.")
WRONG_ARCHIVE = Rule("WK-ART-022", "An archive holds the files that are installed from it, and they are plain files.")

PART = 1 << 20
TIMEOUT_SECONDS = 30.0
ATTEMPTS = 8
WAIT_LIMIT_SECONDS = 15.0
DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
Fetch = Callable[[str, str], Any]
"""Reads an object of S3: bucket and key to its bytes, or to a stream with ``read(size)``."""


class Downloads:
    """Brings artefacts below a root.

    :param fetch: reads an object of S3, for mirrors that are buckets.
    :param folder: for unfinished downloads and for marks of what is installed.
    """

    def __init__(
        self, fetch: Fetch, root: Path, folder: Path, attempts: int = ATTEMPTS, wait_seconds: float = 0.5
    ) -> None:
        self.fetch = fetch
        self.root = root
        self.folder = folder
        self.attempts = attempts
        self.wait_seconds = wait_seconds

    def bring(self, artefact: dict[str, Any], before: Callable[[], None] = lambda: None) -> bool:
        """Make sure that an artefact is installed.

        :param before: called when something is about to change.
        :returns: whether anything was changed.
        :raises AgentError: ``WK-ART-020`` to ``WK-ART-022``.
        """
        name, digest = str(artefact["name"]), str(artefact["digest"])
        if not DIGEST.fullmatch(digest):
            raise AgentError(WRONG_DIGEST, name, "has no digest to verify it by", "deploy the stack again", digest)
        mark = self.folder / f"{_plain(name)}.json"
        if self._installed(mark, digest, artefact["install"]):
            return False
        began = time.monotonic()
        file = self.download(name, str(artefact["url"]), digest)
        before()
        size = file.stat().st_size
        sums = self._install(name, file, artefact)
        write_atomically(mark, json.dumps({"digest": digest, "files": sums}, indent=1), 0o644)
        file.unlink(missing_ok=True)
        log("artefact", name=name, bytes=size, seconds=round(time.monotonic() - began, 3))
        return True

    def download(self, name: str, url: str, digest: str) -> Path:
        """The verified file, somewhere it does no harm."""
        algorithm, _, expected = digest.partition(":")
        file = self.folder / f"{_plain(name)}-{expected[:16]}"
        part = file.with_name(file.name + ".part")
        self.folder.mkdir(parents=True, exist_ok=True)
        problem = ""
        for attempt in range(self.attempts):
            if attempt:
                wait = min(self.wait_seconds * 2 ** (attempt - 1), WAIT_LIMIT_SECONDS)
                time.sleep(wait * random.uniform(0.5, 1.5))  # noqa: S311
            try:
                continued, got = self._stream(url, part, algorithm)
            except urllib.error.HTTPError as error:
                problem = f"HTTP {error.code}"
                if error.code == 416:  # what lies here is longer than the file
                    part.unlink()
                elif error.code in (401, 403, 404, 410):
                    break
            except OSError as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                if got == expected:
                    part.replace(file)
                    return file
                part.unlink()
                if not continued:
                    raise AgentError(
                        WRONG_DIGEST, name, f"{url} has not the digest {digest}; it was deleted",
                        "put the right file on the mirror, or the right digest into artefact_digests",
                        f"{algorithm}:{got}",
                    )  # fmt: skip
                problem = "the part from before was broken"
            log("download again", name=name, attempt=attempt + 1, problem=problem)
        raise AgentError(
            UNREACHABLE, name, f"{url} cannot be downloaded",
            "open the way to this host, name a proxy, or set mirror to a place that nodes reach", problem,
        )  # fmt: skip

    def _stream(self, url: str, part: Path, algorithm: str) -> "tuple[bool, str]":
        """Fill the part up to the whole file; whether there was something before, and the digest of all."""
        have = part.stat().st_size if part.exists() else 0
        source, continued, length = self._open(url, have)
        summed = hashlib.new(algorithm)
        if continued:
            with part.open("rb") as before:
                _feed(before, summed.update)
        written = 0
        with source, part.open("ab" if continued else "wb") as target:

            def write(data: bytes) -> None:
                nonlocal written
                summed.update(data)
                target.write(data)
                written += len(data)

            _feed(source, write)
        if length is not None and written < length:
            raise OSError(f"the connection ended after {written} of {length} bytes")
        return continued, summed.hexdigest()

    def _open(self, url: str, have: int) -> "tuple[Any, bool, Optional[int]]":
        parts = urlsplit(url)
        if parts.scheme == "s3":
            body = self.fetch(parts.netloc, parts.path.lstrip("/"))
            return (BytesIO(body) if isinstance(body, bytes) else body), False, None
        if parts.scheme not in ("https", "http"):
            raise OSError(f"{parts.scheme}:// is not a way to download")
        request = urllib.request.Request(url, headers={"User-Agent": "winkube"})  # noqa: S310
        if have:
            request.add_header("Range", f"bytes={have}-")
        answer = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)  # noqa: S310
        length = answer.headers.get("Content-Length")
        return answer, answer.status == 206, int(length) if length else None

    def _installed(self, mark: Path, digest: str, install: Iterable[dict[str, Any]]) -> bool:
        """Whether all files of the artefact are still as they were installed."""
        try:
            values = json.loads(mark.read_text(encoding="utf-8"))
            sums: dict[str, str] = values["files"]
            return values["digest"] == digest and all(
                sums.get(one["path"]) == _sum(place(self.root, one["path"])) for one in install
            )
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def _install(self, name: str, file: Path, artefact: dict[str, Any]) -> "dict[str, str]":
        """Put the files of an artefact to their places; the SHA-256 of each, by its path."""
        install: list[dict[str, Any]] = artefact["install"]
        if artefact["kind"] == "file":
            sums: dict[str, str] = {}
            for one in install[1:]:
                with file.open("rb") as source:
                    sums[one["path"]] = put(place(self.root, one["path"]), source, mode_of(one), durable=False)
            algorithm, _, expected = str(artefact["digest"]).partition(":")
            target = place(self.root, install[0]["path"])
            move(file, target, mode_of(install[0]))
            return {**sums, install[0]["path"]: expected if algorithm == "sha256" else _sum(target)}
        if artefact["kind"] == "tar.gz":
            return self._extract(name, file, install)
        raise AgentError(WRONG_ARCHIVE, name, "is of an unknown kind", "deploy the stack again", artefact["kind"])

    def _extract(self, name: str, file: Path, install: "list[dict[str, Any]]") -> "dict[str, str]":
        """Only the files that are named come out, to the paths that the document names: no archive chooses a path."""
        sums: dict[str, str] = {}
        wanted = {str(PurePosixPath(one["member"])): one for one in install}
        try:
            with tarfile.open(file, "r:gz") as archive:
                for member in archive:
                    one = wanted.get(str(PurePosixPath(member.name)))
                    if one is None:
                        continue
                    source = archive.extractfile(member) if member.isreg() else None
                    if source is None:
                        raise AgentError(WRONG_ARCHIVE, name, "holds a link where a file is expected",
                                         "take the archive of the release itself", member.name)  # fmt: skip
                    sums[one["path"]] = put(place(self.root, one["path"]), source, mode_of(one), durable=False)
                    del wanted[str(PurePosixPath(member.name))]
                    if not wanted:
                        break
        except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise AgentError(WRONG_ARCHIVE, name, "is not an archive", "take the archive of the release itself",
                             str(error)) from error  # fmt: skip
        if wanted:
            raise AgentError(WRONG_ARCHIVE, name, "lacks files that are installed from it",
                             "take the archive of the release itself", ", ".join(sorted(wanted)))  # fmt: skip
        return sums


def place(root: Path, path: str) -> Path:
    """A path of the node below the root that stands for it.

    :raises AgentError: for a path that is not absolute, or that climbs (``WK-ART-022``).
    """
    pure = PurePosixPath(path)
    if not pure.is_absolute() or ".." in pure.parts:
        raise AgentError(WRONG_ARCHIVE, "path", "is not an absolute path without ..", "deploy the stack again", path)
    return root / pure.relative_to("/")


def mode_of(one: "dict[str, Any]", default: str = "0755") -> int:
    """The mode of a file in the document: four octal digits."""
    return int(str(one.get("mode") or default), 8)


def put(path: Path, source: "IO[bytes]", mode: int, *, durable: bool = True) -> str:
    """Write a file as a whole, never half; gives its SHA-256.

    :param durable: it is on the disk when this returns.
    """
    summed = hashlib.sha256()
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:

        def write(data: bytes) -> None:
            summed.update(data)
            file.write(data)

        _feed(source, write)
        file.flush()
        os.fchmod(file.fileno(), mode)
        if durable:
            os.fsync(file.fileno())
    new.replace(path)
    return summed.hexdigest()


def move(file: Path, path: Path, mode: int) -> None:
    """Bring a file to its place as a whole, without writing it once more if both lie on one disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    try:
        file.replace(new)
    except OSError:
        with file.open("rb") as source:
            put(path, source, mode, durable=False)
        return
    new.chmod(mode)
    new.replace(path)


def _feed(source: Any, take: "Callable[[bytes], Any]") -> None:
    while True:
        data = source.read(PART)
        if not data:
            return
        take(data)


def _sum(path: Path) -> str:
    summed = hashlib.sha256()
    with path.open("rb") as file:
        _feed(file, summed.update)
    return summed.hexdigest()


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)
