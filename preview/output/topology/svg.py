"""Draws a topology as SVG, with a layout of its own.

One file without any reference; light and dark by the reader's system; every text is cut to its box, and tells the
whole when pointed at. Equal topologies give equal files.
"""

from collections.abc import Callable, Iterable, Sequence
from html import escape

from ...text.measure import shortened, width, wrapped
from ...text.values import visible
from ..plan_formats import short_type
from .model import Item, Region, Subnet, Tier, Topology, Vpc

LEAST_WIDTH, COLUMN_WIDTH = 960, 236
GAP, PAD = 10, 12
HEAD, LINE, SMALL = 13, 16, 11
"""Sizes: font of a heading, height of a line, font of a detail."""
_ONE_LINE_FROM = 400
"""From this width on a box has its label beside its name."""
_PER_ROW = 4
_MORE_LINES = 3
ROLE_WORDS = {"public": "public subnet", "private": "private subnet", "intra": "intra subnet", "": "subnet"}

STYLE = """
.wk{--wk-ground:#fff;--wk-text:#1b1f24;--wk-soft:#57606a;--wk-line:#8c959f;--wk-region:#f6f8fa;--wk-vpc:#fff;
--wk-box:#fff;--wk-public:#e9f7ec;--wk-private:#e8f1fd;--wk-intra:#f1eefb;--wk-other:#f3f4f6;
--wk-windows:#0a5fb4;--wk-linux:#a04a00;--wk-cluster:#6f2dbd;--wk-edge:#1a6e35;--wk-store:#8a5a00}
@media (prefers-color-scheme:dark){.wk{--wk-ground:#0d1117;--wk-text:#e6edf3;--wk-soft:#9aa4af;--wk-line:#6e7681;
--wk-region:#12171e;--wk-vpc:#0d1117;--wk-box:#1c2128;--wk-public:#12261a;--wk-private:#111f33;--wk-intra:#1d1930;
--wk-other:#1b2027;--wk-windows:#6cb6ff;--wk-linux:#f0a860;--wk-cluster:#c9a2ff;--wk-edge:#6fd08c;--wk-store:#e0b25c}}
.wk text{font-family:"Segoe UI","Helvetica Neue",Arial,"Liberation Sans","DejaVu Sans",sans-serif;
fill:#1b1f24;fill:var(--wk-text);unicode-bidi:isolate;white-space:pre}
.wk .s{font-size:11px;fill:#57606a;fill:var(--wk-soft)}
.wk .l{font-size:11px;font-weight:600}
.wk .h{font-size:13px;font-weight:600}
.wk rect{fill:#fff;stroke:#8c959f;stroke:var(--wk-line)}
.wk .region{fill:#f6f8fa;fill:var(--wk-region)}
.wk .vpc{fill:#fff;fill:var(--wk-vpc);stroke:#6f2dbd;stroke:var(--wk-cluster)}
.wk .zone{fill:none;stroke-dasharray:4 3}
.wk .public{fill:#e9f7ec;fill:var(--wk-public);stroke:none}
.wk .private{fill:#e8f1fd;fill:var(--wk-private);stroke:none}
.wk .intra{fill:#f1eefb;fill:var(--wk-intra);stroke:none}
.wk .other{fill:#f3f4f6;fill:var(--wk-other);stroke:none}
.wk .box{fill:#fff;fill:var(--wk-box)}
.wk .existing{stroke-dasharray:5 3}
.wk .mark{stroke:none}
.wk .windows{fill:#0a5fb4;fill:var(--wk-windows)}
.wk .linux{fill:#a04a00;fill:var(--wk-linux)}
.wk .cluster{fill:#6f2dbd;fill:var(--wk-cluster)}
.wk .edge{fill:#1a6e35;fill:var(--wk-edge)}
.wk .store{fill:#8a5a00;fill:var(--wk-store)}
.wk .plain{fill:#57606a;fill:var(--wk-soft)}
"""
"""Plain colours stand before the variables for programs that draw SVG but know none."""
_COLOURS = {
    "windows": "windows", "linux": "linux", "fargate": "linux", "cluster": "cluster", "control-plane": "cluster",
    "balancer": "edge", "nat": "edge", "internet": "edge", "endpoints": "edge", "bucket": "store", "zone": "store",
    "key": "store",
}  # fmt: skip


def svg(topology: Topology) -> str:
    """The topology as an SVG file."""
    widest = max((len(vpc.zones) for region in topology.regions for vpc in region.vpcs), default=1)
    room = max(LEAST_WIDTH, widest * (COLUMN_WIDTH + GAP) + 8 * PAD)
    sheet = _Sheet()
    bottom = float(PAD)
    for region in topology.regions:
        bottom = _region(sheet, region, PAD, bottom, room - 2 * PAD) + GAP
    bottom = _more(sheet, topology, PAD, bottom, room - 2 * PAD) + PAD
    title, description = in_words(topology)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="wk" viewBox="0 0 {room} {_number(bottom)}" width="{room}" '
        f'height="{_number(bottom)}" role="img" aria-labelledby="wk-title" aria-describedby="wk-description">\n'
        f'<title id="wk-title">{_safe(title)}</title>\n<desc id="wk-description">{_safe(description)}</desc>\n'
        f"<style>{STYLE}</style>\n"
        f'<rect width="{room}" height="{_number(bottom)}" style="fill:var(--wk-ground,#fff);stroke:none"/>\n'
        + "\n".join(sheet.parts)
        + "\n</svg>\n"
    )


def in_words(topology: Topology) -> tuple[str, str]:
    """Title and description of a drawing, for those who cannot see it."""
    sentences: list[str] = []
    for region in topology.regions:
        items = [item for vpc in region.vpcs for tier in vpc.tiers for item in tier.items] + list(region.items)
        counts: dict[str, int] = {}
        for item in items:
            counts[item.label] = counts.get(item.label, 0) + 1
        held = ", ".join(f"{label}: {count}" for label, count in counts.items())
        vpcs = "; ".join(
            f"VPC {vpc.title} {vpc.cidr} over {len(vpc.zones)} zone{'s' if len(vpc.zones) != 1 else ''}"
            for vpc in region.vpcs
        )
        sentences.append(". ".join(filter(None, (f"Region {region.name or 'not known'}", vpcs, held))) + ".")
    if topology.more:
        sentences.append(f"Not drawn: {_count(sum(topology.more.values()), 'resource')}.")
    title = "Topology: " + (
        ", ".join(region.name or "region not known" for region in topology.regions) or "nothing to draw"
    )
    return title, " ".join(sentences) or "The plan has no resource that could be drawn."


class _Sheet:
    """Collects what is drawn. A frame is drawn before its content but measured after it, so its place is kept."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def keep(self) -> Callable[[str], None]:
        """Keep a place and give what fills it."""
        index = len(self.parts)
        self.parts.append("")

        def fill(part: str) -> None:
            self.parts[index] = part

        return fill

    def text(self, x: float, y: float, kind: str, text: str, room: float, *, end: bool = False) -> None:
        """A text that ends where its room ends."""
        self.parts.append(_text(x, y, kind, text, room, end=end))


def _text(x: float, y: float, kind: str, text: str, room: float, *, end: bool = False) -> str:
    bold = not kind.startswith("s")
    size = HEAD if kind.startswith("h") else SMALL
    shown = shortened(visible(text), room, size, bold=bold)
    anchor = ' text-anchor="end"' if end else ""
    return f'<text x="{_number(x)}" y="{_number(y)}" class="{kind}"{anchor}>{escape(shown)}</text>'


def _rect(kind: str, x: float, y: float, wide: float, high: float, title: str = "", urn: str = "") -> str:
    data = f' data-urn="{_safe(urn)}"' if urn else ""
    place = f'x="{_number(x)}" y="{_number(y)}" width="{_number(wide)}" height="{_number(high)}" rx="6"'
    inner = f"<title>{_safe(title)}</title>" if title else ""
    return f'<rect class="{kind}" {place}{data}>{inner}</rect>' if inner else f'<rect class="{kind}" {place}{data}/>'


def _safe(text: str) -> str:
    return escape(visible(text, keep="\n"))


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


# -- frames ----------------------------------------------------------------------------------------------------


def _region(sheet: _Sheet, region: Region, x: float, y: float, wide: float) -> float:
    fill = sheet.keep()
    bottom = y + 2 * PAD + 4
    sheet.text(
        x + PAD, y + PAD + 9, "h", f"Region {region.name}" if region.name else "Region not known", wide - 2 * PAD
    )
    for vpc in region.vpcs:
        bottom = _vpc(sheet, vpc, x + PAD, bottom, wide - 2 * PAD) + GAP
    if region.more_vpcs:
        sheet.text(x + PAD, bottom + PAD, "s", f"and {region.more_vpcs} more VPCs", wide - 2 * PAD)
        bottom += LINE + GAP
    bottom = _grid(sheet, region.items, x + PAD, bottom, wide - 2 * PAD)
    fill(_rect("region", x, y, wide, bottom - y))
    return bottom


def _vpc(sheet: _Sheet, vpc: Vpc, x: float, y: float, wide: float) -> float:
    fill = sheet.keep()
    room = wide - 2 * PAD
    name = vpc.title if vpc.existing and not vpc.urn else f"VPC {vpc.title}"
    sheet.text(x + PAD, y + PAD + 9, "h", name, room * 0.7)
    sheet.text(x + wide - PAD, y + PAD + 9, "s", "exists already" if vpc.existing else vpc.cidr, room * 0.28, end=True)
    bottom = _grid(sheet, vpc.items, x + PAD, y + 2 * PAD + 4, room) if vpc.items else y + 2 * PAD + 4
    if vpc.tiers:
        bottom = _zones(sheet, vpc, x + PAD, bottom, room) + PAD
    more = _more_words(vpc.folded)
    kind = "vpc existing" if vpc.existing else "vpc"
    fill(_rect(kind, x, y, wide, bottom - y, "\n".join(filter(None, (name, vpc.cidr, more))), vpc.urn))
    return bottom


def _zones(sheet: _Sheet, vpc: Vpc, x: float, y: float, wide: float) -> float:
    count = len(vpc.zones)
    column = (wide - GAP * (count - 1)) / count
    lefts = [x + index * (column + GAP) for index in range(count)]
    fills = [sheet.keep() for _ in vpc.zones]
    named = any(vpc.zones)
    for left, zone in zip(lefts, vpc.zones, strict=True):
        sheet.text(left + PAD / 2, y + 15, "l plain", zone, column - PAD)
    bottom = y + (22 if named else PAD / 2)
    for tier in vpc.tiers:
        bottom = _tier(sheet, tier, [left + PAD / 2 for left in lefts], bottom, column - PAD) + PAD / 2
    for fill, left in zip(fills, lefts, strict=True):
        fill(_rect("zone", left, y, column, bottom - y))
    return bottom


def _tier(sheet: _Sheet, tier: Tier, lefts: Sequence[float], y: float, column: float) -> float:
    fills = [sheet.keep() if subnet else None for subnet in tier.subnets]
    inner = column - PAD
    top = y + 2 * LINE + 8
    bottom = top
    for left, subnet in zip(lefts, tier.subnets, strict=True):
        if subnet is None:
            continue
        sheet.text(left + PAD / 2, y + 17, "l", subnet.title, inner)
        sheet.text(left + PAD / 2, y + 17 + LINE, "s", _subnet_words(subnet, tier), inner)
        below = top
        for item in subnet.items:
            below = _box(sheet, item, left + PAD / 2, below, inner) + GAP / 2
        bottom = max(bottom, below)
    for row in _rows(tier.items):
        high = max(_height(item, _reach(item, lefts, column)[1]) for item in row)
        for item in row:
            start, wide = _reach(item, lefts, column)
            _box(sheet, item, start, bottom, wide, high)
        bottom += high + GAP / 2
    for fill, left, subnet in zip(fills, lefts, tier.subnets, strict=True):
        if fill and subnet:
            words = (subnet.title, _subnet_words(subnet, tier), _more_words(subnet.folded))
            fill(_rect(tier.role or "other", left, y, column, bottom - y, "\n".join(filter(None, words)), subnet.urn))
    return bottom


def _subnet_words(subnet: Subnet, tier: Tier) -> str:
    words = ROLE_WORDS[tier.role]
    if subnet.existing and not subnet.urn:
        words = "not made here"
    return f"{words} · {subnet.cidr}" if subnet.cidr else words


def _reach(item: Item, lefts: Sequence[float], column: float) -> tuple[float, float]:
    """Where a box that reaches over zones begins, and how wide it is."""
    first, last = min(item.zones, default=0), max(item.zones, default=0)
    return lefts[first] + PAD / 2, lefts[last] + column - lefts[first] - PAD


def _rows(items: Iterable[Item]) -> list[list[Item]]:
    """Boxes in rows: one that reaches over other zones than its predecessors stands beside them."""
    rows: list[list[Item]] = []
    for item in items:
        mine = set(range(min(item.zones, default=0), max(item.zones, default=0) + 1))
        taken = {zone for other in rows[-1] for zone in range(min(other.zones), max(other.zones) + 1)} if rows else mine
        if taken & mine:
            rows.append([item])
        else:
            rows[-1].append(item)
    return rows


def _grid(sheet: _Sheet, items: Sequence[Item], x: float, y: float, wide: float) -> float:
    """Boxes of equal size in rows; gives where the next thing may begin."""
    if not items:
        return y
    count = min(_PER_ROW, max(2, len(items)))
    column = (wide - GAP * (count - 1)) / count
    for start in range(0, len(items), count):
        row = items[start : start + count]
        high = max(_height(item, column) for item in row)
        for index, item in enumerate(row):
            _box(sheet, item, x + index * (column + GAP), y, column, high)
        y += high + GAP
    return y


# -- boxes -----------------------------------------------------------------------------------------------------


def _details(item: Item, wide: float) -> list[str]:
    return wrapped([visible(part) for part in item.details], wide - 2 * PAD - 4, SMALL, 2)


def _height(item: Item, wide: float) -> float:
    return (1 if wide >= _ONE_LINE_FROM else 2) * LINE + len(_details(item, wide)) * (LINE - 2) + PAD


def _box(sheet: _Sheet, item: Item, x: float, y: float, wide: float, high: float = 0) -> float:
    """One box; its content is a picture of its own, so that nothing can stand out of it. Gives its lower edge."""
    high = high or _height(item, wide)
    colour = _COLOURS.get(item.kind, "plain")
    room = wide - 2 * PAD - 4
    left = PAD + 4
    words = "\n".join(filter(None, (f"{item.label}: {item.title}", *item.details, _more_words(item.folded))))
    data = f' data-urn="{_safe(item.urn)}"' if item.urn else ""
    frame = f'x="{_number(x)}" y="{_number(y)}" width="{_number(wide)}" height="{_number(high)}"'
    parts = [
        f"<svg {frame}{data}><title>{_safe(words)}</title>",
        _rect("box existing" if item.existing else "box", 0.5, 0.5, wide - 1, high - 1),
        f'<rect class="mark {colour}" x="4" y="5" width="4" height="{_number(high - 10)}" rx="2"/>',
    ]
    line = 17
    if wide >= _ONE_LINE_FROM:
        label = min(width(item.label, SMALL, bold=True) + 2, room / 2)
        parts.append(_text(left, line, "h", item.title, room - label - GAP))
        parts.append(_text(wide - PAD, line, f"l {colour}", item.label, label, end=True))
    else:
        parts.append(_text(left, line, f"l {colour}", item.label, room))
        line += LINE
        parts.append(_text(left, line, "h", item.title, room))
    for detail in _details(item, wide):
        line += LINE - 2
        parts.append(_text(left, line, "s", detail, room))
    sheet.parts.append("".join(parts) + "</svg>")
    return y + high


def _more_words(folded: int) -> str:
    return f"with {_count(folded, 'resource')} that belong{'s' if folded == 1 else ''} to it" if folded else ""


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _more(sheet: _Sheet, topology: Topology, x: float, y: float, wide: float) -> float:
    """The box of everything else; also says that there is nothing."""
    if not topology.more:
        if topology.regions:
            return y - GAP
        sheet.text(x + PAD, y + 17, "s", "The plan has no resource that could be drawn.", wide - 2 * PAD)
        return y + LINE + PAD
    count = sum(topology.more.values())
    label = f"and {count} more" if topology.regions else f"{_count(count, 'resource')}, none of which can be drawn"
    kinds = [f"{number} × {short_type(kind)}" for kind, number in topology.more.items()]
    lines = wrapped(map(visible, kinds), wide - 2 * PAD, SMALL, _MORE_LINES)
    high = LINE + PAD + len(lines) * (LINE - 2)
    whole = "\n".join([label, *kinds])
    sheet.parts.append(_rect("box existing", x, y, wide, high, whole))
    sheet.text(x + PAD, y + 19, "l plain", label, wide - 2 * PAD)
    for index, line in enumerate(lines):
        sheet.text(x + PAD, y + 19 + LINE + index * (LINE - 2), "s", line, wide - 2 * PAD)
    return y + high
