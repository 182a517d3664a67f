"""Measures what the budget bounds: whole processes from outside, growth per resource, ratios to a yardstick.

Each figure is the median of several runs after a warm-up. The machine's speed drifts by half, so a time is judged
at the speed of a reference: a fixed yardstick, importing pulumi and pulumi_aws and creating 100 plain resources under
the SDK's mocks, is measured in the same run and took :data:`REFERENCE_SECONDS` where the budget was set. What was
measured here is shown as well. ``bench/budget.json`` holds the limits; a figure over its limit ends with exit code 1.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET = json.loads((ROOT / "bench" / "budget.json").read_text(encoding="utf-8"))
PROGRAMS = ROOT / "bench" / "programs"
REFERENCE_SECONDS = 1.0
COMPARED = "diff of prod with the commit before"


@dataclass(frozen=True)
class Figure:
    """What one command costs: medians over the runs."""

    wall: float
    cpu: float
    mib: float


def measure(command: list[str], runs: int, expect: tuple[int, ...] = (0,)) -> Figure:
    """Run a command after one warm-up, and take the operating system's own accounting of each run."""
    walls: list[float] = []
    cpus: list[float] = []
    peaks: list[float] = []
    for run in range(runs + 1):
        started = time.perf_counter()
        with open(os.devnull, "wb") as nothing:  # noqa: PTH123
            process = os.posix_spawn(
                command[0], command, os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, nothing.fileno(), 1), (os.POSIX_SPAWN_DUP2, nothing.fileno(), 2)],
            )  # fmt: skip
            _, status, usage = os.wait4(process, 0)
        wall = time.perf_counter() - started
        code = os.waitstatus_to_exitcode(status)
        if code not in expect:
            raise SystemExit(f"{' '.join(command)} ended with {code}")
        if run:
            walls.append(wall)
            cpus.append(usage.ru_utime + usage.ru_stime)
            peaks.append(usage.ru_maxrss / 1024)
    return Figure(statistics.median(walls), statistics.median(cpus), statistics.median(peaks))


def preview(program: Path, stack: str, *more: str) -> list[str]:
    """The command that previews a stack with all checks on."""
    command = [sys.executable, "-m", "winkube.preview.cli", "preview", stack, "--program", str(program)]
    return [*command, "--format", "json", *more]


def main() -> int:
    """Measure everything, print the table, compare with the budget."""
    parser = argparse.ArgumentParser(description="Measure speed and memory against bench/budget.json.")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each command (default: 5)")
    runs = parser.parse_args().runs
    os.chdir(ROOT)
    policies = ("--policies", str(ROOT / "policies"))
    yardstick = measure([sys.executable, str(PROGRAMS / "yardstick.py")], runs)
    figures = {
        "yardstick: SDK mocks, 100 resources": yardstick,
        "dev, all checks, cold": measure(preview(ROOT, "dev", *policies), runs),
        "prod, all checks, cold": measure(preview(ROOT, "prod", *policies), runs),
        "settings error": measure(preview(_broken_settings(), "dev"), runs, expect=(2,)),
    }
    if _has_parent_commit():
        figures[COMPARED] = measure(
            [sys.executable, "-m", "winkube.preview.cli", "diff", "HEAD~1", "HEAD", "--stack", "prod"],
            max(1, runs // 2),
        )
    sizes = {size: measure(preview(PROGRAMS / "groups", str(size)), max(1, runs // 2)) for size in (10, 1000)}
    figures |= {f"{size} groups ({size * 3} resources)": figure for size, figure in sizes.items()}
    grown = (1000 - 10) * 3
    rows = {
        "dev_cold_seconds": figures["dev, all checks, cold"].wall,
        "dev_cold_mib": figures["dev, all checks, cold"].mib,
        "dev_cold_to_yardstick": figures["dev, all checks, cold"].cpu / yardstick.cpu,
        "dev_warm_seconds": _warm(),
        "prod_cold_seconds": figures["prod, all checks, cold"].wall,
        "settings_error_seconds": figures["settings error"].wall,
        "milliseconds_per_resource": (sizes[1000].wall - sizes[10].wall) * 1000 / grown,
        "kilobytes_per_resource": (sizes[1000].mib - sizes[10].mib) * 1024 / grown,
    }
    if COMPARED in figures:
        rows["diff_prod_seconds"] = figures[COMPARED].wall
    rows |= _large_plan()
    print(f"{'process':40} {'wall s':>8} {'cpu s':>8} {'peak MiB':>9} {'cpu/yardstick':>14}")
    for name, figure in figures.items():
        ratio = figure.cpu / yardstick.cpu
        print(f"{name:40} {figure.wall:8.2f} {figure.cpu:8.2f} {figure.mib:9.0f} {ratio:14.2f}")
    slowness = yardstick.wall / REFERENCE_SECONDS
    print(f"\n{'figure':40} {'measured':>10} {'at reference':>13} {'budget':>10}")
    over = 0
    for name, value in rows.items():
        limit = BUDGET[name]
        judged = value / slowness if "seconds" in name else value
        over += judged > limit
        print(f"{name:40} {value:10.2f} {judged:13.2f} {limit:10.2f}{'  OVER' if judged > limit else ''}")
    print(f"\nThis machine took {slowness:.2f} times the reference for the yardstick.")
    return 1 if over else 0


def _has_parent_commit() -> bool:
    command = ["git", "rev-parse", "--quiet", "--verify", "HEAD~1"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _large_plan() -> dict[str, float]:
    """What 1,000 resources of the usual kind cost in policies and in the page."""
    from winkube.preview.evaluate import evaluate
    from winkube.preview.policy_runner import run_policies
    from winkube.preview.report import report_html

    plan = evaluate(PROGRAMS / "groups", "1000")
    plan.resources = plan.resources[:1000]
    run_policies(plan, ROOT / "policies")  # loads the pack
    started = time.perf_counter()
    run_policies(plan, ROOT / "policies")
    policies = time.perf_counter() - started
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
    """Seconds of a second evaluation with checks in one process."""
    from winkube.preview.checks import check_plan
    from winkube.preview.evaluate import evaluate
    from winkube.preview.policy_runner import run_policies

    times: list[float] = []
    for _ in range(4):
        started = time.perf_counter()
        plan = evaluate(ROOT, "dev")
        check_plan(plan)
        run_policies(plan, ROOT / "policies")
        times.append(time.perf_counter() - started)
    return statistics.median(times[1:])


def _broken_settings() -> Path:
    """A copy of the program's entry with a mistake in its settings."""
    folder = Path(tempfile.mkdtemp(prefix="winkube-bench-"))
    for name in ("Pulumi.yaml", "__main__.py"):
        (folder / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "stacks").symlink_to(ROOT / "stacks")
    stack = (ROOT / "Pulumi.dev.yaml").read_text(encoding="utf-8")
    (folder / "Pulumi.dev.yaml").write_text(stack.replace('"1.36"', '"9.99"'), encoding="utf-8")
    return folder


if __name__ == "__main__":
    sys.exit(main())
