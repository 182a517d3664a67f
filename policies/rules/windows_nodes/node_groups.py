"""Node groups of Windows nodes: instance types, taints, repair."""

from collections.abc import Iterator

from winkube.ec2.instance_rules import MINIMUM_WINDOWS_MIB
from winkube.tables.instance_types import instance_type, untested_on_windows

from ...eks_resources import is_windows_group
from ...frameworks import BEST_PRACTICES, WINDOWS_AMI_PAGE, best_practices, eks_guide
from ...model import Option, Planned, Settings, resource_rule, texts
from ...resource_types import NODE_GROUP


@resource_rule(
    "windows-instance-types",
    "Windows nodes run on instance types that Windows supports",
    types=[NODE_GROUP],
    severity="high",
    level="mandatory",
    references=[eks_guide("Create nodes with optimized Windows AMIs")],
    steps='use x86_64 types without an accelerator and with at least 4 GiB, such as "m6i.large"',
    url=WINDOWS_AMI_PAGE,
)
def windows_instance_types(resource: Planned, settings: Settings) -> Iterator[str]:
    """No Arm processors, no accelerators without a driver, and more memory than Windows itself needs."""
    if not is_windows_group(resource):
        return
    for name in texts(resource["instanceTypes"]):
        facts = instance_type(name)
        if facts is None:
            continue
        if facts.architecture != "x86_64":
            yield f"Windows nodes are x86_64, {name} is {facts.architecture}"
        elif facts.accelerator is not None:
            yield f"the Windows images of EKS contain no driver for the {facts.accelerator} of {name}"
        elif facts.memory_mib is not None and facts.memory_mib < MINIMUM_WINDOWS_MIB:
            yield f"a Windows node needs {MINIMUM_WINDOWS_MIB} MiB of memory, {name} has {facts.memory_mib}"


@resource_rule(
    "windows-instance-types-tested",
    "Windows nodes run on instance families that AWS has not listed as unsupported",
    types=[NODE_GROUP],
    severity="low",
    references=[eks_guide("Deploy Windows nodes on EKS clusters")],
    steps="use a family such as m6i or m7i, or test it and list it in the rule's configuration",
    url="https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.aws_eks-readme.html",
    options={"allowed": Option([], "families that have been tested", {"type": "array", "items": {"type": "string"}})},
)
def windows_instance_types_tested(resource: Planned, settings: Settings) -> Iterator[str]:
    """AWS no longer documents the list; the CDK still refuses these families."""
    if not is_windows_group(resource):
        return
    for name in texts(resource["instanceTypes"]):
        family = name.partition(".")[0]
        if untested_on_windows(name) and family not in settings["allowed"]:
            yield f"the {family} family was listed as unsupported for Windows nodes until 2023"


@resource_rule(
    "windows-nodes-tainted",
    "Windows nodes repel pods that do not ask for Windows",
    types=[NODE_GROUP],
    references=[best_practices("Windows scheduling")],
    steps='add the taint os=windows:NO_SCHEDULE, and a RuntimeClass that tolerates it',
    url=f"{BEST_PRACTICES}/windows-scheduling.html",
)  # fmt: skip
def windows_nodes_tainted(resource: Planned, settings: Settings) -> Iterator[str]:
    """Most charts have no node selector; their Linux images then fail to start on Windows."""
    if not is_windows_group(resource):
        return
    taints = resource["taints"]
    taints.known()
    if not any(taint["effect"].text in ("NO_SCHEDULE", "NO_EXECUTE") for taint in taints.items()):
        yield "pods without a node selector can be scheduled here: the group has no NO_SCHEDULE taint"


@resource_rule(
    "windows-no-node-repair",
    "Windows groups do not rely on node auto repair",
    types=[NODE_GROUP],
    severity="low",
    references=[eks_guide("Enable node auto repair")],
    steps="remove node_repair_config",
    url="https://docs.aws.amazon.com/eks/latest/userguide/node-health.html",
)
def windows_no_node_repair(resource: Planned, settings: Settings) -> Iterator[str]:
    """The monitoring agent runs on Linux only."""
    if is_windows_group(resource) and resource["nodeRepairConfig"]["enabled"].flag:
        yield "node auto repair monitors Linux nodes only"
