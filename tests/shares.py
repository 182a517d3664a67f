"""How the tests are shared between workers: a file is a share, and so is everything that one test bed serves."""

import re
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling  # pyright: ignore[reportMissingTypeStubs]

_BED = re.compile(r"tests/cluster/.*\[(\d+\.\d+)[-\]]")
_ALONE = "tests/node_agent/test_scenarios.py"
"""Longer than all others of its command together: each of its tests is a share, with a bed of its own."""
_LONG = (
    *("tests/boot/", "tests/cluster/", "tests/windows_boot/wine/", "tests/kubeadm/", "tests/node_agent/"),
    *("tests/package/", "tests/docs/", "tests/preview/", "tests/stacks/"),
)
"""They start first, so that no worker is left alone with one of them at the end."""


def share_of(test: str) -> str:
    """The share of a test by its id: a test bed takes seconds to start, so one worker keeps one for all files."""
    bed = _BED.match(test)
    return f"test bed {bed[1]}" if bed else test if test.startswith(_ALONE) else test.partition("::")[0]


def turn_of(test: str) -> int:
    """When a test's room has its turn; equal numbers stay in the order in which they were found."""
    return next((turn for turn, room in enumerate(_LONG) if test.startswith(room)), len(_LONG))


class Shares(LoadFileScheduling):
    """``--dist loadfile`` that keeps test beds together and starts with what takes long."""

    def _split_scope(self, nodeid: str) -> str:
        return share_of(nodeid)


def scheduler(config: pytest.Config, log: Any) -> Shares | None:
    """The scheduler of a run with ``--dist loadfile``; any other stays what it is."""
    if config.getoption("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False  # the order is that of turn_of, not the number of tests
    return Shares(config, log)
