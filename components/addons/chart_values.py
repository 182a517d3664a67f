"""Values of add-ons: the table's with the user's on top, and the slots filled. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from ..tables.kubernetes import AUTOSCALER_IMAGES
from .addon_table import ROLE_ANNOTATION, Addon, Keys, Slot

MISSING = object()


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """``over`` upon ``base``: mappings are joined, everything else is replaced, as Helm does.

    >>> merged({"a": {"b": 1, "c": [1]}}, {"a": {"c": [2]}})
    {'a': {'b': 1, 'c': [2]}}
    """
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        if isinstance(value, Mapping) and isinstance(below, Mapping):
            value = merged(cast(Mapping[str, Any], below), cast(Mapping[str, Any], value))
        result[key] = value
    return result


def filled(value: Any, slots: Mapping[Slot, Any]) -> Any:
    """The value with its slots filled; an empty slot goes, and a mapping that only held it.

    >>> filled({"a": Slot.REGION, "b": {"c": Slot.VPC_ID}}, {Slot.REGION: "eu-central-1"})
    {'a': 'eu-central-1'}
    """
    if isinstance(value, Slot):
        return slots.get(value, MISSING)
    if isinstance(value, Mapping):
        inner = {key: filled(it, slots) for key, it in cast(Mapping[str, Any], value).items()}
        kept = {key: it for key, it in inner.items() if it is not MISSING}
        return kept if kept or not inner else MISSING
    if isinstance(value, list | tuple):
        return [filled(it, slots) for it in cast(list[Any], value)]
    return value


def at(values: Any, keys: Keys) -> Any:
    """What stands at ``keys``, or ``MISSING``."""
    for key in keys:
        if not isinstance(values, Mapping) or key not in values:
            return MISSING
        values = cast(Mapping[str, Any], values)[key]
    return values


def nested(keys: Keys, value: Any) -> dict[str, Any]:
    """``value`` at ``keys``.

    >>> nested(("a", "b"), 1)
    {'a': {'b': 1}}
    """
    for key in reversed(keys):
        value = {key: value}
    return cast(dict[str, Any], value)


def walked(value: Any, keys: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every mapping and list inside ``value``, with the way to it."""
    if isinstance(value, Mapping):
        yield keys, cast(Any, value)
        for key, inner in cast(Mapping[str, Any], value).items():
            yield from walked(inner, (*keys, key))
    elif isinstance(value, list | tuple):
        yield keys, value
        for index, inner in enumerate(cast(list[Any], value)):
            yield from walked(inner, (*keys, index))


def rendered_values(
    addon: Addon, user_values: Mapping[str, Any], slots: Mapping[Slot, Any], role_arn: Any = None
) -> dict[str, Any]:
    """What an add-on is configured with: the table's values, its service account's role, then the user's values."""
    base = filled(addon.values, slots)
    values: dict[str, Any] = {} if base is MISSING else base
    if role_arn is not None and addon.role_annotations:
        values = merged(values, nested(addon.role_annotations, {ROLE_ANNOTATION: role_arn}))
    return merged(values, user_values)


def plain_slots(kubernetes_version: str, *, windows: bool, region: str) -> dict[Slot, Any]:
    """The slots that are known before anything exists."""
    slots: dict[Slot, Any] = {Slot.WINDOWS: windows, Slot.REGION: region}
    if kubernetes_version in AUTOSCALER_IMAGES:
        slots[Slot.AUTOSCALER_IMAGE] = AUTOSCALER_IMAGES[kubernetes_version]
    return slots
