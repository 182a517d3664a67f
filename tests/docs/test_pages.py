"""The pages say what the tables and the code say."""

import re
from datetime import date
from pathlib import Path

import pytest
from winkube.eks.density import address_capacity
from winkube.eks.ipam import addon_values, config_map_data
from winkube.eks.private_cluster import private_endpoints
from winkube.eks.windows_ipam import WindowsIpamArgs
from winkube.network.network import NetworkArgs
from winkube.network.plan import plan_network
from winkube.roles.policy_documents import EKS_CLUSTER_POLICIES, EKS_WINDOWS_POLICIES, NODE_POLICIES
from winkube.state_bucket.layout import ClusterLayout
from winkube.tables.kubernetes import EKS_KNOWN_MINORS, WINDOWS_MINIMUM_PLATFORM, EksMinor
from winkube.tables.windows import WINDOWS_RELEASES, WindowsRelease

from docs.ledger import rule_codes

ROOT = Path(__file__).parents[2]
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md")}


def row(page: str, first: str, block: str = "") -> str:
    """The row of a table that begins with this cell, in the whole page or in a block that `make docs` writes."""
    text = PAGES[page].partition(f"<!-- {block}: ")[2].partition(f"<!-- end of {block} ")[0] if block else PAGES[page]
    (found,) = [line for line in text.splitlines() if line.startswith(f"| {first} |")]
    return found


def written(day: date) -> str:
    """A day as the pages write it."""
    return f"{day.day} {day:%B %Y}"


@pytest.mark.parametrize("release", WINDOWS_RELEASES.values(), ids=lambda release: release.release)
def test_the_releases_of_windows_are_those_of_the_table(release: WindowsRelease) -> None:
    said = row("limits", release.release)
    assert release.build in said
    assert written(release.mainstream_support_until) in said
    assert written(release.extended_support_until) in said


@pytest.mark.parametrize("minor", EKS_KNOWN_MINORS.values(), ids=lambda minor: minor.minor)
def test_the_versions_of_kubernetes_are_those_of_the_table(minor: EksMinor) -> None:
    said = row("limits", minor.minor, block="eks")
    for day in (minor.since, minor.standard_support_until, minor.extended_support_until):
        assert written(day) in said


def test_the_platform_versions_are_those_of_the_table() -> None:
    for minor in ("1.24", "1.30", "1.31"):
        assert f"{minor} `{WINDOWS_MINIMUM_PLATFORM[minor]}`" in PAGES["limits"]
    assert {WINDOWS_MINIMUM_PLATFORM[f"1.{number}"] for number in range(25, 30)} == {"eks.1"}


def test_the_keys_of_windows_ipam_are_those_of_the_code() -> None:
    """Argument, value of the add-on and key of the ConfigMap stand in one row."""
    ipam = WindowsIpamArgs(cluster=None, prefix_delegation=True, warm_ip_target=1, minimum_ip_target=1,
                           warm_prefix_target=1)  # pyright: ignore[reportArgumentType] # fmt: skip
    names = ("enabled", "prefix_delegation", "warm_ip_target", "minimum_ip_target", "warm_prefix_target")
    for name, addon_key, map_key in zip(names, addon_values(ipam), config_map_data(ipam), strict=True):
        assert f"| `{name}` | `{addon_key}` | `{map_key}` |" in PAGES["eks-windows"]


def test_the_figures_of_the_density_are_computed() -> None:
    assert f"(m5.large: {address_capacity('m5.large')})" in PAGES["eks-windows"]
    assert f"(m5.large: {address_capacity('m5.large', prefix_delegation=True)})" in PAGES["eks-windows"]


def test_the_endpoints_of_a_private_cluster_are_named() -> None:
    text = PAGES["eks-windows"].partition("## Private clusters")[2].partition("## ")[0]
    for name in private_endpoints():
        assert f"`{name}`" in text


def test_the_address_plan_is_that_of_the_code() -> None:
    plan = plan_network(NetworkArgs(region="eu-central-1", zones=3, intra_subnets=True))
    for role in ("private", "public", "intra"):
        (said,) = re.findall(rf"^\| {role} \(.*$", PAGES["networking"], flags=re.M)
        assert [cell.strip() for cell in said.split("|")[2:5]] == [
            str(subnet.cidr) for subnet in plan.subnets if subnet.role == role
        ]


def test_the_policies_of_the_roles_are_those_of_the_code() -> None:
    for name in (*EKS_CLUSTER_POLICIES, *EKS_WINDOWS_POLICIES):
        assert f"`{name}`" in row("iam", "EKS cluster")
    for name in NODE_POLICIES["eks-linux"]:
        assert f"`{name}`" in row("iam", "Linux nodes")
    assert set(NODE_POLICIES["eks-linux"]) - set(NODE_POLICIES["eks-windows"]) == {"AmazonEKS_CNI_Policy"}
    assert "the same without `AmazonEKS_CNI_Policy`" in row("iam", "Windows nodes")


def test_the_keys_of_the_state_bucket_are_those_of_the_layout() -> None:
    layout = ClusterLayout("dev")
    keys = {
        "boot/<sha256>": layout.boot_code("0"), "nodes/<group>/<sha256>.json": layout.node_document("g", "0"),
        "serviceaccount/<name>.kcfg": layout.service_account_kubeconfig("x"),
        "pki/<incarnation>/…": layout.pki("ca"), "backups/etcd/<incarnation>/<member>/…": layout.etcd_backups("m"),
        "bootstrap/<incarnation>/…": layout.bootstrap("lock"),
    }  # fmt: skip
    for said, key in keys.items():
        assert row("state-bucket", f"`{said}`")
        assert key.removeprefix(layout.prefix).startswith(said.partition("<")[0].removesuffix("…"))


@pytest.mark.parametrize("page", [page for page in PAGES if page != "errors"])
def test_every_code_on_a_page_is_one_of_a_rule(page: str) -> None:
    named = set(re.findall(r"WK-[A-Z][A-Z0-9]*-\d{3}", PAGES[page]))
    assert named <= rule_codes(ROOT)
