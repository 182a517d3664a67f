"""The resource monitor of an evaluation: records what a program registers, and answers as the engine would.

It behaves like the engine where a program can notice it: URNs have their parent types, duplicate URNs are refused, ids
are unknown in a preview, the state equals the inputs, references are resolved. It calls no provider.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi.runtime.proto import engine_pb2, resource_pb2

from ..model import (
    SECRET_SIGNATURE,
    SIGNATURE_KEY,
    UNKNOWN_TEXT,
    Finding,
    Invoke,
    Options,
    Resource,
    Severity,
    Source,
    decode,
    holds_unknown,
    unwrap_secrets,
)
from . import invokes, sdk_types
from .project import Run

STACK_TYPE = "pulumi:pulumi:Stack"
_F = resource_pb2.ResourceMonitorFeature
FEATURES = (
    _F.RESOURCE_MONITOR_FEATURE_SECRETS,
    _F.RESOURCE_MONITOR_FEATURE_RESOURCE_REFERENCES,
    _F.RESOURCE_MONITOR_FEATURE_ALIAS_SPECS,
    _F.RESOURCE_MONITOR_FEATURE_REPLACEMENT_TRIGGER,
    _F.RESOURCE_MONITOR_FEATURE_DELETED_WITH,
    _F.RESOURCE_MONITOR_FEATURE_REPLACE_WITH,
    _F.RESOURCE_MONITOR_FEATURE_TRANSFORMS,
    _F.RESOURCE_MONITOR_FEATURE_INVOKE_TRANSFORMS,
    _F.RESOURCE_MONITOR_FEATURE_PARAMETERIZATION,
    _F.RESOURCE_MONITOR_FEATURE_RESOURCE_HOOKS,
    _F.RESOURCE_MONITOR_FEATURE_ERROR_HOOKS,
)
Mock = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""The mock of a provider in an update: name and inputs of a resource to its computed outputs."""
CALL_TYPE: ContextVar[tuple[bool, Any]] = ContextVar("winkube_invoke", default=(False, None))
"""Whether the current provider function is called in its plain form (not as an Output), and its result type."""


class DuplicateUrnError(Exception):
    """Two resources have the same type, parent and name; the engine refuses the second one."""


@dataclass(slots=True)
class Registered:
    """The monitor's answer, read by the SDK attribute by attribute.

    Plain, because a protocol message would copy the whole state once more.
    """

    urn: str
    id: str
    object: struct_pb2.Struct
    unknown: bool = False
    result: int = 0  # Result.SUCCESS
    propertyDependencies: None = None

    @property
    def properties(self) -> struct_pb2.Struct:
        """The state, as an answer to ReadResource names it."""
        return self.object


@dataclass(slots=True)
class Answered:
    """The answer to Invoke and Call."""

    result: struct_pb2.Struct
    unknown: bool = False
    failures: tuple[()] = ()
    returnDependencies: None = None

    def __getattr__(self, name: str) -> Any:
        if name == "return":  # a keyword, so it cannot be a field
            return self.result
        raise AttributeError(name)


class Monitor:
    """Records one evaluation. The SDK calls the methods that have the names of the protocol."""

    def __init__(
        self,
        run: Run,
        *,
        answers: invokes.Answers,
        locate: Callable[[str], str],
        progress: Callable[[int], None] | None = None,
        mocks: Mapping[str, Mock] | None = None,
    ) -> None:
        self.resources: dict[str, Resource] = {}
        self.invokes: list[Invoke] = []
        self.findings: list[Finding] = []
        self.outputs: dict[str, Any] = {}
        self.unanswered_plain: list[str] = []
        self._states: dict[str, tuple[str, struct_pb2.Struct]] = {}
        self._project, self._stack, self._preview = run.project, run.stack, run.preview
        self._config, self._answers, self._locate = run.configuration.values, answers, locate
        self._prefix = f"urn:pulumi:{run.stack}::{run.project}::"
        self._disabled = _disabled_default_providers(self._config)
        self._progress = progress
        self._mocks = mocks or {}

    # -- resources ---------------------------------------------------------------------------------------

    def urn(self, parent: str, type_: str, name: str) -> str:
        """A URN as the engine builds it: the parent's qualified type in front, the stack's left out."""
        qualified = parent.split("::", 3)[2] if parent else ""
        lead = f"{qualified}$" if qualified and qualified != STACK_TYPE else ""
        return f"{self._prefix}{lead}{type_}::{name}"

    def RegisterResource(self, request: Any) -> Registered:
        urn = self.urn(request.parent, request.type, request.name)
        source = self._source(request.sourcePosition)
        self._refuse_duplicate(urn, source)
        if request.type == STACK_TYPE:
            self._states[urn] = ("", request.object)
            return Registered(urn, "", request.object)
        resource = Resource(
            urn=urn,
            type=request.type,
            name=request.name,
            parent=self._parent(request.parent),
            custom=request.custom,
            raw_inputs=request.object,
            options=self._options(request, urn),
            source=source,
            remote=request.remote,
        )
        self._note(request, resource)
        if request.custom and not self._preview:
            resource.id = request.importId or f"{request.name}-id"
        state = self._state(request) if request.custom else request.object
        self._record(resource, state)
        return Registered(urn, resource.id, state)

    def ReadResource(self, request: Any) -> Registered:
        urn = self.urn(request.parent, request.type, request.name)
        source = self._source(request.sourcePosition)
        self._refuse_duplicate(urn, source)
        options = Options(provider=request.provider, dependencies=tuple(sorted(request.dependencies)))
        resource = Resource(
            urn, request.type, request.name, self._parent(request.parent), custom=True,
            raw_inputs=request.properties, options=options, source=source, read=True, id=request.id,
        )  # fmt: skip
        state, known = self._read_state(request)
        self._record(resource, state)
        return Registered(urn, request.id, state, unknown=not known)

    def RegisterResourceOutputs(self, request: Any) -> Any:
        if request.urn in self.resources:
            self.resources[request.urn].raw_outputs = request.outputs
        else:
            self.outputs = decode(request.outputs)
        return empty_pb2.Empty()

    def _record(self, resource: Resource, state: struct_pb2.Struct) -> None:
        self.resources[resource.urn] = resource
        self._states[resource.urn] = (resource.id, state)
        if self._progress:
            self._progress(len(self.resources))

    def _refuse_duplicate(self, urn: str, source: Source | None) -> None:
        if urn in self._states:
            first = self.resources[urn].source if urn in self.resources else None
            raise DuplicateUrnError(
                f"Duplicate resource URN '{urn}': declared at {first or 'an unknown line'} and again at "
                f"{source or 'an unknown line'}; give one of them another name or parent"
            )

    def _parent(self, urn: str) -> str:
        return "" if urn.endswith(f"::{STACK_TYPE}::{self._project}-{self._stack}") else urn

    def _options(self, request: Any, urn: str) -> Options:
        timeouts = request.customTimeouts
        names = ("create", "update", "delete", "read")
        hooks = request.hooks if request.HasField("hooks") else None
        return Options(
            protect=request.protect,
            provider=request.provider,
            providers=dict(request.providers),
            dependencies=tuple(sorted(request.dependencies)),
            property_dependencies={
                key: tuple(sorted(value.urns)) for key, value in sorted(request.propertyDependencies.items())
            },
            aliases=tuple(self._alias(alias, urn) for alias in request.aliases),
            ignore_changes=tuple(request.ignoreChanges),
            replace_on_changes=tuple(request.replaceOnChanges),
            additional_secret_outputs=tuple(request.additionalSecretOutputs),
            delete_before_replace=request.deleteBeforeReplace,
            retain_on_delete=request.retainOnDelete,
            deleted_with=request.deletedWith,
            custom_timeouts={name: getattr(timeouts, name) for name in names if getattr(timeouts, name, "")},
            import_id=request.importId,
            version=request.version,
            hooks=tuple(sorted(name for _, names in hooks.ListFields() for name in names)) if hooks else (),
        )

    def _alias(self, alias: Any, urn: str) -> str:
        """The URN of an alias. Parts that it leaves out are taken from the resource."""
        if alias.urn:
            return alias.urn
        spec = alias.spec
        _, _, qualified, name = urn.split("::", 3)
        parents, _, own_type = qualified.rpartition("$")
        if spec.noParent:
            parents = ""
        elif spec.parentUrn:
            parents = spec.parentUrn.split("::", 3)[2]
            parents = "" if parents == STACK_TYPE else parents
        kind = f"{parents}${spec.type or own_type}" if parents else spec.type or own_type
        return f"urn:pulumi:{spec.stack or self._stack}::{spec.project or self._project}::{kind}::{spec.name or name}"

    def _state(self, request: Any) -> struct_pb2.Struct:
        """The state after registration: the inputs as the provider gives them back, and what it adds.

        In a preview what it adds is unknown; in an update it is a marked placeholder, secret where it will be.
        """
        cls = sdk_types.resource_class(request.type)
        if cls is None:
            return request.object
        given = request.object.fields
        objects = [key for key in given if given[key].WhichOneof("kind") == "struct_value"
                   and SIGNATURE_KEY not in given[key].struct_value.fields]  # fmt: skip
        texts = [key for key in objects if sdk_types.is_text_output(cls, key)]
        gaps = [(key, name) for key in objects for name in sdk_types.nested_texts(cls, key)
                if name not in given[key].struct_value.fields]  # fmt: skip
        extra = (
            {} if self._preview else sdk_types.computed(request.type, request.name, given, self._arn(request.provider))
        )
        if not self._preview and request.type in self._mocks:
            extra |= self._mocks[request.type](request.name, unwrap_secrets(decode(request.object)))
        if not (texts or gaps or extra):
            return request.object
        state = struct_pb2.Struct()
        state.CopyFrom(request.object)
        for key in texts:
            state.fields[key].string_value = json.dumps(json_format.MessageToDict(given[key].struct_value))
        for name in request.additionalSecretOutputs:
            if name in extra:
                extra[name] = {SIGNATURE_KEY: SECRET_SIGNATURE, "value": extra[name]}
        state.update(extra)
        for key, name in gaps:
            text = UNKNOWN_TEXT if self._preview else sdk_types.placeholder(str, f"{request.name}.{key}.{name}")
            state.fields[key].struct_value.fields[name].string_value = text
        return state

    def _arn(self, provider: str) -> str:
        partition = invokes.regions().get(self._region(provider), {}).get("partition", "aws")
        return f"arn:{partition}:placeholder:::"

    def _read_state(self, request: Any) -> tuple[struct_pb2.Struct, bool]:
        """The state of an existing resource: known only where the user gave it, by type, with its id as ``when``."""
        given = self._answers.find(request.type, {"id": request.id, "name": request.name})
        state = struct_pb2.Struct()
        if given is not None:
            state.update(given)
            return state, True
        if not self._preview and request.type != "pulumi:pulumi:StackReference":
            state.update(
                sdk_types.computed(request.type, request.name, request.properties.fields, self._arn(request.provider))
            )
            state.MergeFrom(request.properties)
            return state, True
        state.CopyFrom(request.properties)
        return state, False

    def _note(self, request: Any, resource: Resource) -> None:
        """Report what the engine would refuse, and what it would do that this monitor does not."""
        package = resource.type.partition(":")[0]
        disabled = package in self._disabled or "*" in self._disabled
        if disabled and resource.custom and not request.provider and not resource.type.startswith("pulumi:"):
            message = f'needs the default provider of "{package}", which is disabled'
            self._find("default-provider", Severity.ERROR, resource, message, "give it, or its parent, a provider")
        if request.transforms:
            message = "has transforms, which only the engine applies; this plan shows the resource without them"
            self._find("transforms", Severity.WARNING, resource, message, "")
        if resource.remote:
            message = "is created by a component provider; its children are not known before the deployment"
            self._find("remote-component", Severity.NOTE, resource, message, "")

    def _find(self, check: str, severity: Severity, resource: Resource, message: str, remedy: str) -> None:
        self.findings.append(Finding(f"check/{check}", severity, message, resource.urn, resource.source, remedy=remedy))

    def _source(self, position: Any) -> Source | None:
        if not position.uri:
            return None
        return Source(self._locate(unquote(position.uri.removeprefix("file://"))), position.line)

    # -- functions ---------------------------------------------------------------------------------------

    def Invoke(self, request: Any) -> Answered:
        if request.tok == "pulumi:pulumi:getResource":
            return self._get_resource(request.args["urn"])
        plain, result_type = CALL_TYPE.get()
        arguments = decode(request.args)
        call = invokes.Call(request.tok, arguments, self._region(request.provider))
        found = invokes.answer(call, self._answers)
        self.invokes.append(Invoke(request.tok, arguments, found is not None))
        types = dict(sdk_types.output_types(result_type))
        struct = struct_pb2.Struct()
        if found is not None:
            struct.update(found)
            return Answered(struct)
        if not self._preview:
            struct.update(invokes.placeholder_result(call, types, sdk_types.placeholder))
            return Answered(struct)
        if plain:
            self.unanswered_plain.append(request.tok)
            struct.update(invokes.unknown_result(types))
            return Answered(struct)
        return Answered(struct, unknown=True)

    def Call(self, request: Any) -> Answered:
        """A method of a resource. Only its provider can answer, so the result is unknown."""
        self.invokes.append(Invoke(request.tok, {}, known=False))
        struct = struct_pb2.Struct()
        struct.update({"result": UNKNOWN_TEXT})
        return Answered(struct)

    def _get_resource(self, urn: str) -> Answered:
        if urn not in self._states:
            raise LookupError(f"the program refers to a resource that it does not declare: {urn}")
        id_, state = self._states[urn]
        result = struct_pb2.Struct()
        result.update({"urn": urn, "id": id_ or UNKNOWN_TEXT})
        result.fields["state"].struct_value.CopyFrom(state)
        return Answered(result)

    def _region(self, provider: str) -> str:
        resource = self.resources.get(provider.rsplit("::", 1)[0]) if provider else None
        region = resource.inputs.get("region") if resource else None
        return region if isinstance(region, str) else ("" if resource else self._config.get("aws:region", ""))

    # -- the rest of the protocol --------------------------------------------------------------------------

    def GetDeploymentInfo(self, request: Any) -> Any:
        return resource_pb2.DeploymentInfo(supportedFeatures=FEATURES)

    def SupportsFeature(self, request: Any) -> Any:
        return resource_pb2.SupportsFeatureResponse(hasSupport=request.id != "outputValues")

    def RegisterPackage(self, request: Any) -> Any:
        return resource_pb2.RegisterPackageResponse(ref=f"{request.name}@{request.version}")

    def ExistsResource(self, request: Any) -> Any:
        return resource_pb2.ExistsResourceResponse(exists=False, unknown=True)

    def _accept(self, request: Any) -> Any:
        return empty_pb2.Empty()

    SignalAndWaitForShutdown = RegisterResourceHook = RegisterErrorHook = _accept
    RegisterStackTransform = RegisterStackInvokeTransform = _accept

    # -- the end -------------------------------------------------------------------------------------------

    def unanswered(self) -> Iterable[Finding]:
        """One warning for each function that was not answered."""
        calls: dict[str, list[Mapping[str, Any]]] = {}
        for invoke in self.invokes:
            if not invoke.known and invoke.token not in invokes.QUIET_TOKENS:
                calls.setdefault(invoke.token, []).append(invoke.arguments)
        state = "unknown" if self._preview else "a placeholder"
        for token, arguments in sorted(calls.items()):
            first = next((json.dumps(found, default=str) for found in arguments if not holds_unknown(found)), "")
            yield Finding(
                "check/unanswered-function",
                Severity.WARNING,
                f"only the cloud can answer {token}; here its result is {state} ({len(arguments)} calls, with {first})",
                remedy="give its result with --answers FILE",
            )


class Engine:
    """Records what the program logs."""

    def __init__(self) -> None:
        self.logs: list[tuple[str, str]] = []

    def Log(self, request: Any) -> Any:
        names = {engine_pb2.WARNING: "warning", engine_pb2.ERROR: "error"}
        if request.severity in names:
            # A message names its resource: several resources of a kind may log the same.
            speaker = f"{request.urn.rpartition('::')[2]}: " if request.urn else ""
            self.logs.append((names[request.severity], speaker + request.message))
        return empty_pb2.Empty()

    def RequirePulumiVersion(self, request: Any) -> Any:
        return empty_pb2.Empty()


def _disabled_default_providers(config: Mapping[str, str]) -> frozenset[str]:
    try:
        names = json.loads(config.get("pulumi:disable-default-providers", "[]"))
    except ValueError:
        return frozenset()
    return frozenset(map(str, names)) if isinstance(names, list) else frozenset()
