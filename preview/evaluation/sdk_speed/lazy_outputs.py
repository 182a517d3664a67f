"""Output properties of resources, made when they are read.

The SDK makes an Output with four futures and a task for each property that a resource may ever have, some twenty of
them, and a program reads one or two. Here a resource remembers what it was registered with and what the monitor gave
back; the Output of a property is made by the first who asks for it, and is the same for all that follow. Values are
translated at once, by the SDK itself, so that a value of a wrong type is refused as it is there.
"""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any, NamedTuple

import pulumi
from pulumi.output import _OutputData  # pyright: ignore[reportPrivateUsage]
from pulumi.runtime import rpc as sdk_rpc
from pulumi.runtime import settings as sdk_settings

from .patch import Patch, replace


class _Resolved(NamedTuple):
    """What became of a resource's properties."""

    values: Mapping[str, Any]
    dependencies: Mapping[str, set[pulumi.Resource]]
    known: bool
    """Whether a property that has no value is known to have none."""
    preview: bool
    failure: Exception | None


class State(dict[str, Any]):
    """The ``__dict__`` of a resource, with Outputs that are made when they are read.

    Python's own attribute look-up does not ask a subclass of dict. Properties that a generated class declares are read
    through ``pulumi.get``, which does; of a class that declares none ``__getattr__`` is asked.
    """

    __slots__ = ("_custom", "_names", "_resolved", "_resource", "_waiting")

    def __init__(self, resource: pulumi.Resource, names: set[str], custom: bool) -> None:
        super().__init__(resource.__dict__)
        self._resource, self._names, self._custom = resource, names, custom
        self._resolved: _Resolved | None = None
        self._waiting: dict[str, asyncio.Future[Any]] = {}

    def get(self, key: str, default: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """An Output for the name of a property, made now if it was not before."""
        if key in self._names:
            self._make(key)
        return super().get(key, default)

    def __getitem__(self, key: str) -> Any:
        if key in self._names:
            self._make(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        return key in self._names or super().__contains__(key)

    def __iter__(self) -> Any:
        self._make_all()
        return super().__iter__()

    def __len__(self) -> int:
        return super().__len__() + len(self._names)

    def keys(self) -> Any:
        """All names, with all properties made: somebody looks at the whole resource."""
        self._make_all()
        return super().keys()

    def values(self) -> Any:
        """All values, with all properties made."""
        self._make_all()
        return super().values()

    def items(self) -> Any:
        """All names and values, with all properties made."""
        self._make_all()
        return super().items()

    def resolve(self, resolved: _Resolved) -> None:
        """Tell what became of the properties; whoever waits for one goes on."""
        self._resolved = resolved
        for name, future in self._waiting.items():
            self._settle(name, future, resolved)
        self._waiting.clear()

    def _make_all(self) -> None:
        for name in tuple(self._names):
            self._make(name)

    def _make(self, name: str) -> None:
        self._names.discard(name)
        future: asyncio.Future[Any] = asyncio.get_event_loop().create_future()
        if self._resolved is None:
            self._waiting[name] = future
        else:
            self._settle(name, future, self._resolved)
        self[name] = pulumi.Output._from_data(future)  # pyright: ignore[reportPrivateUsage]

    def _settle(self, name: str, future: "asyncio.Future[Any]", resolved: _Resolved) -> None:
        if resolved.failure is not None:
            future.set_exception(resolved.failure)
            return
        resources = {self._resource, *(resolved.dependencies.get(name) or ())}
        if name in resolved.values:
            value = resolved.values[name]
            secret, value = sdk_rpc.is_rpc_secret(value), sdk_rpc.unwrap_rpc_secret(value)
            known = value is not None or not resolved.preview
        else:
            value, known, secret = None, resolved.known, False
        future.set_result(_OutputData(resources=resources, value=value, is_known=known, is_secret=secret))


def _transfer(resource: pulumi.Resource, names: Iterable[str], custom: bool) -> State:
    """In the place of the SDK's ``transfer_properties``: the state stands for all the resolvers."""
    state = State(resource, {name for name in names if name != "urn" and not (name == "id" and custom)}, custom)
    resource.__dict__ = state
    return state


def _resolve(
    state: State, values: Mapping[str, Any], dependencies: Any, custom: bool, missing_is_unknown: bool = False
) -> None:
    """In the place of the SDK's ``resolve_properties``."""
    preview = sdk_settings.is_dry_run()
    known = not preview and not missing_is_unknown
    state.resolve(_Resolved(values, dependencies, known, preview, None))


def _fail(state: State, failure: Exception) -> None:
    """In the place of the SDK's ``resolve_outputs_due_to_exception``."""
    state.resolve(_Resolved({}, {}, False, False, failure))


def _read(resource: pulumi.Resource, name: str) -> Any:
    """An attribute that Python itself did not find: a property of a class that declares none."""
    state = resource.__dict__
    if isinstance(state, State) and name in state:
        return state[name]
    raise AttributeError(f"{type(resource).__name__!r} object has no attribute {name!r}")


def _apply(stack: ExitStack) -> None:
    replace(stack, sdk_rpc, "transfer_properties", _transfer)
    replace(stack, sdk_rpc, "resolve_properties", _resolve)
    replace(stack, sdk_rpc, "resolve_outputs_due_to_exception", _fail)
    replace(stack, pulumi.Resource, "__getattr__", _read)


PATCH = Patch(
    "lazy_outputs",
    _apply,
    needs={
        "pulumi.runtime.rpc:transfer_properties": ("res", "props", "custom"),
        "pulumi.runtime.rpc:resolve_properties": (
            "resolvers", "all_properties", "deps", "custom", "resolve_missing_as_unknown",
        ),
        "pulumi.runtime.rpc:resolve_outputs_due_to_exception": ("resolvers", "exn"),
        "pulumi.runtime.rpc:is_rpc_secret": ("value",),
        "pulumi.runtime.rpc:unwrap_rpc_secret": ("value",),
        "pulumi.output:Output._from_data": ("cls", "data"),
        "pulumi.output:_OutputData.__init__": ("self", "resources", "value", "is_known", "is_secret"),
        "pulumi:get": ("self", "name"),
    },
)  # fmt: skip
