"""Trims botocore and what it needs to the calls that the agent makes, and packs them: ``vendor.zip``.

Run when winkube is built or installed (see ``setup.py``), from pinned wheels; or by hand with
``python components/node_agent/vendoring.py``. The result is the same bytes on every machine, which its digest proves.
Standard library alone: it runs where nothing of winkube can be imported.
"""

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

PINS: Mapping[str, str] = {
    "botocore": "1.42.97",
    "jmespath": "1.1.0",
    "python-dateutil": "2.9.0.post0",
    "six": "1.17.0",
    "urllib3": "2.6.3",
}
"""The newest that run on Python 3.9, the system's Python of Amazon Linux 2023.

botocore's metadata asks for urllib3 1.26 on Python 3.9 because of OpenSSL before 1.1.1; Amazon Linux 2023 has 3.
"""
SHA256 = "79698e8b82f14b6274e4acf269b7a0a98e55306a16c51696408ddc989b736751"
"""Of ``vendor.zip``; ``python components/node_agent/vendoring.py`` prints it when a pin or the trimming changes."""

OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "s3": ("GetObject", "HeadObject", "PutObject", "DeleteObject", "ListObjectsV2"),
    "ssm": ("GetParameter", "PutParameter"),
    "ec2": ("DescribeInstances",),
    "autoscaling": (
        "CompleteLifecycleAction", "RecordLifecycleActionHeartbeat", "DescribeAutoScalingInstances",
        "DescribeAutoScalingGroups", "DescribeLifecycleHooks",
  ),
    "sts": ("GetCallerIdentity", "AssumeRole", "AssumeRoleWithWebIdentity"),
}  # fmt: skip
"""Every operation that the agent may call; a test compares it with the agent's code."""
CODE: Mapping[str, tuple[str, ...]] = {
    "botocore": ("crt/auth.py",),
    "dateutil": ("zoneinfo/",),
    "jmespath": (),
    "six.py": (),
    "urllib3": ("contrib/emscripten/",),
}
"""What is taken, and which parts of it are not: the node's own certificate authorities are used."""
DATA = ("_retry.json", "partitions.json", "sdk-default-configuration.json")
VENDOR = Path(__file__).with_name("vendor.zip")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "winkube" / "vendor"
"""Where installs leave a copy, by digest: a second working tree of the repository, such as the one in which the base of
a pull request is evaluated, was not installed itself."""
EPOCH = (1980, 1, 1, 0, 0, 0)
LICENCES = ("LICENSE", "LICENSE.txt", "NOTICE", "NOTICE.txt")


def pack(files: Mapping[str, bytes]) -> bytes:
    """A ZIP archive that depends on nothing but names and contents: sorted, stored, without times.

    Stored and not compressed, because compressors differ between machines.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, files[name])
    return target.getvalue()


def vendor(source: Path) -> bytes:
    """The archive, from a folder in which the pinned packages are installed.

    :raises ValueError: if another version is installed there.
    """
    for name, version in PINS.items():
        folder = f"{name.replace('-', '_')}-{version}.dist-info"
        if not (source / folder).is_dir():
            raise ValueError(f"{name}=={version} is not installed in {source}")
    files: dict[str, bytes] = {}
    for top, without in CODE.items():
        for path in _python_files(source / top):
            name = path.relative_to(source).as_posix()
            if not any(name.startswith(f"{top}/{one}") for one in without):
                files[name] = path.read_bytes().replace(b"\r\n", b"\n")
    for name, version in PINS.items():
        for path in sorted((source / f"{name.replace('-', '_')}-{version}.dist-info").rglob("*")):
            if path.name in LICENCES:
                files[f"licences/{name}/{path.name}"] = path.read_bytes()
    files.update(_data(source / "botocore" / "data"))
    return pack(files)


def _python_files(path: Path) -> Iterable[Path]:
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


def _data(folder: Path) -> Iterator[tuple[str, bytes]]:
    for name in DATA:
        yield f"botocore/data/{name}", _compact(json.loads((folder / name).read_bytes()))
    yield "botocore/data/endpoints.json", _compact(_endpoints(json.loads((folder / "endpoints.json").read_bytes())))
    for service, operations in OPERATIONS.items():
        version = max(one for one in (folder / service).iterdir() if one.is_dir())
        base = f"botocore/data/{service}/{version.name}"
        model = json.loads(gzip.decompress((version / "service-2.json.gz").read_bytes()))
        yield f"{base}/service-2.json", _compact(trimmed(model, operations))
        rules = json.loads(gzip.decompress((version / "endpoint-rule-set-1.json.gz").read_bytes()))
        yield f"{base}/endpoint-rule-set-1.json", _compact(rules)
        extras = version / "service-2.sdk-extras.json"
        if extras.exists():
            yield f"{base}/service-2.sdk-extras.json", _compact(json.loads(extras.read_bytes()))


def trimmed(model: dict[str, Any], operations: Iterable[str]) -> dict[str, Any]:
    """A service model with some operations, the shapes that they need, and no documentation."""
    kept = {name: model["operations"][name] for name in operations}
    shapes: dict[str, Any] = {}
    waiting = [reference["shape"] for one in kept.values() for reference in _references(one)]
    while waiting:
        name = waiting.pop()
        if name not in shapes:
            shapes[name] = model["shapes"][name]
            waiting += [reference["shape"] for reference in _references(shapes[name])]
    rest = {key: value for key, value in model.items() if key not in ("operations", "shapes", "documentation")}
    # The rest keeps its documentation: botocore reads that of context parameters.
    return {**rest, **_undocumented({"operations": kept, "shapes": shapes})}


def _references(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        known = cast("dict[str, Any]", value)
        if isinstance(known.get("shape"), str):
            yield known
        for part in known.values():
            yield from _references(part)
    elif isinstance(value, list):
        for part in cast("list[Any]", value):
            yield from _references(part)


def _undocumented(value: Any, *, names: bool = False) -> Any:
    """Without ``documentation``, but for members that are called so."""
    if isinstance(value, dict):
        return {
            key: _undocumented(part, names=key in ("members", "shapes", "operations") and not names)
            for key, part in cast("dict[str, Any]", value).items()
            if names or key not in ("documentation", "documentationUrl", "examples")
        }
    return [_undocumented(part) for part in cast("list[Any]", value)] if isinstance(value, list) else value


def _endpoints(value: dict[str, Any]) -> dict[str, Any]:
    """The endpoints of the services in use."""
    for partition in value["partitions"]:
        partition["services"] = {name: one for name, one in partition["services"].items() if name in OPERATIONS}
    return value


def _compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True).encode()


def checked(archive: bytes) -> bytes:
    """The archive, if it is the one that was reviewed.

    :raises ValueError: with both digests.
    """
    digest = hashlib.sha256(archive).hexdigest()
    if digest != SHA256:
        raise ValueError(f"vendor.zip has the SHA-256 {digest}, but {SHA256} is expected: see vendoring.py")
    return archive


def read(target: Path = VENDOR, cache: Path = CACHE) -> bytes | None:
    """The archive, from beside this file or from the cache; None when neither has the right one."""
    for path in (target, cache / f"{SHA256}.zip"):
        if path.is_file() and hashlib.sha256(archive := path.read_bytes()).hexdigest() == SHA256:
            return archive
    return None


def ensure(source: Path, target: Path = VENDOR, cache: Path = CACHE) -> None:
    """Write the archive and its copy, unless they are there."""
    archive = read(target, cache) or checked(vendor(source))
    for path in (target, cache / f"{SHA256}.zip"):
        if not path.is_file() or path.read_bytes() != archive:
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive)
            except OSError:
                if path == target:  # without the copy, only other working trees lack something
                    raise


def main() -> None:
    """Install the pins into a temporary folder, write the archive, and print its digest."""
    with tempfile.TemporaryDirectory() as folder:
        pins = [f"{name}=={version}" for name, version in PINS.items()]
        call = ["-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--only-binary=:all:", "--target"]
        subprocess.run([sys.executable, *call, folder, *pins], check=True)  # noqa: S603
        archive = vendor(Path(folder))
    VENDOR.write_bytes(archive)
    print(hashlib.sha256(archive).hexdigest(), len(archive))


if __name__ == "__main__":
    main()
