"""What rules are made of: planned resources, values that may be unknown, and the rules themselves. Plain data.

Property names are the provider's (camelCase). A value that is not known before the deployment is :data:`UNKNOWN`;
a rule that needs one raises :class:`Undecided` after all that it does know.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Required, TypedDict, TypeVar, Unpack, cast

Part = TypeVar("Part")
Found = TypeVar("Found")
Severity = Literal["low", "medium", "high", "critical"]
Level = Literal["advisory", "mandatory"]
System = Literal["windows", "linux"]
"""The operating system of nodes, or of a pod."""
Settings = Mapping[str, Any]
"""The configuration of a rule: every option with the value given, or its default."""


class Unknown:
    """The type of :data:`UNKNOWN`."""

    def __repr__(self) -> str:
        return "<unknown>"


UNKNOWN = Unknown()
"""A value that the deployment will give."""


class Undecided(Exception):  # noqa: N818 (it is no error)
    """The rule needs a value that is not known yet."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is not known before the deployment")
        self.path = path


@dataclass(frozen=True, slots=True)
class Value:
    """A property with the path to it, whether it is there, absent or unknown. What lies in an unknown is unknown."""

    raw: Any
    path: str

    def __getitem__(self, name: str) -> "Value":
        if self.raw is UNKNOWN:
            return self
        raw: Any = self.raw
        inner: Any = cast(Mapping[str, Any], raw).get(name) if isinstance(raw, Mapping) else None
        return Value(inner, f"{self.path}.{name}" if self.path else name)

    def at(self, *names: str) -> "Value":
        """The value under these names."""
        value = self
        for name in names:
            value = value[name]
        return value

    @property
    def given(self) -> bool:
        """Whether there is something, known or not."""
        return self.raw is not None

    @property
    def unknown(self) -> bool:
        """Whether it is not known yet."""
        return self.raw is UNKNOWN

    @property
    def settled(self) -> Any:
        """The value as far as it is known: nothing where it is not."""
        return None if self.raw is UNKNOWN else self.raw

    def known(self) -> Any:
        """The value.

        :raises Undecided: when it is not known yet.
        """
        if self.raw is UNKNOWN:
            raise Undecided(self.path)
        return self.raw

    @property
    def text(self) -> str | None:
        """The value if it is a text."""
        value = self.known()
        return value if isinstance(value, str) else None

    @property
    def flag(self) -> bool | None:
        """The value if it is a truth value; several providers take them as text."""
        value = self.known()
        if isinstance(value, bool):
            return value
        return {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else None

    @property
    def number(self) -> int | None:
        """The value if it is a whole number, or the text of one."""
        value = self.known()
        if isinstance(value, bool):
            return None
        if isinstance(value, int | float):
            return int(value)
        return int(value) if isinstance(value, str) and value.lstrip("-").isdigit() else None

    def items(self) -> list["Value"]:
        """The members of a list; of an unknown list one unknown member; a lone object counts as a list of one."""
        raw: Any = self.raw
        if raw is UNKNOWN or isinstance(raw, Mapping):
            return [self]
        if not isinstance(raw, Sequence) or isinstance(raw, str):
            return []
        return [Value(item, f"{self.path}[{index}]") for index, item in enumerate(cast(Sequence[Any], raw))]

    def first(self) -> "Value":
        """The first member, or the value itself where it is no list."""
        return next(iter(self.items()), Value(None, self.path))

    def entries(self) -> list[tuple[str, "Value"]]:
        """Names and values of an object.

        :raises Undecided: when the object is not known yet.
        """
        mapping = self.known()
        return [(key, self[key]) for key in cast(Mapping[str, Any], mapping)] if isinstance(mapping, Mapping) else []


def texts(value: Value) -> list[str]:
    """The texts of a list of texts, or of one text.

    :raises Undecided: when one is not known yet.
    """
    if isinstance(value.known(), str):
        return [value.raw]
    return [text for item in value.items() if (text := item.text) is not None]


def every(parts: Iterable[Part], check: Callable[[Part], Iterable[Found]]) -> Iterator[Found]:
    """What a check finds in any of several parts, before it says which of them it cannot decide."""
    undecided: Undecided | None = None
    for part in parts:
        try:
            yield from check(part)
        except Undecided as unknown:
            undecided = undecided or unknown
    if undecided:
        raise undecided


@dataclass(frozen=True, slots=True)
class Planned:
    """One resource of the plan."""

    urn: str
    type: str
    props: Mapping[str, Any]
    references: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """Property to the URNs of the resources that its value comes from; only stack rules get them."""
    provider: str = ""
    """URN of the explicit provider; only stack rules get it."""

    def __getitem__(self, name: str) -> Value:
        return Value(self.props.get(name), name)

    @property
    def name(self) -> str:
        """The logical name."""
        return self.urn.rsplit("::", 1)[-1]

    @property
    def stack(self) -> str:
        """The stack that the resource belongs to."""
        parts = self.urn.split("::")[0].split(":")
        return parts[2] if len(parts) > 2 else ""


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong, and with which resource."""

    message: str
    urn: str = ""


@dataclass(frozen=True, slots=True)
class Reference:
    """A control of a framework."""

    framework: str
    version: str
    control: str

    def __str__(self) -> str:
        return " ".join(part for part in (self.framework, self.version, self.control) if part)


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that can be set of a rule."""

    default: Any
    meaning: str
    schema: Mapping[str, Any]
    """JSON schema of the value."""


class Stack:
    """All resources of the plan that rules may ask for."""

    def __init__(self, resources: Sequence[Planned]) -> None:
        self.resources = resources

    @cached_property
    def by_urn(self) -> dict[str, Planned]:
        """The resources by URN."""
        return {resource.urn: resource for resource in self.resources}

    @cached_property
    def by_type(self) -> dict[str, list[Planned]]:
        """The resources by type."""
        found: dict[str, list[Planned]] = {}
        for resource in self.resources:
            found.setdefault(resource.type, []).append(resource)
        return found

    def of(self, *types: str) -> list[Planned]:
        """The resources of these types, in the order of the plan within a type."""
        return [resource for kind in types for resource in self.by_type.get(kind, ())]

    def sources(self, resource: Planned, name: str, *types: str) -> list[Planned]:
        """The resources of these types that a property's value comes from."""
        found = (self.by_urn.get(urn) for urn in resource.references.get(name, ()))
        return [source for source in found if source is not None and source.type in types]


ResourceCheck = Callable[[Planned, Settings], Iterable[str]]
StackCheck = Callable[[Stack, Settings], Iterable[Violation]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule with everything a report says of it."""

    name: str
    title: str
    severity: Severity
    level: Level
    types: frozenset[str]
    """The types that the rule looks at; without any of them there is nothing to say."""
    references: tuple[Reference, ...]
    steps: str
    """What to do, as an order."""
    url: str
    options: Mapping[str, Option]
    late: bool
    """Whether what the rule reads is usually made from values of other resources, as policy documents are. It is
    then not reported as undecided before the first deployment; the deployment itself checks it."""
    resource: ResourceCheck | None = None
    """The check of one resource, or …"""
    stack: StackCheck | None = None
    """… of all of them together."""

    @property
    def settings(self) -> dict[str, Any]:
        """The defaults of all options."""
        return {name: option.default for name, option in self.options.items()}


class Facts(TypedDict, total=False):
    """What a rule says of itself beside its name and title; see :class:`Rule`."""

    types: Required[Iterable[str]]
    steps: Required[str]
    url: Required[str]
    severity: Severity
    """``medium`` by default."""
    level: Level
    """``advisory`` by default."""
    references: Sequence[Reference]
    options: Mapping[str, Option]
    late: bool


def resource_rule(name: str, title: str, **facts: Unpack[Facts]) -> Callable[[ResourceCheck], Rule]:
    """Make a rule of the check of one resource."""
    return lambda check: replace(_rule(name, title, facts), resource=check)


def stack_rule(name: str, title: str, **facts: Unpack[Facts]) -> Callable[[StackCheck], Rule]:
    """Make a rule of a check of all resources together."""
    return lambda check: replace(_rule(name, title, facts), stack=check)


def _rule(name: str, title: str, facts: Facts) -> Rule:
    return Rule(
        name=name, title=title, severity=facts.get("severity", "medium"), level=facts.get("level", "advisory"),
        types=frozenset(facts["types"]), steps=facts["steps"], url=facts["url"],
        references=tuple(facts.get("references", ())), options=facts.get("options", {}), late=facts.get("late", False),
    )  # fmt: skip


# -- what several rules can be told ----------------------------------------------------------------------------------

TEXTS: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
WHEN = Option(
    "production",
    "where the rule applies: `always`, or `production` for stacks and tags that say so",
    {"type": "string", "enum": ["always", "production"]},
)
PRODUCTION_NAMES = Option(
    ["prod", "production", "prd", "live"], "names of stacks and values of the tag that mean production", TEXTS
)
PRODUCTION_TAGS = ("environment", "env", "stage")
WHEN_OPTIONS: Mapping[str, Option] = {"when": WHEN, "productionNames": PRODUCTION_NAMES}


def applies(resource: Planned, settings: Settings) -> bool:
    """Whether a rule with :data:`WHEN_OPTIONS` holds for a resource."""
    if settings["when"] == "always":
        return True
    names = {str(name).lower() for name in settings["productionNames"]}
    found: Any = resource["tags"].settled
    tags = cast(Mapping[str, Any], found) if isinstance(found, Mapping) else dict[str, Any]()
    stages = {str(value).lower() for key, value in tags.items() if key.lower() in PRODUCTION_TAGS}
    return bool(stages & names) if stages else resource.stack.lower() in names
