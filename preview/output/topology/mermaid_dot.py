"""Writes a topology as text that other programs draw: Mermaid for README files and comments, DOT for Graphviz."""

from collections.abc import Iterator

from ...text.values import visible
from ..plan_formats import short_type
from .model import Item, Region, Subnet, Tier, Topology, Vpc
from .svg import ROLE_WORDS

_MERMAID_ESCAPES = {ord(c): f"#{ord(c)};" for c in '"#&<>`%{}[]\\;'}
"""Everything that Mermaid, Markdown or HTML could take for their own, as the number that Mermaid turns back."""
_LONGEST = 80


class _Names:
    """Numbers what is drawn, in the order of drawing: names of resources are no identifiers."""

    def __init__(self) -> None:
        self._last = 0
        self.clusters: dict[str, str] = {}
        """Name of a cluster to the number of its control plane."""
        self.members: list[tuple[str, str]] = []
        """Number of each group, and the cluster that it joins."""

    def new(self) -> str:
        self._last += 1
        return f"n{self._last}"

    def item(self, item: Item) -> str:
        number = self.new()
        if item.kind == "cluster":
            self.clusters.setdefault(item.cluster, number)
        elif item.cluster:
            self.members.append((number, item.cluster))
        return number

    def edges(self) -> Iterator[tuple[str, str]]:
        """From each group to its control plane."""
        yield from ((number, self.clusters[cluster]) for number, cluster in self.members if cluster in self.clusters)


def mermaid(topology: Topology) -> str:
    """The topology as a Mermaid flowchart."""
    names = _Names()
    lines = ["flowchart LR"]

    def visit(kind: str, label: str, content: Iterator[object], depth: int) -> None:
        pad = "  " * depth
        lines.append(f'{pad}subgraph {names.new()}["{_mermaid(label)}"]')
        empty = True
        for part in content:
            empty = False
            put(part, depth + 1)
        if empty:
            lines.append(f'{pad}  {names.new()}[" "]')
        lines.append(f"{pad}end")

    def put(part: object, depth: int) -> None:
        if isinstance(part, Item):
            text = "<br/>".join(map(_mermaid, _lines(part)))
            lines.append(f'{"  " * depth}{names.item(part)}["{text}"]:::{_class(part)}')
        elif isinstance(part, tuple):
            label, content = part
            visit("area", str(label), iter(content), depth)

    for part in _tree(topology):
        put(part, 1)
    lines += [f"  {start} -.-> {end}" for start, end in names.edges()]
    lines += [f"  classDef {name} stroke:{colour},stroke-width:2px" for name, colour in _MERMAID_CLASSES.items()]
    return "\n".join(lines) + "\n"


_MERMAID_CLASSES = {"windows": "#0a5fb4", "linux": "#a04a00", "cluster": "#6f2dbd", "other": "#57606a"}


def _class(item: Item) -> str:
    return item.kind if item.kind in _MERMAID_CLASSES else "other"


def _mermaid(text: str) -> str:
    return _cut(text).translate(_MERMAID_ESCAPES)


def dot(topology: Topology) -> str:
    """The topology as a DOT graph."""
    names = _Names()
    lines = [
        "digraph topology {", "  rankdir=LR; compound=true; fontname=Helvetica; labeljust=l;",
        '  node [shape=box, style=rounded, fontname=Helvetica, fontsize=11];', "  edge [style=dashed];",
    ]  # fmt: skip

    def put(part: object, depth: int) -> None:
        pad = "  " * depth
        if isinstance(part, Item):
            text = "\\n".join(map(_dot, _lines(part)))
            dashed = ', style="rounded,dashed"' if part.existing else ""
            lines.append(f'{pad}{names.item(part)} [label="{text}"{dashed}];')
        elif isinstance(part, tuple):
            label, content = part
            lines.append(f'{pad}subgraph cluster_{names.new()} {{ label="{_dot(str(label))}";')
            inner = list(content)
            for one in inner:
                put(one, depth + 1)
            if not inner:
                lines.append(f'{pad}  {names.new()} [label="", style=invis];')
            lines.append(f"{pad}}}")

    for part in _tree(topology):
        put(part, 1)
    lines += [f"  {start} -> {end};" for start, end in names.edges()]
    return "\n".join([*lines, "}"]) + "\n"


def _dot(text: str) -> str:
    return _cut(text).replace("\\", "\\\\").replace('"', '\\"')


def _cut(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 1] + "…"


def _lines(item: Item) -> list[str]:
    return [item.label, item.title, *item.details]


def _tree(topology: Topology) -> Iterator[object]:
    """The topology as areas ``(label, content)`` and items; what both languages draw."""
    yield from (_region(region) for region in topology.regions)
    if topology.more:
        count = sum(topology.more.values())
        kinds = tuple(f"{number} × {short_type(kind)}" for kind, number in list(topology.more.items())[:8])
        more = ("…",) if len(topology.more) > len(kinds) else ()
        yield Item("other", "Not drawn", f"{count} more resource{'s' if count != 1 else ''}", (*kinds, *more))
    elif not topology.regions:
        yield Item("other", "Topology", "nothing to draw")


def _region(region: Region) -> tuple[str, list[object]]:
    more = [Item("other", "VPC", f"{region.more_vpcs} more VPCs")] if region.more_vpcs else []
    vpcs: list[object] = [_vpc(vpc) for vpc in region.vpcs]
    return f"Region {region.name or 'not known'}", [*vpcs, *more, *region.items]


def _vpc(vpc: Vpc) -> tuple[str, list[object]]:
    """A VPC: its zones with their subnets, and role by role what reaches over them."""
    zones: list[object] = []
    for column, zone in enumerate(vpc.zones):
        subnets = [_subnet(subnet, tier) for tier in vpc.tiers if (subnet := tier.subnets[column])]
        alone = [item for tier in vpc.tiers for item in tier.items if item.zones == (column,)]
        if subnets or alone:
            zones.append((f"Zone {zone}" if zone else "Subnets", [*subnets, *alone]))
    over = [item for tier in vpc.tiers for item in tier.items if len(item.zones) > 1]
    label = " ".join(filter(None, ("VPC" if vpc.urn else "", vpc.title, vpc.cidr)))
    return label, [*vpc.items, *zones, *over]


def _subnet(subnet: Subnet, tier: Tier) -> object:
    if subnet.items:
        label = " · ".join(filter(None, (subnet.title, ROLE_WORDS[tier.role], subnet.cidr)))
        return (label, list(subnet.items))
    return Item("subnet", ROLE_WORDS[tier.role].capitalize(), subnet.title, (subnet.cidr,) if subnet.cidr else (),
                existing=subnet.existing)  # fmt: skip
