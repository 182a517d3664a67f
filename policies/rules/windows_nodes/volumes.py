"""Root volumes of Windows nodes."""

from collections.abc import Iterator

from winkube.eks.node_group_rules import WINDOWS_MINIMUM_ROOT_GIB
from winkube.tables.windows import WINDOWS_ROOT_DEVICE

from ...frameworks import LAUNCH_TEMPLATES_PAGE, eks_guide
from ...inventory import inventory
from ...model import Planned, Settings, Stack, Value, Violation, every, stack_rule
from ...resource_types import LAUNCH_TEMPLATE, NODE_GROUP


@stack_rule(
    "windows-root-volume",
    "Windows nodes have a root volume that is large enough, on the device that they start from",
    types=[LAUNCH_TEMPLATE, NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Customize managed nodes with launch templates")],
    steps=f"map {WINDOWS_ROOT_DEVICE} with volume_size {WINDOWS_MINIMUM_ROOT_GIB} or more and volume_type gp3",
    url=LAUNCH_TEMPLATES_PAGE,
)
def windows_root_volume(stack: Stack, settings: Settings) -> Iterator[Violation]:
    """The image needs 50 GiB; a volume on another device is a second, empty disk."""
    plan = inventory(stack)

    def check(resource: Planned) -> Iterator[Violation]:
        for size in _root_sizes(resource):
            number = size.number
            if number is not None and number < WINDOWS_MINIMUM_ROOT_GIB:
                message = f"the root volume has {number} GiB, the Windows image needs {WINDOWS_MINIMUM_ROOT_GIB}"
                yield Violation(message, resource.urn)
        if resource.type == LAUNCH_TEMPLATE:
            devices = [mapping["deviceName"].text for mapping in resource["blockDeviceMappings"].items()]
            if "/dev/xvda" in devices and WINDOWS_ROOT_DEVICE not in devices:
                message = f"/dev/xvda is a second disk on Windows: nodes start from {WINDOWS_ROOT_DEVICE}"
                yield Violation(message, resource.urn)

    templates = [template for template, _ in plan.nodes_templates("windows")]
    yield from every([*templates, *plan.windows_groups], check)


def _root_sizes(resource: Planned) -> list[Value]:
    if resource.type == NODE_GROUP:
        return [resource["diskSize"]]
    return [
        mapping["ebs"]["volumeSize"]
        for mapping in resource["blockDeviceMappings"].items()
        if mapping["deviceName"].raw == WINDOWS_ROOT_DEVICE or mapping.unknown
    ]
