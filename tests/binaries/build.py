"""Builds a set into the cache, once per machine: a lock per set, a temporary folder, then one rename."""

import fcntl
import hashlib
import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from .recipes import MODULES, Recipe

GO_MINIMUM = (1, 26)
"""What the go.mod of Kubernetes 1.36 asks for."""
COMPILER = "all=-l -dwarf=false"
"""Without inlining and debug information a cold build takes 40 % less time; the programs behave the same."""
LINKER = "-s -w"
Progress = Callable[[str], None]


class BuildError(RuntimeError):
    """``go build`` failed, or a patch no longer fits."""


class GoMissingError(RuntimeError):
    """There is no Go that could build."""


def cache() -> Path:
    """Where programs are kept: outside of the work tree, so that a fresh clone finds them."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "winkube" / "binaries"


def folder(recipe: Recipe) -> Path:
    """The folder of a set: its name and version, and a digest of everything that decides what is built."""
    parts = [
        repr((recipe.set, recipe.source, recipe.packages, recipe.os, recipe.patches, recipe.stamp)),
        COMPILER,
        LINKER,
    ]
    parts += [recipe.tags] if recipe.tags else []
    module = MODULES / recipe.module
    own = sorted(module.glob("*.go"))  # of the programs that are ours; the others stand in go.mod alone
    parts += [path.read_text() for path in (module / "go.mod", module / "go.sum", *own)]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return cache() / f"{recipe.title}-{digest[:10]}"


def built(recipe: Recipe) -> bool:
    """Whether the set is there."""
    return folder(recipe).is_dir()


def ensure(recipe: Recipe, progress: Progress = lambda _: None) -> Path:
    """Build the set unless it is there; give its folder.

    Two processes that want the same set do not build it twice: the second waits for the first.
    """
    target = folder(recipe)
    if target.is_dir():
        return target
    go = find_go()
    target.parent.mkdir(parents=True, exist_ok=True)
    with _locked(target.with_name(target.name + ".lock")):
        if not target.is_dir():
            started, spent = time.monotonic(), _cpu_of_children()
            progress(f"building {recipe.title}: {', '.join(recipe.packages)}")
            with tempfile.TemporaryDirectory(dir=target.parent, prefix=".build-") as work:
                _build(go, recipe, Path(work), progress)
                (Path(work) / "out").rename(target)
            took, spent = time.monotonic() - started, _cpu_of_children() - spent
            progress(f"built {recipe.title} in {took:.0f} s ({spent:.0f} s of CPU)")
    return target


def find_go() -> str:
    """Path of a Go that is new enough."""
    wanted = ".".join(map(str, GO_MINIMUM))
    for go in filter(None, (shutil.which("go"), shutil.which("go", path="/usr/local/go/bin"))):
        said = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=False).stdout
        version = re.match(r"go(\d+)\.(\d+)", said)
        if version and tuple(map(int, version.groups())) >= GO_MINIMUM:
            return go
    raise GoMissingError(
        f"building Kubernetes, etcd, kwok and the Windows programs needs Go {wanted} or newer on PATH or in"
        " /usr/local/go, and a module proxy; or set KUBEBUILDER_ASSETS to a folder with the programs"
    )


def _build(go: str, recipe: Recipe, work: Path, progress: Progress) -> None:
    module = MODULES / recipe.module
    shutil.copytree(module, work / "module")
    environment = {
        # The compiler spends a good part of its time on collecting garbage: it may use a few GiB instead.
        "GOGC": "off",
        "GOMEMLIMIT": "1500MiB",
        "GOFLAGS": "-buildvcs=false",
        **os.environ,
        "CGO_ENABLED": "1" if recipe.tags else "0",
        "GOOS": recipe.os,
        "GOARCH": "amd64",
        "GOWORK": "off",
    }
    command = ["build", "-trimpath", f"-gcflags={COMPILER}", f"-ldflags={LINKER} {_stamps(recipe)}".rstrip()]
    if recipe.tags:
        command[-1] += " -extldflags=-static"
        command.append(f"-tags={recipe.tags}")
    if recipe.patches:
        _replace(go, recipe, work, environment, progress)
    out = work / "out"
    out.mkdir()
    _go(go, [*command, "-o", f"{out}/", *recipe.packages.values()], work / "module", environment, progress)
    for name, package in recipe.packages.items():
        made = out / recipe.file(_default_name(package))
        if made != out / recipe.file(name):
            made.rename(out / recipe.file(name))


def _replace(go: str, recipe: Recipe, work: Path, environment: dict[str, str], progress: Progress) -> None:
    """Point the build at a patched copy of the source (Go's ``-overlay`` refuses files of the module cache)."""
    listed = _go(
        go, ["mod", "download", "-json", f"{recipe.source}@{recipe.version}"], work / "module", environment, progress
    )
    found = re.search(r'"Dir": "(.*)"', listed)
    if not found:
        raise BuildError(f"go mod download named no folder for {recipe.source}: {listed}")
    copy = work / "source"
    shutil.copytree(found[1], copy, copy_function=_link, ignore=shutil.ignore_patterns("*_test.go", "testdata"))
    for path in (copy, *(p for p in copy.rglob("*") if p.is_dir())):
        path.chmod(0o755)
    for patch in recipe.patches:
        path = copy / patch.file
        text = path.read_text()
        if text.count(patch.old) != 1:
            raise BuildError(f"{recipe.title}: {patch.file} does not hold this text exactly once: {patch.old!r}")
        path.unlink()  # the file may be a link to the one in the module cache
        path.write_text(text.replace(patch.old, patch.new))
    _go(go, ["mod", "edit", f"-replace={recipe.source}={copy}"], work / "module", environment, progress)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _go(go: str, arguments: list[str], module: Path, environment: dict[str, str], progress: Progress) -> str:
    """What it wrote to stdout; while it works, a word every two minutes, because silence looks like a standstill."""
    started = time.monotonic()
    with subprocess.Popen(
        [go, *arguments], cwd=module, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        while True:
            try:
                out, errors = running.communicate(timeout=120)
                break
            except subprocess.TimeoutExpired:
                progress(f"  still at it after {time.monotonic() - started:.0f} s")
            except BaseException:
                running.kill()
                raise
    if running.returncode:
        raise BuildError(f"go {arguments[0]} failed in modules of the tests: {errors[-4000:]}")
    return out


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _stamps(recipe: Recipe) -> str:
    if not recipe.stamp:
        return ""
    major, minor, _ = recipe.version.removeprefix("v").split(".")
    values = {
        "gitVersion": recipe.version,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
        "gitCommit": "0" * 40,
        "buildDate": "1970-01-01T00:00:00Z",
    }
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return " ".join(f"-X {package}.{name}={value}" for package in packages for name, value in values.items())


def _default_name(package: str) -> str:
    """How ``go build`` names the program of a package: the last part that is not a major version."""
    return [part for part in package.split("/") if not re.fullmatch(r"v\d+", part)][-1]


@contextmanager
def _locked(path: Path) -> Generator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
