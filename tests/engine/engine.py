"""An engine for tests: what happens between a program and its providers, without the CLI.

It starts the program with the SDK's own runtime in a process of its own (:mod:`.executor`) and the plug-ins in theirs;
everything between them is real gRPC. For each registration it does what the engine does: Check, Diff against what it
remembers, then Create or Update; at the end it deletes what the program has no longer, those first that need others.
Left out, because no stack of ours needs it: replacement, aliases, imports, transforms, remote components.
"""
# ruff: noqa: N802 (the protocol names the methods)

import contextlib
import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import (
    engine_pb2,
    engine_pb2_grpc,
    provider_pb2,
    provider_pb2_grpc,
    resource_pb2,
    resource_pb2_grpc,
)
from winkube.preview.evaluation.project import read_configuration, read_project
from winkube.preview.model import (
    OUTPUT_SIGNATURE,
    SECRET_SIGNATURE,
    SIGNATURE_KEY,
    UNKNOWN_TEXT,
    decode,
    unwrap_secrets,
)

from .cloud import Cloud
from .plugin import FOLDER, SIZE, name_of, type_of

ROOT = Path(__file__).resolve().parents[2]
STACK_TYPE = "pulumi:pulumi:Stack"
PROVIDER = "pulumi:providers:"
_F = resource_pb2.ResourceMonitorFeature
NOT_OFFERED = {_F.RESOURCE_MONITOR_FEATURE_RESOURCE_HOOKS, _F.RESOURCE_MONITOR_FEATURE_ERROR_HOOKS}


class ProgramFailedError(Exception):
    """The program ended with an error; the text is what it logged."""


@dataclass
class Kept:
    """What the engine remembers of a resource."""

    urn: str
    custom: bool
    id: str
    inputs: struct_pb2.Struct
    outputs: struct_pb2.Struct
    parent: str
    provider: str
    needs: frozenset[str]
    """URNs that have to be there as long as this one is."""
    protect: bool = False


@dataclass
class Run:
    """One run of the program: what was asked for, and what was done about it."""

    steps: dict[str, str] = field(default_factory=dict[str, str])
    """URN to ``create``, ``update``, ``same`` or ``delete``."""
    changed: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    requests: dict[str, Any] = field(default_factory=dict[str, Any])
    registered: dict[str, struct_pb2.Struct] = field(default_factory=dict[str, struct_pb2.Struct])
    """URN of a component to what it gave as its outputs."""
    outputs: dict[str, Any] = field(default_factory=dict[str, Any])
    invokes: list[tuple[str, Any, Any]] = field(default_factory=list[tuple[str, Any, Any]])
    logs: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def did(self, *steps: str) -> list[str]:
        """The URNs with one of these steps, sorted."""
        return sorted(urn for urn, step in self.steps.items() if step in steps)


class PluginProcess:
    """A running plug-in."""

    def __init__(self, package: str, environment: Mapping[str, str]) -> None:
        command = [sys.executable, "-m", "tests.engine.plugin", package, "127.0.0.1:1"]
        self._child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=dict(environment))
        assert self._child.stdout is not None
        self._said = self._child.stdout
        port = self._said.readline().strip()
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=SIZE)
        self.stub: Any = provider_pb2_grpc.ResourceProviderStub(self._channel)

    def stop(self) -> None:
        """Ask it to end, and end it where it does not: what it made is on disk."""
        self._channel.close()
        self._child.terminate()
        try:
            self._child.wait(5)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._said.close()


class Engine:
    """The engine of one stack. Its memory is this object; the world is ``cloud``."""

    def __init__(self, program: Path, stack: str, cloud: Cloud, path: str = "") -> None:
        self.project = read_project(program)
        self.stack, self.cloud = stack, cloud
        self.state: dict[str, Kept] = {}
        """In the order of their making."""
        self._plugins: dict[str, PluginProcess] = {}
        self._lock = threading.Lock()
        self._environment = {
            **os.environ, FOLDER: str(cloud.folder), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1",
            "PATH": f"{path}{os.pathsep if path else ''}{os.environ['PATH']}",
        }  # fmt: skip

    def close(self) -> None:
        """End the plug-ins, as at the end of every command."""
        for plugin in self._plugins.values():
            plugin.stop()
        self._plugins.clear()

    # -- the commands ------------------------------------------------------------------------------------

    def preview(self) -> Run:
        return self._run(preview=True)

    def up(self) -> Run:
        return self._run(preview=False)

    def refresh(self) -> list[str]:
        """Take over what the world says; the URNs that are not as they were left."""
        drifted: list[str] = []
        for kept in self._custom():
            read = self._plugin(kept.urn, kept.provider).Read(
                provider_pb2.ReadRequest(id=kept.id, urn=kept.urn, properties=kept.outputs, inputs=kept.inputs)
            )
            if not read.id:
                drifted.append(kept.urn)
                del self.state[kept.urn]
            elif _laid_open(read.inputs, read.properties) != _laid_open(kept.inputs, kept.outputs):
                drifted.append(kept.urn)
                kept.inputs, kept.outputs = read.inputs, read.properties
        self.close()
        return sorted(drifted)

    def destroy(self) -> list[str]:
        """Delete everything; the URNs in the order of their end."""
        ended = self._delete(list(self.state))
        self.close()
        return ended

    def _custom(self) -> list[Kept]:
        return [kept for kept in self.state.values() if kept.custom and not type_of(kept.urn).startswith(PROVIDER)]

    def _delete(self, urns: Sequence[str]) -> list[str]:
        """Those first that others do not need."""
        left, ended = dict.fromkeys(urns), list[str]()
        while left:
            needed = {need for urn in self.state for need in self.state[urn].needs}
            free = [urn for urn in left if urn not in needed]
            if not free:
                raise ProgramFailedError(f"nothing of these can be deleted: {sorted(left)}")
            for urn in reversed(free):
                kept = self.state.pop(urn)
                del left[urn]
                if kept.custom and not type_of(urn).startswith(PROVIDER):
                    self._plugin(urn, kept.provider).Delete(
                        provider_pb2.DeleteRequest(id=kept.id, urn=urn, properties=kept.outputs, old_inputs=kept.inputs)
                    )
                ended.append(urn)
        return ended

    # -- the program -------------------------------------------------------------------------------------

    def _run(self, *, preview: bool) -> Run:
        run = Run()
        configuration = read_configuration(self.project, self.stack)
        server = grpc.server(ThreadPoolExecutor(32), options=SIZE)
        servicer = _Servicer(self, run, preview)
        resource_pb2_grpc.add_ResourceMonitorServicer_to_server(servicer, server)
        engine_pb2_grpc.add_EngineServicer_to_server(servicer, server)
        address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        options = {"monitor": address, "engine": address, "project": self.project.name, "stack": self.stack,
                   "preview": str(preview).lower(), "program": str(self.project.program)}  # fmt: skip
        command = [sys.executable, str(ROOT / "tests" / "engine" / "executor.py")]
        command += list(itertools.chain.from_iterable((f"--{key}", value) for key, value in options.items()))
        environment = {
            **self._environment, "PULUMI_CONFIG": json.dumps(dict(configuration.values)),
            "PULUMI_CONFIG_SECRET_KEYS": json.dumps(sorted(configuration.secret_keys)),
        }  # fmt: skip
        try:
            done = subprocess.run(command, env=environment, check=False, text=True, capture_output=True, timeout=300)
            if done.returncode:
                told = "\n".join(text for severity, text in run.logs if severity == "error")
                raise ProgramFailedError(told or done.stderr)
            gone = [urn for urn in self.state if urn not in run.steps]
            run.steps |= dict.fromkeys(gone, "delete")
            if not preview:
                self._delete(gone)
        finally:
            server.stop(1).wait()
            self.close()
        return run

    def _plugin(self, urn: str, provider: str) -> Any:
        """The plug-in that serves a resource, configured by its provider resource."""
        reference = provider.rpartition("::")[0]
        with self._lock:
            if reference not in self._plugins:
                if reference not in self.state:
                    raise LookupError(f"{urn} names a provider that is not there: {provider!r}")
                package = type_of(reference).removeprefix(PROVIDER)
                self._plugins[reference] = PluginProcess(package, self._environment)
                self._configure(reference)
            return self._plugins[reference].stub

    def _configure(self, reference: str) -> None:
        self._plugins[reference].stub.Configure(
            provider_pb2.ConfigureRequest(args=self.state[reference].inputs, urn=reference, acceptSecrets=True)
        )


class _Servicer(resource_pb2_grpc.ResourceMonitorServicer, engine_pb2_grpc.EngineServicer):
    """The two services that a program talks to, for one run of it."""

    def __init__(self, engine: Engine, run: Run, preview: bool) -> None:
        self._engine, self._run, self._preview = engine, run, preview
        self._prefix = f"urn:pulumi:{engine.stack}::{engine.project.name}::"
        self._planned: dict[str, Kept] = {}
        """What this run has registered; a preview must leave the engine's memory as it is."""
        self._lock = threading.Lock()
        self._providers: dict[str, PluginProcess] = {}

    def RegisterResource(self, request: Any, context: Any) -> Any:
        with _told(context):
            return self._register(request)

    def _register(self, request: Any) -> Any:
        lead = request.parent.split("::", 3)[2] if request.parent else ""
        lead = f"{lead}$" if lead and lead != STACK_TYPE else ""
        urn = f"{self._prefix}{lead}{request.type}::{request.name}"
        with self._lock:
            if urn in self._run.requests:
                raise ValueError(f"Duplicate resource URN '{urn}'")
            self._run.requests[urn] = request
        kept = self._make(urn, request)
        with self._lock:
            self._planned[urn] = kept
            if not self._preview:
                self._engine.state[urn] = kept
        return resource_pb2.RegisterResourceResponse(urn=urn, id=kept.id, object=kept.outputs)

    def _make(self, urn: str, request: Any) -> Kept:
        old = self._engine.state.get(urn)
        inputs = without_outputs(request.object)
        needs = {*request.dependencies, *(it for value in request.propertyDependencies.values() for it in value.urns)}
        needs |= {request.parent, request.provider.rpartition("::")[0]}
        kept = Kept(urn, request.custom, old.id if old else "", inputs, inputs, request.parent, request.provider,
                    frozenset(needs - {""}), request.protect)  # fmt: skip
        if not request.custom:
            self._run.steps[urn] = "same" if old else "create"
            return kept
        if request.type.startswith(PROVIDER):
            return self._make_provider(kept, old)
        if not request.provider:
            raise ValueError(f"{urn} has no provider: default providers are switched off")
        stub = self._plugin(urn, request.provider)
        if old:
            for path in request.ignoreChanges:
                ignore(path, inputs, old.inputs)
        check = provider_pb2.CheckRequest(urn=urn, news=inputs, name=request.name, type=request.type)
        if old:
            check.olds.CopyFrom(old.inputs)
        kept.inputs = stub.Check(check).inputs
        self._carry_out(stub, kept, old)
        for name in request.additionalSecretOutputs:
            make_secret(kept.outputs, name)
        return kept

    def _carry_out(self, stub: Any, kept: Kept, old: Kept | None) -> None:
        urn, preview = kept.urn, self._preview
        if old is None:
            self._run.steps[urn] = "create"
            made = stub.Create(provider_pb2.CreateRequest(urn=urn, properties=kept.inputs, preview=preview))
            kept.id, kept.outputs = made.id, made.properties
            return
        diff = stub.Diff(
            provider_pb2.DiffRequest(urn=urn, id=old.id, olds=old.outputs, old_inputs=old.inputs, news=kept.inputs)
        )
        if diff.changes == provider_pb2.DiffResponse.DIFF_NONE:
            self._run.steps[urn] = "same"
            kept.outputs = old.outputs
            return
        self._run.steps[urn], self._run.changed[urn] = "update", list(diff.diffs)
        updated = stub.Update(
            provider_pb2.UpdateRequest(
                urn=urn, id=old.id, olds=old.outputs, old_inputs=old.inputs, news=kept.inputs, preview=preview
            )
        )
        kept.outputs = updated.properties

    def _make_provider(self, kept: Kept, old: Kept | None) -> Kept:
        package = type_of(kept.urn).removeprefix(PROVIDER)
        process = PluginProcess(package, self._engine._environment)
        with self._lock:
            self._engine._plugins[kept.urn] = process
        kept.inputs = kept.outputs = process.stub.CheckConfig(
            provider_pb2.CheckRequest(urn=kept.urn, news=kept.inputs)
        ).inputs
        if old is None:
            self._run.steps[kept.urn], kept.id = "create", UNKNOWN_TEXT if self._preview else f"{name_of(kept.urn)}-id"
        else:
            diff = process.stub.DiffConfig(
                provider_pb2.DiffRequest(urn=kept.urn, id=old.id, olds=old.outputs, old_inputs=old.inputs,
                                         news=kept.inputs)
            )  # fmt: skip
            same = diff.changes == provider_pb2.DiffResponse.DIFF_NONE
            self._run.steps[kept.urn] = "same" if same else "update"
            if not same:
                self._run.changed[kept.urn] = list(diff.diffs)
        process.stub.Configure(provider_pb2.ConfigureRequest(args=kept.inputs, urn=kept.urn, acceptSecrets=True))
        return kept

    def _plugin(self, urn: str, provider: str) -> Any:
        reference, _, id_ = provider.rpartition("::")
        with self._lock:
            if reference not in self._planned or self._planned[reference].id != id_:
                raise ValueError(f"{urn} names a provider that is not there: {provider!r}")
            return self._engine._plugins[reference].stub

    def RegisterResourceOutputs(self, request: Any, context: Any) -> Any:
        if type_of(request.urn) == STACK_TYPE:
            self._run.outputs = decode(request.outputs)
        else:
            with self._lock:
                self._planned[request.urn].outputs = self._run.registered[request.urn] = request.outputs
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: Any) -> Any:
        with _told(context):
            if request.tok == "pulumi:pulumi:getResource":
                return self._get_resource(request.args["urn"])
            stub = self._plugin(request.tok, request.provider)
            answer = stub.Invoke(provider_pb2.InvokeRequest(tok=request.tok, args=request.args))
            result = unwrap_secrets(decode(getattr(answer, "return")))
            self._run.invokes.append((request.tok, unwrap_secrets(decode(request.args)), result))
            return answer

    def _get_resource(self, urn: str) -> Any:
        kept = self._planned[urn]
        answer = provider_pb2.InvokeResponse()
        result = getattr(answer, "return")
        result.update({"urn": urn, "id": kept.id or UNKNOWN_TEXT})
        result.fields["state"].struct_value.CopyFrom(kept.outputs)
        return answer

    def GetDeploymentInfo(self, request: Any, context: Any) -> Any:
        offered = [value for value in _F.values() if value not in NOT_OFFERED]
        return resource_pb2.DeploymentInfo(
            project=self._engine.project.name, stack=self._engine.stack, dryRun=self._preview,
            organization="organization", supportedFeatures=offered,
        )  # fmt: skip

    def SupportsFeature(self, request: Any, context: Any) -> Any:
        return resource_pb2.SupportsFeatureResponse(hasSupport=True)

    def SignalAndWaitForShutdown(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def Log(self, request: Any, context: Any) -> Any:
        names = {engine_pb2.WARNING: "warning", engine_pb2.ERROR: "error"}
        if request.severity in names:
            self._run.logs.append((names[request.severity], request.message))
        return empty_pb2.Empty()

    def RequirePulumiVersion(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()


@contextlib.contextmanager
def _told(context: Any) -> Iterator[None]:
    """What goes wrong here reaches the program with its words."""
    try:
        yield
    except grpc.RpcError as error:
        context.abort(grpc.StatusCode.UNKNOWN, str(error))
    except (LookupError, ValueError) as error:
        context.abort(grpc.StatusCode.UNKNOWN, str(error))


def without_outputs(inputs: struct_pb2.Struct) -> struct_pb2.Struct:
    """The inputs as the engine gives them to a provider: outputs are unknown, secret or plain."""
    made = struct_pb2.Struct()
    for key, value in inputs.fields.items():
        made.fields[key].CopyFrom(_without(value))
    return made


def _without(value: Any) -> Any:
    if value.WhichOneof("kind") == "list_value":
        return struct_pb2.Value(list_value=struct_pb2.ListValue(values=map(_without, value.list_value.values)))
    if value.WhichOneof("kind") != "struct_value":
        return value
    fields = value.struct_value.fields
    if SIGNATURE_KEY in fields and fields[SIGNATURE_KEY].string_value == OUTPUT_SIGNATURE:
        inner = _without(fields["value"]) if "value" in fields else struct_pb2.Value(string_value=UNKNOWN_TEXT)
        return _secret(inner) if "secret" in fields and fields["secret"].bool_value else inner
    return struct_pb2.Value(struct_value=without_outputs(value.struct_value))


def _secret(value: Any) -> Any:
    made = struct_pb2.Struct()
    made.fields[SIGNATURE_KEY].string_value = SECRET_SIGNATURE
    made.fields["value"].CopyFrom(value)
    return struct_pb2.Value(struct_value=made)


def make_secret(state: struct_pb2.Struct, name: str) -> None:
    """Mark an output as a secret, once."""
    if name in state.fields:
        fields = state.fields[name].struct_value.fields
        if SIGNATURE_KEY not in fields:
            state.fields[name].CopyFrom(_secret(state.fields[name]))


def ignore(path: str, news: struct_pb2.Struct, olds: struct_pb2.Struct) -> None:
    """Leave a property as it was; the programs here ignore whole properties and keys of objects only."""
    key, _, rest = path.partition(".")
    if rest:
        if key in news.fields and key in olds.fields:
            ignore(rest, news.fields[key].struct_value, olds.fields[key].struct_value)
    elif key in olds.fields:
        news.fields[key].CopyFrom(olds.fields[key])
    else:
        news.fields.pop(key, None)


def _laid_open(*values: struct_pb2.Struct) -> list[Any]:
    return [unwrap_secrets(decode(value)) for value in values]
