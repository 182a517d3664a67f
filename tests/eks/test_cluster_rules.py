"""Rules of clusters."""

import gzip
import json
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from winkube.core.mistakes import one_of
from winkube.eks.cluster_rules import (
    AUTHENTICATION_MODES,
    CONTROL_PLANE_TIERS,
    EGRESS_MODES,
    LOG_TYPE_NAMES,
    SUPPORT_TYPES,
    check_cluster,
    check_service_cidr,
    check_version,
)
from winkube.tables.kubernetes import EKS_MINORS, minor_number
from winkube.tables.log_retention import RETENTION_DAYS

from tests.golden import EKS_NEWEST, EKS_OLDEST

NEXT = f"1.{minor_number(EKS_NEWEST)[1] + 1}"
"""A minor that EKS does not run yet."""


@dataclass(frozen=True)
class Cluster:
    """A cluster as settings would give it."""

    cluster_name: str = "dev"
    kubernetes_version: str = "1.36"
    service_cidr: str = "172.20.0.0/16"
    authentication_mode: str = "API"
    endpoint_public_access: bool = False
    public_access_cidrs: tuple[str, ...] = ()
    access_entries: tuple[Any, ...] = ()
    log_types: tuple[str, ...] = LOG_TYPE_NAMES
    log_retention_days: int = 90
    support_type: str = "extended"
    control_plane_tier: str = "standard"
    control_plane_egress: str = "aws_managed"


def only(found):
    """The one mistake found."""
    assert len(found) == 1, [mistake.text() for mistake in found]
    return found[0]


def wrong(**values: Any):
    """The one mistake of a cluster with one wrong value."""
    return only(check_cluster(replace(Cluster(), **values)))


def test_the_words_are_those_of_the_api():
    """Modes, log types, tiers and periods are the ones that botocore's models know."""
    shapes = json.loads(
        gzip.decompress(files("botocore").joinpath("data/eks/2017-11-01/service-2.json.gz").read_bytes())
    )["shapes"]
    assert set(AUTHENTICATION_MODES) == set(shapes["AuthenticationMode"]["enum"])
    assert set(LOG_TYPE_NAMES) == set(shapes["LogType"]["enum"])
    assert set(CONTROL_PLANE_TIERS) == set(shapes["ProvisionedControlPlaneTier"]["enum"])
    assert set(SUPPORT_TYPES.values()) == set(shapes["SupportType"]["enum"])
    assert set(EGRESS_MODES.values()) == set(shapes["ControlPlaneEgressModeType"]["enum"])


def test_a_plain_cluster_passes():
    """The defaults are right."""
    assert not check_cluster(Cluster())
    assert not check_cluster(replace(Cluster(), endpoint_public_access=True, public_access_cidrs=("203.0.113.0/24",)))


@pytest.mark.parametrize(
    ("version", "meant"),
    [
        ("9.99", EKS_NEWEST),
        (NEXT, EKS_NEWEST),
        ("1.30", EKS_OLDEST),
        (f"v{EKS_OLDEST}", EKS_OLDEST),
        (f"{EKS_NEWEST}.2", EKS_NEWEST),
        ("latest", EKS_NEWEST),
    ],
)
def test_a_version_that_eks_does_not_run(version: str, meant: str):
    """WK-EKS-001 lists the minors and picks the one meant."""
    mistake = wrong(kubernetes_version=version)
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-001", ("kubernetes_version",), version)
    assert one_of(EKS_MINORS) in mistake.message
    assert mistake.remedy == f'write "{meant}"'


def test_extended_support_is_for_clusters_that_exist():
    """WK-EKS-001 gives the day on which standard support ended."""
    assert "2026-07-29" in wrong(kubernetes_version="1.33").message
    assert not check_version("1.33", existing=True)
    assert check_version("1.30", existing=True)


@pytest.mark.parametrize("name", ["", "-dev", "dev.example.com", "x" * 101])
def test_names_fit_into_eks(name: str):
    """WK-EKS-002 for a name that EKS would refuse."""
    mistake = wrong(cluster_name=name)
    assert (mistake.rule.code, mistake.got) == ("WK-EKS-002", name)


@pytest.mark.parametrize("cidr", ["172.20.0.1/16", "172.20.0.0", "10.0.0.0/8", "10.0.0.0/25", "100.64.0.0/16", "x"])
def test_service_addresses_are_private(cidr: str):
    """WK-EKS-003 for no network, a wrong size, or a range that EKS refuses."""
    mistake = wrong(service_cidr=cidr)
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-003", ("service_cidr",), cidr)


@given(st.integers(0, 2**20 - 1), st.integers(8, 30))
def test_service_cidr_passes_exactly_within_the_limits(block: int, prefix: int):
    """Of all networks in 172.16.0.0/12, those of /12 to /24 pass."""
    address = (172 << 24) + (16 << 16) + block
    address = address >> (32 - prefix) << (32 - prefix)
    text = ".".join(str(address >> shift & 255) for shift in (24, 16, 8, 0)) + f"/{prefix}"
    assert (not check_service_cidr(text)) is (12 <= prefix <= 24)


def test_an_unknown_authentication_mode_names_the_nearest():
    """WK-EKS-004."""
    mistake = wrong(authentication_mode="api")
    assert (mistake.rule.code, mistake.remedy) == ("WK-EKS-004", 'write "API"')


@pytest.mark.parametrize(
    ("public", "cidrs", "said"),
    [
        (True, (), "open to the internet"),
        (False, ("203.0.113.0/24",), "no effect"),
        (True, ("10.0.0.0/8",), "private networks"),
        (True, ("203.0.113.7",), "not an IPv4 network"),
        (True, tuple(f"203.0.{number}.0/24" for number in range(41)), "at most 40"),
    ],
)
def test_a_public_endpoint_names_its_callers(public: bool, cidrs: tuple[str, ...], said: str):
    """WK-EKS-005 in every way to get it wrong."""
    mistake = wrong(endpoint_public_access=public, public_access_cidrs=cidrs)
    assert mistake.rule.code == "WK-EKS-005"
    assert mistake.path[0] == "public_access_cidrs"
    assert said in mistake.message


def test_an_unknown_log_type_names_the_nearest():
    """WK-EKS-006 at the log type."""
    mistake = wrong(log_types=("audit", "controller-manager"))
    assert (mistake.rule.code, mistake.path, mistake.remedy) == (
        "WK-EKS-006",
        ("log_types", 1),
        'write "controllerManager"',
    )


@pytest.mark.parametrize(("days", "longer"), [(100, 120), (0, 1), (9999, 3653)])
def test_logs_are_kept_for_a_period_of_cloudwatch(days: int, longer: int):
    """WK-EKS-007 with the next longer period."""
    mistake = wrong(log_retention_days=days)
    assert (mistake.rule.code, mistake.remedy) == ("WK-EKS-007", f"set log_retention_days to {longer}")
    assert all(str(period) in mistake.message for period in RETENTION_DAYS)


@pytest.mark.parametrize(
    ("field", "value", "code", "right"),
    [
        ("support_type", "STANDARD", "WK-EKS-008", "standard"),
        ("control_plane_tier", "xl", "WK-EKS-009", "tier-xl"),
        ("control_plane_egress", "customer-routed", "WK-EKS-033", "customer_routed"),
    ],
)
def test_words_of_the_control_plane(field: str, value: str, code: str, right: str):
    """WK-EKS-008, -009 and -033 list their words."""
    mistake = wrong(**{field: value})
    assert (mistake.rule.code, mistake.path, mistake.got) == (code, (field,), value)
    assert right in mistake.message


def test_all_mistakes_come_at_once():
    """One report for the whole cluster."""
    found = check_cluster(Cluster(cluster_name="", kubernetes_version="9.99", service_cidr="x", log_retention_days=2))
    assert {mistake.rule.code for mistake in found} == {"WK-EKS-001", "WK-EKS-002", "WK-EKS-003", "WK-EKS-007"}
