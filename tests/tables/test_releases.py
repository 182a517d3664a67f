"""Releases of self-managed clusters: which there are, which are refused, and with which words."""

import re
from datetime import date, timedelta

import pytest
from winkube.core.mistakes import Mistakes
from winkube.tables import releases
from winkube.tables.releases import SELF_MANAGED_MINORS, SELF_MANAGED_RELEASES, check_minor, check_windows, release

from tests.golden import NEWEST, OLDEST, golden


def only(found: Mistakes) -> str:
    """The text of the one mistake."""
    assert len(found) == 1, found
    return found[0].text("winkube:")


def test_every_minor_that_winkube_promises_has_a_row():
    assert tuple(SELF_MANAGED_RELEASES) == SELF_MANAGED_MINORS


@pytest.mark.parametrize("minor", SELF_MANAGED_MINORS)
class TestRow:
    def test_is_of_its_minor(self, minor: str):
        row = release(minor)
        assert re.fullmatch(rf"{re.escape(minor)}\.\d+", row.patch)
        assert row.tag == f"v{row.patch}"

    def test_dates_are_in_order_and_support_has_not_ended(self, minor: str):
        row = release(minor)
        assert row.released < row.patch_released <= releases.STATE_OF < row.maintenance_until < row.end_of_life
        # Upstream's rule: twelve months of fixes, then two of security fixes.
        assert timedelta(360) < row.maintenance_until - row.released < timedelta(380)
        assert timedelta(55) < row.end_of_life - row.maintenance_until < timedelta(65)

    def test_pause_is_new_enough_for_server_2025(self, minor: str):
        version = release(minor).pause_image.rpartition(":")[2]
        assert _numbers(version) >= _numbers(releases.PAUSE_MINIMUM_SERVER_2025)

    def test_containerd_starts_pods_with_a_pinned_pause_image(self, minor: str):
        assert _numbers(release(minor).containerd) >= _numbers(releases.CONTAINERD_MINIMUM_PINNED_PAUSE)

    def test_cloud_controller_manager_is_at_most_one_minor_older(self, minor: str):
        row = release(minor)
        image = _numbers(row.cloud_controller_manager.rpartition(":v")[2])
        assert 0 <= _numbers(minor)[1] - image[1] <= 1

    def test_windows_2019_is_refused_and_the_newer_ones_are_not(self, minor: str):
        assert not check_windows("2022", minor)
        assert not check_windows("2025", minor)
        text = only(check_windows("2019", minor, ("instance_groups", 1, "windows")))
        assert text.startswith("winkube:instance_groups[1].windows: Windows nodes of a self-managed cluster run")
        assert '"2022" or "2025"; Kubernetes 1.35 removed 2019' in text
        assert "[WK-KAD-002]" in text

    def test_etcd_version_is_the_image_tag_without_its_build(self, minor: str):
        assert re.fullmatch(r"3\.[67]\.\d+", release(minor).etcd)

    def test_is_accepted(self, minor: str):
        assert not check_minor(minor)


@pytest.mark.parametrize(("minor", "day"), sorted(releases.ENDED.items()))
def test_minor_out_of_support_is_refused_with_the_day_and_the_next_one(minor: str, day: date):
    assert day < releases.STATE_OF
    text = only(check_minor(minor))
    assert f"Kubernetes {minor} is out of support since {day}" in text
    assert golden('set kubernetes_version to "{oldest}" (maintained until {oldest end of life}) or newer') in text
    assert "[WK-KAD-001]" in text


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        *(
            (minor, f"planned for {day}, and winkube does not support it yet")
            for minor, day in releases.PLANNED.items()
        ),
        *((minor, f'got "{minor}"; set kubernetes_version to "{NEWEST}"') for minor in releases.PLANNED),
        ("1.9", "out of support for years"),
        (release(NEWEST).patch, f'got "{release(NEWEST).patch}"; set kubernetes_version to "{NEWEST}"'),
        (f"v{OLDEST}", 'set kubernetes_version to "{oldest}"'),
        (NEWEST.replace(".", ","), 'set kubernetes_version to "{newest}"'),
        ("latest", "winkube supports the Kubernetes minors {minors}"),
        ("", 'set kubernetes_version to "{newest}"'),
    ],
)
def test_other_minors_are_refused_with_the_nearest(wrong: str, words: str):
    text = only(check_minor(wrong))
    assert golden(words) in text
    assert "[WK-KAD-001]" in text


@pytest.mark.parametrize(
    ("wrong", "right"), [("2023", "2025"), ("2016", "2022"), ("ltsc2025", "2025"), ("1809", "2022")]
)
def test_windows_of_a_wrong_year_is_refused_with_the_nearest(wrong: str, right: str):
    assert f'set windows to "{right}"' in only(check_windows(wrong, NEWEST))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
