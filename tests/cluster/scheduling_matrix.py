"""Pods and DaemonSets with the nodes that they come to: what the real scheduler is expected to do.

Each row has six columns: on nodes with the Windows taint and on nodes without, for each of three clusters
(RuntimeClasses alone; with our admission policies; with the default that pods are for Linux as well). A cell names the
nodes: ``L`` is the Linux node, ``2`` Windows Server 2022, ``5`` Windows Server 2025; ``-`` that none takes the pod.
"""

from dataclasses import dataclass, field
from typing import Any

from winkube.tables.windows import BUILD_LABEL, WINDOWS_RELEASES, WINDOWS_TAINT

OS = "kubernetes.io/os"
BUILD = {release: row.build for release, row in WINDOWS_RELEASES.items()}
ANYTHING = [{"operator": "Exists"}]
OURS = [{**WINDOWS_TAINT, "operator": "Equal"}]
WINDOWS = {"os": {"name": "windows"}}
LINUX = {"os": {"name": "linux"}}
SELECTS = {"nodeSelector": {OS: "windows"}}
CLASS = {"runtimeClassName": "windows-2022"}
HOST_PROCESS = {
    "hostNetwork": True,
    "securityContext": {"windowsOptions": {"hostProcess": True, "runAsUserName": r"NT AUTHORITY\SYSTEM"}},
}

COLUMNS = tuple(
    (cluster, tainted) for cluster in ("classes", "admission", "linux default") for tainted in (True, False)
)
"""What the cells of a row stand for."""


@dataclass(frozen=True)
class Row:
    """A pod, or the template of a DaemonSet, and where it comes to."""

    name: str
    spec: dict[str, Any]
    cells: str
    """Six cells, separated by blanks; ``-`` for none."""
    daemon_set: bool = False
    refused: str = field(default="", kw_only=True)
    """What the API server says instead of taking it."""

    def nodes(self, cluster: str, *, tainted: bool) -> str:
        """The cell of a column."""
        return self.cells.split()[COLUMNS.index((cluster, tainted))].replace("-", "")


PODS = (
    #                                         classes     admission   linux default
    #                                         taint bare  taint bare  taint bare
    Row("plain", {}, "                        L     L25   L     L25   L     L"),
    Row("Linux by os", LINUX, "               L     L25   L     L     L     L"),
    Row("Linux by os, tolerates everything", LINUX | {"tolerations": ANYTHING}, "L25 L25 L L L L"),
    Row("Linux by selector", {"nodeSelector": {OS: "linux"}}, "L L L L L L"),
    # The scheduler does not look at the field: the class is what brings it to Windows.
    Row("Windows by os", WINDOWS, "           L     L25   2     2     2     2"),
    Row("Windows by selector", SELECTS, "     -     25    2     2     2     2"),
    Row("Windows by class", CLASS, "          2     2     2     2     2     2"),
    Row("Windows by the other class", {"runtimeClassName": "windows-2025"}, "5 5 5 5 5 5"),
    Row("Windows by class and os", CLASS | WINDOWS, "2 2 2 2 2 2"),
    Row("Windows of a build", {"nodeSelector": {OS: "windows", BUILD_LABEL: BUILD["2025"]}}, "- 5 5 5 5 5"),
    Row(
        "Windows of a build that no node has",
        {"nodeSelector": {OS: "windows", BUILD_LABEL: BUILD["2019"]}},
        "- - - - - -",
    ),
    Row("Windows, complete without a class", SELECTS | {"tolerations": OURS}, "25 25 2 2 2 2"),
    Row("tolerates everything", {"tolerations": ANYTHING}, "L25 L25 L25 L25 L L"),
    Row("host process by class", CLASS | HOST_PROCESS, "2 2 2 2 2 2"),
    Row("host process by os", WINDOWS | HOST_PROCESS, "L L25 2 2 2 2"),
    Row("host process that says nothing", HOST_PROCESS, "L L25 L L25 L L"),
    Row(
        "class against selector",
        CLASS | {"nodeSelector": {BUILD_LABEL: BUILD["2025"]}},
        "- - - - - -",
        refused="conflict: runtimeClass.scheduling.nodeSelector",
    ),
    Row("class that is not there", {"runtimeClassName": "windows-1709"}, "- - - - - -", refused="not found"),
)
_PROXY = {"nodeSelector": {OS: "linux"}, "tolerations": ANYTHING}
_CNI = {"nodeSelector": {OS: "windows"}, "tolerations": ANYTHING} | WINDOWS | HOST_PROCESS
DAEMON_SETS = tuple(
    Row(name, spec, cells, True)
    for name, spec, cells in (
        ("plain", {}, "                                       L   L25 L   L25 L   L"),
        ("tolerates everything", {"tolerations": ANYTHING}, " L25 L25 L25 L25 L   L"),
        ("Linux by os, tolerates everything", LINUX | {"tolerations": ANYTHING}, "L25 L25 L L L L"),
        ("Linux by selector, as kubeadm's proxy", _PROXY, "    L   L   L   L   L   L"),
        ("Windows by os, tolerates everything", WINDOWS | {"tolerations": ANYTHING}, "L25 L25 25 25 25 25"),
        # Their controller looks at the template alone: without a policy the class comes too late.
        ("Windows by class", CLASS, "                          -   2   2   2   2   2"),
        ("Windows by class, tolerates ours", CLASS | {"tolerations": OURS}, "2 2 2 2 2 2"),
        ("Windows by class and selector", CLASS | SELECTS, "   -   2   2   2   2   2"),
        ("Windows by selector", SELECTS, "                     -   25  25  25  25  25"),
        ("Windows, complete", SELECTS | {"tolerations": OURS}, "25 25  25  25  25  25"),
        ("Windows host process, as Calico's", _CNI, "          25  25  25  25  25  25"),
    )
)
