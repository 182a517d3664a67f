"""Add-ons of clusters with Windows nodes."""

from collections.abc import Iterator

from winkube.addons.addon_rules import check_values
from winkube.addons.addon_table import ADDONS
from winkube.eks.ipam import CUSTOM_NETWORKING_VARIABLE

from ...eks_resources import addon_values
from ...frameworks import BEST_PRACTICES, WINDOWS_SUPPORT_PAGE, best_practices, eks_guide
from ...inventory import inventory
from ...model import Planned, Settings, Stack, Value, Violation, every, stack_rule
from ...resource_types import ADDON


@stack_rule(
    "windows-no-custom-networking",
    "A cluster with Windows nodes does not rely on custom networking",
    types=[ADDON],
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps=f"leave {CUSTOM_NETWORKING_VARIABLE} off, or accept that Windows pods are in the nodes' subnets",
    url=WINDOWS_SUPPORT_PAGE,
)
def windows_no_custom_networking(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """ENIConfig has no effect on Windows nodes."""
    plan = inventory(stack)

    def check(addon: Planned) -> Iterator[Violation]:
        if addon["addonName"].settled != "vpc-cni" or plan.cluster(addon) not in plan.windows_clusters:
            return
        environment = Value(addon_values(addon["configurationValues"]), "")["env"]
        if str(environment[CUSTOM_NETWORKING_VARIABLE].settled).lower() == "true":
            yield Violation(
                "custom networking does not affect Windows pods: they stay in the nodes' subnets", addon.urn
            )

    yield from every(stack.of(ADDON), check)


@stack_rule(
    "addon-keeps-to-linux",
    "Linux add-ons are not scheduled on Windows nodes",
    types=[ADDON],
    severity="high",
    references=[best_practices("Windows scheduling")],
    steps='keep "kubernetes.io/os": "linux" in the add-on\'s node selectors',
    url=f"{BEST_PRACTICES}/windows-scheduling.html",
)
def addon_keeps_to_linux(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """Uses the checks of the add-on components."""
    plan = inventory(stack)

    def check(addon: Planned) -> Iterator[Violation]:
        row = ADDONS.get(str(addon["addonName"].settled))
        if row is None or plan.cluster(addon) not in plan.windows_clusters:
            return
        for mistake in check_values(row, addon_values(addon["configurationValues"])):
            if mistake.rule.code in ("WK-ADD-009", "WK-ADD-010"):
                place = ".".join(str(part) for part in mistake.path)
                yield Violation(f"{place}: {mistake.message}; {mistake.remedy}", addon.urn)

    yield from every(stack.of(ADDON), check)
