"""Measures what the budget bounds: whole processes from outside, growth per resource, ratios to a yardstick.

A machine's speed drifts by half within minutes. So the CPU time of each run is divided by that of a fixed yardstick,
importing pulumi and pulumi_aws and creating 100 plain resources under the SDK's mocks, measured before and after it;
a figure is the median of these ratios. The runs of all processes take turns, so that a slow minute falls on one run of
each and not on all runs of one, and neighbours share a yardstick: it is measured after :data:`SECONDS_APART` of others.
It took :data:`REFERENCE_SECONDS` where the budget was set, so a ratio is also the seconds at that speed; what was
measured here is shown as well.

``make bench`` ends within four minutes. ``make bench-full`` adds fleets and programs of up to 5,000 groups, and what
AWS CDK and cdk8s take. ``bench/budget.json`` holds the limits, ``bench/results.json`` the last accepted ratios: a
figure over its limit, or all of whose runs are 15 % over its last ratio, ends with exit code 1. ``--accept`` writes
them.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET = json.loads((ROOT / "bench" / "budget.json").read_text(encoding="utf-8"))
PROGRAMS = ROOT / "bench" / "programs"
REFERENCE_SECONDS = 1.0
SECONDS_APART = 3.0
"""How much CPU time others may take between two yardsticks: the speed of a machine drifts in minutes."""
YARDSTICK = "yardstick: SDK mocks, 100 resources"
RESULTS = ROOT / "bench" / "results.json"
REGRESSION = 1.15
IMPORT = "import of the package"
BROKEN = "settings error"
COMPARED = "diff of prod with the commit before"
CHECKED = "check of all stacks with the commit before"
PEERS = ("AWS CDK", "cdk synth", "cdk8s")
"""How the names of what others measure begin."""
SIZES = (10, 100, 1000, 3000)
"""Groups of the program whose growth is measured."""
FLEETS = {"eks": 12, "kubeadm": 13}
"""Flavour to the resources of one of its Windows groups, in the generated fleets of the stack settings."""


@dataclass(frozen=True)
class Process:
    """A command that is measured as a whole."""

    name: str
    command: Sequence[str]
    runs: int
    expect: tuple[int, ...] = (0,)
    """Its exit codes."""
    environment: Mapping[str, str] | None = None
    warm: bool = False
    """Whether another one imports the same modules, so that it needs no uncounted run."""


@dataclass(frozen=True)
class Figure:
    """What one command costs: the least CPU time and the median of the rest over the runs."""

    wall: float
    cpu: float
    mib: float
    ratio: float
    """CPU time to that of the yardstick beside it: the median of the runs."""
    least: float
    """The least of these, which noise only raises: what a regression is judged by."""

    @property
    def seconds(self) -> float:
        """CPU time at the speed of the reference."""
        return self.ratio * REFERENCE_SECONDS


@dataclass(frozen=True)
class Run:
    """Wall time, CPU time and peak MiB of one run, by the operating system's own accounting."""

    wall: float
    cpu: float
    mib: float


def _environment() -> dict[str, str]:
    """Bytecode is kept, as in an ordinary installation, but not in the tree."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": str(ROOT / "build" / "bench" / "bytecode")}


def measured(processes: Sequence[Process]) -> dict[str, Figure]:
    """The figures of processes that are run in turns, with the yardstick before, between and after them."""
    for process in processes:
        if not process.warm:
            _run(process)
    runs: dict[str, list[tuple[Run, float]]] = {process.name: [] for process in processes}
    yardsticks = [_yardstick()]
    between: list[tuple[str, Run]] = []
    for number, process in enumerate(turns := list(_turns(processes)), 1):
        between.append((process.name, _run(process)))
        if number == len(turns) or sum(run.cpu for _, run in between) > SECONDS_APART:
            yardsticks.append(_yardstick())
            beside = (yardsticks[-2].cpu + yardsticks[-1].cpu) / 2
            for name, run in between:
                runs[name].append((run, run.cpu / beside))
            between.clear()
    beside = statistics.median(run.cpu for run in yardsticks)
    figures = {YARDSTICK: _figure([(run, run.cpu / beside) for run in yardsticks])}
    return figures | {name: _figure(counted) for name, counted in runs.items()}


def _turns(processes: Sequence[Process]) -> Iterator[Process]:
    """Each process as often as it is counted, spread over the whole time."""
    at = [((number + 0.5) / process.runs, process) for process in processes for number in range(process.runs)]
    yield from (process for _, process in sorted(at, key=lambda turn: turn[0]))


def _figure(runs: Sequence[tuple[Run, float]]) -> Figure:
    middle, ratios = statistics.median, [ratio for _, ratio in runs]
    counted = [run for run, _ in runs]
    return Figure(
        middle(run.wall for run in counted), min(run.cpu for run in counted), middle(run.mib for run in counted),
        middle(ratios), min(ratios),
    )  # fmt: skip


def _run(process: Process) -> Run:
    started = time.perf_counter()
    with open(os.devnull, "wb") as nothing:  # noqa: PTH123
        child = os.posix_spawn(
            process.command[0], process.command, process.environment or _environment(),
            file_actions=[(os.POSIX_SPAWN_DUP2, nothing.fileno(), 1), (os.POSIX_SPAWN_DUP2, nothing.fileno(), 2)],
        )  # fmt: skip
        _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - started
    code = os.waitstatus_to_exitcode(status)
    if code not in process.expect:
        raise SystemExit(f"{' '.join(process.command)} ended with {code}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def _yardstick() -> Run:
    """The yardstick now."""
    return _run(Process(YARDSTICK, [sys.executable, str(PROGRAMS / "yardstick.py")], 1))


def preview(program: Path, stack: str, *more: str) -> list[str]:
    """The command that previews a stack with all checks on."""
    command = [sys.executable, "-m", "winkube.preview.cli.main", "preview", stack, "--program", str(program)]
    return [*command, "--format", "json", *more]


def main() -> int:
    """Measure everything, print the table, compare with the budget and with the last results."""
    parser = argparse.ArgumentParser(description="Measure speed and memory against bench/budget.json.")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command (default: 5)")
    parser.add_argument("--full", action="store_true", help="measure up to 5,000 groups, AWS CDK and cdk8s as well")
    parser.add_argument("--accept", action="store_true", help="write the ratios into bench/results.json")
    options = parser.parse_args()
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        processes = [*_processes(options.runs, Path(folder))]
        if options.full:
            sys.path.insert(0, str(ROOT))
            from bench.peers import peers

            processes += _large(options.runs)
            processes += [Process(**peer) for peer in peers(Path(folder), max(1, options.runs // 3))]
        figures = measured(processes)
    print(f"patches of the SDK: {', '.join(_patches()) or 'none'}")
    slower = _table(figures)
    over = _judge(_rows(figures))
    if options.accept:
        ratios = {name: round(figure.ratio, 3) for name, figure in figures.items() if name != YARDSTICK}
        RESULTS.write_text(json.dumps(_accepted() | ratios, indent=2) + "\n", "utf-8")
        return 0
    return 1 if over or slower else 0


def _patches() -> tuple[str, ...]:
    """What makes the SDK faster where this is measured: without it, every figure is another one."""
    from winkube.preview.evaluation.sdk_speed import patches_on

    return patches_on()


def _accepted() -> dict[str, float]:
    """The last accepted ratios, by the names of the processes."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}


def _processes(runs: int, folder: Path) -> Iterator[Process]:
    few, found = (runs + 1) // 2, (0, 1)
    policies = ("--policies", str(ROOT / "policies"))
    yield Process(IMPORT, [sys.executable, "-c", "import winkube, winkube.preview.cli.main"], runs)
    yield Process(BROKEN, preview(_broken_settings(folder), "dev"), runs, expect=(2,))
    for stack in ("dev", "prod", "kubeadm-prod"):
        yield Process(_cold(stack), preview(ROOT, stack, *policies), runs, found)
    page = ("--report", f"{folder}/report.html")
    yield Process("prod with its page", preview(ROOT, "prod", *policies, *page), few, found)
    command = [sys.executable, "-m", "winkube.preview.cli.main"]
    check = [*command, "check", "--output", str(folder), *policies]
    yield Process("check of all stacks", check, few, found, warm=True)
    if _has_parent_commit():
        yield Process(CHECKED, [*check, "--base", "HEAD~1"], few, found, warm=True)
        yield Process(COMPARED, [*command, "diff", "HEAD~1", "HEAD", "--stack", "prod"], few, warm=True)
    for size in SIZES:
        command = preview(PROGRAMS / "groups", str(size), *policies)
        yield Process(_groups(size), command, runs if size < SIZES[-1] else few, found, warm=size > SIZES[0])
    for flavour in FLEETS:
        yield Process(_fleet(flavour, 10), preview(PROGRAMS / "fleet", f"{flavour}-10", *policies), few, found)
    yield Process("1000 objects", preview(PROGRAMS / "objects", "1000", *policies), few, found)


def _large(runs: int) -> Iterator[Process]:
    """What takes a minute each, after the small ones of its kind have been run."""
    few, found = (runs + 1) // 2, (0, 1)
    policies = ("--policies", str(ROOT / "policies"))
    yield Process(_groups(5000), preview(PROGRAMS / "groups", "5000", *policies), few, found, warm=True)
    for flavour in FLEETS:
        for size in (1000, 5000):
            command = preview(PROGRAMS / "fleet", f"{flavour}-{size}", *policies)
            yield Process(_fleet(flavour, size), command, few, found, warm=True)
    for name, program, stack in (("dev", ROOT, "dev"), (_groups(1000), PROGRAMS / "groups", "1000")):
        yield Process(f"{name}, plain SDK", preview(program, stack, *policies, "--plain-sdk"), few, found)


def _table(figures: dict[str, Figure]) -> int:
    """Print every process beside its last ratio; how many have become slower."""
    before, slower = _accepted(), 0
    print(f"{'process':40} {'wall s':>8} {'cpu s':>8} {'peak MiB':>9} {'cpu/yardstick':>14} {'last':>6}")
    for name, figure in figures.items():
        ratio, last = figure.ratio, before.get(name)
        # A peer's own speed is nobody's regression here.
        worse = last is not None and figure.least > last * REGRESSION and not name.startswith(PEERS)
        slower += worse
        print(f"{name:40} {figure.wall:8.2f} {figure.cpu:8.2f} {figure.mib:9.0f} {ratio:14.2f} "
              f"{'' if last is None else format(last, '.2f'):>6}{'  SLOWER' if worse else ''}")  # fmt: skip
    return slower


def _rows(figures: dict[str, Figure]) -> dict[str, float]:
    """The figures that the budget bounds. Of a process the CPU time: the wall also measures who else is there."""
    small, large, larger = (figures[_groups(size)] for size in (10, 1000, 3000))
    dev = figures[_cold("dev")]
    rows = {
        "dev_cold_seconds": dev.seconds,
        "dev_cold_mib": dev.mib,
        "prod_cold_seconds": figures[_cold("prod")].seconds,
        "kubeadm_prod_cold_seconds": figures[_cold("kubeadm-prod")].seconds,
        "settings_error_seconds": figures[BROKEN].seconds,
        "groups_1000_seconds": large.seconds,
        "milliseconds_per_resource": (large.seconds - small.seconds) * 1000 / (990 * 3),
        "kilobytes_per_resource": (large.mib - small.mib) * 1024 / (990 * 3),
        "growth_1000_to_3000_groups": _growth(small, large, larger, 3000),
    }
    if _groups(5000) in figures:
        rows["growth_1000_to_5000_groups"] = _growth(small, large, figures[_groups(5000)], 5000)
        for flavour, resources in FLEETS.items():
            small, large, huge = (figures[_fleet(flavour, size)] for size in (10, 1000, 5000))
            more = 990 * resources
            rows |= {
                f"{flavour}_fleet_1000_seconds": large.seconds,
                f"{flavour}_fleet_milliseconds_per_resource": (large.seconds - small.seconds) * 1000 / more,
                f"{flavour}_fleet_kilobytes_per_resource": (large.mib - small.mib) * 1024 / more,
                f"{flavour}_fleet_growth_1000_to_5000": _growth(small, large, huge, 5000),
            }
    if COMPARED in figures:
        rows["diff_prod_seconds"] = figures[COMPARED].seconds
        rows["check_with_base_seconds"] = figures[CHECKED].seconds
    before = _yardstick().cpu
    here = _large_plan() | {"dev_warm_seconds": _warm()}
    slowness = (before + _yardstick().cpu) / 2 / REFERENCE_SECONDS
    rows |= {name: value / slowness if "seconds" in name else value for name, value in here.items()}
    return rows | _wheel()


def _growth(small: Figure, large: Figure, huge: Figure, size: int) -> float:
    """1 is linear: a group among the ``size`` of the last figure costs what it costs among 1,000."""
    return (huge.ratio - large.ratio) / (size - 1000) / ((large.ratio - small.ratio) / 990)


def _cold(stack: str) -> str:
    return f"{stack}, all checks, cold"


def _groups(size: int) -> str:
    return f"{size} groups"


def _fleet(flavour: str, size: int) -> str:
    return f"fleet of {size} groups, {flavour}"


def _judge(rows: dict[str, float]) -> int:
    """Print every figure beside its limit; how many are over it."""
    print(f"\n{'figure, seconds at the reference':40} {'is':>10} {'budget':>10}")
    over = 0
    for name, value in rows.items():
        limit = BUDGET[name]
        over += value > limit
        print(f"{name:40} {value:10.2f} {limit:10.2f}{'  OVER' if value > limit else ''}")
    return over


def _wheel() -> dict[str, float]:
    """The size of the wheel; left out, in words, where it cannot be built."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, str(ROOT)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wheels = list(Path(folder).glob("*.whl"))
        if done.returncode or not wheels:
            print("not measured: wheel_mib, as the wheel cannot be built here", file=sys.stderr)
            return {}
        return {"wheel_mib": wheels[0].stat().st_size / 2**20}


def _has_parent_commit() -> bool:
    command = ["git", "rev-parse", "--quiet", "--verify", "HEAD~1"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _large_plan() -> dict[str, float]:
    """What 1,000 resources of the usual kind cost in policies and in the page."""
    from winkube.preview.checks.policy_runner import run_policies
    from winkube.preview.evaluation.evaluate import evaluate
    from winkube.preview.output.report.page import report_html

    plan = evaluate(PROGRAMS / "groups", "1000")
    plan.resources = plan.resources[:1000]
    run_policies(plan, ROOT / "policies")  # loads the pack
    started = time.process_time()
    run_policies(plan, ROOT / "policies")
    policies = time.process_time() - started
    page = report_html(plan)
    rows = {"policies_seconds_per_1000": policies, "report_1000_mib": len(page.encode()) / 2**20}
    return rows | _opening(page)


def _opening(page: str) -> dict[str, float]:
    """Seconds until a page has loaded in a browser; left out, in words, where there is none."""
    sys.path.insert(0, str(ROOT))
    from tests.preview.chromium import CHROMIUM, browser

    if not CHROMIUM:
        print("not measured: report_1000_opens_seconds needs Chromium (Debian's package chromium)", file=sys.stderr)
        return {}
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        file = Path(folder) / "report.html"
        file.write_text(page, encoding="utf-8")
        times: list[float] = []
        for _ in range(3):
            tab = chromium.page()
            tab.open(file)
            times.append(float(tab.run("performance.getEntriesByType('navigation')[0].loadEventEnd")) / 1000)
    return {"report_1000_opens_seconds": statistics.median(times)}


def _warm() -> float:
    """CPU seconds of a second evaluation with checks in one process."""
    from winkube.preview.checks.plan import check_plan
    from winkube.preview.checks.policy_runner import run_policies
    from winkube.preview.evaluation.evaluate import evaluate

    times: list[float] = []
    for _ in range(4):
        started = time.process_time()
        plan = evaluate(ROOT, "dev")
        check_plan(plan)
        run_policies(plan, ROOT / "policies")
        times.append(time.process_time() - started)
    return statistics.median(times[1:])


def _broken_settings(parent: Path) -> Path:
    """A copy of the program's entry with a mistake in its settings."""
    folder = parent / "broken"
    folder.mkdir()
    for name in ("Pulumi.yaml", "__main__.py"):
        (folder / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "stacks").symlink_to(ROOT / "stacks")
    stack = (ROOT / "Pulumi.dev.yaml").read_text(encoding="utf-8")
    (folder / "Pulumi.dev.yaml").write_text(stack.replace('"1.36"', '"9.99"'), encoding="utf-8")
    return folder


if __name__ == "__main__":
    sys.exit(main())
