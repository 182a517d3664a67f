"""Options of node groups."""

from dataclasses import replace
from typing import Any

import pytest
from winkube.ec2.proxy import Proxy
from winkube.ec2.warm_pool import WarmPool
from winkube.eks.group_options import check_group_options
from winkube.eks.node_groups import EksLinuxNodeGroupArgs, EksWindowsNodeGroupArgs
from winkube.eks.target import EksTarget

TARGET = EksTarget(
    name="dev",
    kubernetes_version="1.36",
    endpoint="https://dev.eks",
    certificate_authority="Q0E=",
    security_group_id="sg-1",
)
WINDOWS = EksWindowsNodeGroupArgs(name="windows", cluster=TARGET, subnet_ids=["subnet-1"])
LINUX = EksLinuxNodeGroupArgs(name="system", cluster=TARGET, subnet_ids=["subnet-1"])
OWN = replace(WINDOWS, image_id="ami-0123456789abcdef0")


def only(found):
    """The one mistake found."""
    assert len(found) == 1, [mistake.text() for mistake in found]
    return found[0]


def wrong(group: Any, target: EksTarget = TARGET):
    """The one mistake of a group."""
    return only(check_group_options(group, target))


@pytest.mark.parametrize("group", [WINDOWS, LINUX, OWN, replace(LINUX, management="self_managed")])
def test_plain_groups_pass(group: Any):
    """The defaults of every kind are right."""
    assert not check_group_options(group, TARGET)


def test_an_image_has_an_id():
    """WK-EKS-025 for a text that is no image id; an image that is not known yet is not judged."""
    mistake = wrong(replace(WINDOWS, image_id="windows-2022"))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-025", ("image_id",), "windows-2022")


@pytest.mark.parametrize("group", [OWN, replace(WINDOWS, management="self_managed")])
def test_an_own_image_has_no_release(group: EksWindowsNodeGroupArgs):
    """WK-EKS-025: EKS refuses an AMI id together with a release."""
    mistake = wrong(replace(group, release_version="1.36-2026.11.10"))
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-025", ("release_version",))


@pytest.mark.parametrize("version", ["1.35-2026.11.10", "latest", "1.36"])
def test_a_release_is_of_the_cluster_s_minor(version: str):
    """WK-EKS-077 with an example of the right form."""
    mistake = wrong(replace(WINDOWS, release_version=version))
    assert (mistake.rule.code, mistake.got) == ("WK-EKS-077", version)
    assert "1.36-2026.11.10" in mistake.remedy
    assert not check_group_options(replace(LINUX, release_version="1.36.0-20261110"), TARGET)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kubelet_arguments", {"v": "4"}),
        ("max_pods", 5),
        ("excluded_snat_cidrs", ("10.0.0.0/8",)),
        ("commands_after", ("x",)),
    ],
)
def test_eks_passes_nothing_on(field: str, value: Any):
    """WK-EKS-078 for what only the bootstrap's caller can say, with both ways out."""
    mistake = wrong(replace(WINDOWS, **{field: value}))
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-078", (field,))
    assert "image_id" in mistake.remedy
    assert "self_managed" in mistake.remedy
    assert not check_group_options(replace(OWN, **{field: value}), TARGET)


@pytest.mark.parametrize(
    ("group", "field"),
    [
        (OWN, "endpoint"),
        (OWN, "certificate_authority"),
        (replace(LINUX, management="self_managed"), "security_group_id"),
    ],
)
def test_the_bootstrap_needs_to_know_the_cluster(group: Any, field: str):
    """WK-EKS-079 at the field of the target that is missing."""
    mistake = wrong(group, replace(TARGET, **{field: None}))
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-079", ("cluster", field))


def test_nodes_of_ones_own_need_an_entry():
    """WK-EKS-080: without the API mode there is no EC2_WINDOWS entry, and kube-proxy has no rights."""
    mistake = wrong(OWN, replace(TARGET, authentication_mode="CONFIG_MAP"))
    assert (mistake.rule.code, mistake.got) == ("WK-EKS-080", "CONFIG_MAP")
    assert "API_AND_CONFIG_MAP" in mistake.remedy
    assert not check_group_options(WINDOWS, replace(TARGET, authentication_mode="CONFIG_MAP"))


def test_pods_need_addresses():
    """WK-EKS-081 with the number that the type allows, in either mode."""
    mistake = wrong(replace(OWN, max_pods=20))
    assert (mistake.rule.code, mistake.path, mistake.got) == ("WK-EKS-081", ("max_pods",), 20)
    assert mistake.remedy == "set max_pods to 9 or less, or use prefix delegation"
    assert not check_group_options(replace(OWN, max_pods=144, prefix_delegation=True), TARGET)
    assert wrong(replace(OWN, max_pods=145, prefix_delegation=True)).remedy == "set max_pods to 144 or less"
    assert wrong(replace(OWN, max_pods=-1)).message == "max_pods must be 1 or more"


def test_management_is_one_of_two():
    """WK-EKS-082 with the nearest word."""
    mistake = wrong(replace(WINDOWS, management="selfmanaged"))
    assert (mistake.rule.code, mistake.remedy) == ("WK-EKS-082", 'write "self_managed"')


def test_bottlerocket_has_no_shell():
    """WK-EKS-083 for commands, flags and proxy."""
    group = replace(LINUX, linux="bottlerocket", commands_before=("x",), proxy=Proxy(https="http://p:1"))
    found = check_group_options(group, TARGET)
    assert [(mistake.rule.code, mistake.path) for mistake in found] == [
        ("WK-EKS-083", ("commands_before",)), ("WK-EKS-083", ("proxy",)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cores", "threads", "path", "said"),
    [
        (1, None, "threads_per_core", "together"),
        (None, 1, "cpu_cores", "together"),
        (2, 1, "cpu_cores", "m6i.large has 1 cores"),
        (1, 3, "threads_per_core", "1 or 2 threads"),
    ],
)
def test_cpu_options_fit_the_type(cores: int | None, threads: int | None, path: str, said: str):
    """WK-EKS-074 for half of the pair and for more cores than there are."""
    mistake = wrong(replace(WINDOWS, cpu_cores=cores, threads_per_core=threads))
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-074", (path,))
    assert said in mistake.message


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"max_unavailable": None}, "max_unavailable"),
        ({"max_unavailable_percentage": 20}, "max_unavailable"),
        ({"max_unavailable": 0}, "max_unavailable"),
        ({"max_unavailable": None, "max_unavailable_percentage": 101}, "max_unavailable_percentage"),
        ({"update_strategy": "MINIMAL"}, "update_strategy"),
    ],
)
def test_updates_take_a_number_or_a_percentage(values: dict[str, Any], path: str):
    """WK-EKS-076 at the field that is wrong."""
    mistake = wrong(replace(WINDOWS, **values))
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-076", (path,))


@pytest.mark.parametrize(
    ("group", "pool", "path"),
    [
        (OWN, WarmPool(), ("warm_pool",)),
        (WINDOWS, WarmPool(state="STOPPED"), ("warm_pool", "state")),
        (WINDOWS, WarmPool(min_size=4), ("warm_pool", "min_size")),
        (WINDOWS, WarmPool(min_size=3, max_prepared=2), ("warm_pool", "min_size")),
        (WINDOWS, WarmPool(max_prepared=-1), ("warm_pool", "max_prepared")),
        (replace(LINUX, linux="bottlerocket"), WarmPool(reuse_on_scale_in=True), ("warm_pool",)),
    ],
)
def test_warm_pools(group: Any, pool: WarmPool, path: tuple[str, ...]):
    """WK-EKS-075 for own images, wrong words and sizes, and what Bottlerocket cannot."""
    mistake = wrong(replace(group, warm_pool=pool))
    assert (mistake.rule.code, mistake.path) == ("WK-EKS-075", path)


def test_the_size_of_user_data_is_known_before_the_cluster_is():
    """WK-EKS-070 with stand-ins for endpoint and CA, in a managed group and in one of its own."""
    commands = ("# " + "x" * 16384,)
    for group in (WINDOWS, OWN, LINUX):
        assert wrong(replace(group, commands_before=commands)).rule.code == "WK-EKS-070"
    # Managed groups leave room for EKS' own part; groups that start themselves carry the cluster's facts too.
    assert not check_group_options(replace(WINDOWS, commands_before=("x" * 12000,)), TARGET)
