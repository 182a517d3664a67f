"""A stand-in for a provider's plug-in: ``python -m tests.engine.plugin <package>`` prints its port and serves.

It checks nothing and echoes what it is given; what a provider would compute has the shapes of the SDK's own classes.
What it makes lies in the folder that the environment variable :data:`FOLDER` names.
"""
# ruff: noqa: N802 (the protocol names the methods)

import importlib
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2, json_format, struct_pb2
from pulumi import _utils as sdk_utilities  # pyright: ignore[reportPrivateUsage]
from pulumi.runtime import rpc as sdk_rpc
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc
from winkube.preview.evaluation import sdk_types
from winkube.preview.evaluation.sdk_speed.module_imports import import_package
from winkube.preview.model import (
    SIGNATURE_KEY,
    UNKNOWN_TEXT,
    decode,
    holds_unknown,
    unwrap_secrets,
)

from tests.tls_mocks import TLS

from .cloud import Cloud, Thing

FOLDER = "WINKUBE_STAND_IN_CLOUD"
ARN = "arn:aws:placeholder:::"
IMAGE = "ami-0123456789abcdef0"
SIZE = [("grpc.max_receive_message_length", 400 << 20), ("grpc.max_send_message_length", 400 << 20)]


class Plugin(provider_pb2_grpc.ResourceProviderServicer):
    """The provider of one package."""

    def __init__(self, package: str, cloud: Cloud) -> None:
        self.package, self.cloud = package, cloud
        sdk_utilities.lazy_import = import_package  # as in the offline evaluation: one module of an SDK at a time
        importlib.import_module(f"pulumi_{package}")
        self._importing = threading.Lock()  # those modules wait for each other: one thread at a time

    # -- the provider itself -----------------------------------------------------------------------------

    def Handshake(self, request: Any, context: Any) -> Any:
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True)

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        return plugin_pb2.PluginInfo(version=version(self.package))

    def GetSchema(self, request: Any, context: Any) -> Any:
        return provider_pb2.GetSchemaResponse(
            schema=json.dumps({"name": self.package, "version": version(self.package)})
        )

    def CheckConfig(self, request: Any, context: Any) -> Any:
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: Any) -> Any:
        return difference(request.old_inputs or request.olds, request.news)

    def Configure(self, request: Any, context: Any) -> Any:
        self.cloud.note("Configure", request.urn)
        return provider_pb2.ConfigureResponse(acceptSecrets=True, supportsPreview=True)

    def Cancel(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: Any) -> Any:
        arguments = unwrap_secrets(decode(request.args))
        result = INVOKES.get(request.tok)
        if result is None:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, f"the stand-in has no answer to {request.tok}")
            raise AssertionError
        self.cloud.note("Invoke", "", token=request.tok, arguments=arguments)
        response = provider_pb2.InvokeResponse()
        getattr(response, "return").update({**arguments, **result(arguments)})
        return response

    # -- its resources -----------------------------------------------------------------------------------

    def Check(self, request: Any, context: Any) -> Any:
        return provider_pb2.CheckResponse(inputs=request.news)

    def Diff(self, request: Any, context: Any) -> Any:
        return difference(request.old_inputs, request.news)

    def Create(self, request: Any, context: Any) -> Any:
        self.cloud.note("Create", request.urn, preview=request.preview)
        state = self.state(request.urn, request.properties, preview=request.preview)
        if request.preview:
            return provider_pb2.CreateResponse(properties=state)
        id_ = f"{name_of(request.urn)}-id"
        self._make(request.urn, id_, request.properties, state)
        return provider_pb2.CreateResponse(id=id_, properties=state)

    def Read(self, request: Any, context: Any) -> Any:
        self.cloud.note("Read", request.urn)
        thing = self._look(request.urn)
        if thing is None:
            return provider_pb2.ReadResponse()
        return provider_pb2.ReadResponse(id=thing.id, properties=struct(thing.outputs), inputs=struct(thing.inputs))

    def Update(self, request: Any, context: Any) -> Any:
        self.cloud.note("Update", request.urn, preview=request.preview)
        state = struct_pb2.Struct()
        state.CopyFrom(request.news)
        for key, value in request.olds.fields.items():  # what was computed stays
            if key not in state.fields and key not in request.old_inputs.fields:
                state.fields[key].CopyFrom(value)
        if not request.preview:
            self._make(request.urn, request.id, request.news, state)
        return provider_pb2.UpdateResponse(properties=state)

    def Delete(self, request: Any, context: Any) -> Any:
        self.cloud.note("Delete", request.urn)
        self._unmake(request.urn)
        self.cloud.remove(request.urn)
        return empty_pb2.Empty()

    # -- what it does in the world: a package may do more ------------------------------------------------

    def _make(self, urn: str, id_: str, inputs: struct_pb2.Struct, state: struct_pb2.Struct) -> None:
        self.cloud.put(Thing(urn, id_, json_format.MessageToDict(inputs), json_format.MessageToDict(state)))

    def _look(self, urn: str) -> Thing | None:
        return self.cloud.get(urn)

    def _unmake(self, urn: str) -> None:
        pass

    def computed(self, kind: str, name: str, inputs: Mapping[str, Any], *, preview: bool) -> dict[str, Any]:
        """What the provider would compute."""
        made = sdk_types.computed(kind, name, inputs, ARN)
        if preview:
            return dict.fromkeys(made, UNKNOWN_TEXT)
        given = self.cloud.settings().get("outputs", {})
        return made | (TLS[kind](name, inputs) if kind in TLS else {}) | given.get(kind, {}) | given.get(name, {})

    def state(self, urn: str, inputs: struct_pb2.Struct, *, preview: bool) -> struct_pb2.Struct:
        """The inputs as the provider gives them back, with what it computes: unknown in a preview."""
        with self._importing:
            return self._state(type_of(urn), name_of(urn), inputs, preview=preview)

    def _state(self, kind: str, name: str, inputs: struct_pb2.Struct, *, preview: bool) -> struct_pb2.Struct:
        load(kind)
        cls = sdk_types.resource_class(kind)
        if cls is None:
            raise LookupError(f"the SDK has no class for {kind}")
        state = struct_pb2.Struct()
        state.CopyFrom(inputs)
        known = unwrap_secrets(decode(inputs))
        for key, value in inputs.fields.items():
            if value.WhichOneof("kind") != "struct_value" or SIGNATURE_KEY in value.struct_value.fields:
                continue
            if sdk_types.is_text_output(cls, key):
                state.fields[key].string_value = json.dumps(json_format.MessageToDict(value.struct_value))
                continue
            inner = state.fields[key].struct_value
            for part in sdk_types.nested_texts(cls, key):
                if part not in inner.fields:
                    label = UNKNOWN_TEXT if preview else sdk_types.placeholder(str, f"{name}.{key}.{part}")
                    inner.fields[part].string_value = label
        state.update(self.computed(kind, name, known, preview=preview))
        return state


def difference(olds: struct_pb2.Struct, news: struct_pb2.Struct) -> Any:
    """Which properties change; what is not known yet may."""
    old, new = unwrap_secrets(decode(olds)), decode(news)
    changed = [key for key in sorted(old.keys() | new.keys())
               if old.get(key) != unwrap_secrets(new.get(key)) or holds_unknown(new.get(key))]  # fmt: skip
    kind = provider_pb2.DiffResponse.DIFF_SOME if changed else provider_pb2.DiffResponse.DIFF_NONE
    return provider_pb2.DiffResponse(changes=kind, diffs=changed)


INVOKES = {
    "aws:ssm/getParameter:getParameter": lambda it: {
        "id": it["name"], "arn": f"arn:aws:ssm:::parameter{it['name']}", "type": "String", "version": 1,
        "value": IMAGE, "insecureValue": IMAGE,
    },
    "aws:index/getCallerIdentity:getCallerIdentity": lambda it: {
        "id": "111122223333", "accountId": "111122223333", "arn": "arn:aws:iam::111122223333:user/x", "userId": "X",
    },
    "aws:index/getRegion:getRegion": lambda it: {
        "id": "eu-central-1", "name": "eu-central-1", "region": "eu-central-1", "description": "Europe (Frankfurt)",
        "endpoint": "ec2.eu-central-1.amazonaws.com",
    },
    "aws:index/getPartition:getPartition": lambda it: {
        "id": "aws", "partition": "aws", "dnsSuffix": "amazonaws.com", "reverseDnsPrefix": "com.amazonaws",
    },
    "aws:index/getAvailabilityZones:getAvailabilityZones": lambda it: {
        "id": "eu-central-1", "names": [f"eu-central-1{zone}" for zone in "abc"], "groupNames": ["eu-central-1"],
        "zoneIds": [f"euc1-az{number}" for number in (2, 3, 1)],
    },
}  # fmt: skip
"""Functions of providers: token to what its arguments give."""


def load(kind: str) -> None:
    """Import the SDK's module of a type, so that its class can be found."""
    package, module, _ = kind.split(":")
    if package == "pulumi":
        return
    for registered in sdk_rpc._RESOURCE_MODULES.get(f"{package}:{module}", ()):  # pyright: ignore[reportPrivateUsage]
        info = getattr(registered, "mod_info", None)
        if info and kind in info["classes"]:
            importlib.import_module(f"{info['fqn']}.{module_of(info['fqn'], info['classes'][kind])}")


def module_of(package: str, class_name: str) -> str:
    """The module of a class: the generator spells some names in another way."""
    (folder,) = map(Path, import_package(package).__path__)
    names = {path.stem.replace("_", "").lower(): path.stem for path in folder.glob("*.py")}
    return names[class_name.lower()]


def struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    made.update(values)
    return made


def name_of(urn: str) -> str:
    return urn.split("::", 3)[3]


def type_of(urn: str) -> str:
    return urn.split("::", 3)[2].rpartition("$")[2]


def version(package: str) -> str:
    """The version of the SDK: the engine looks for the plug-in of the same."""
    return metadata.version(f"pulumi_{package}")


def main(package: str) -> None:
    """Serve until the engine ends the process."""
    from .kubernetes_plugin import KubernetesPlugin

    ends = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # by every thread, so that the one that waits gets them
    cloud = Cloud(Path(os.environ[FOLDER]))
    server = grpc.server(ThreadPoolExecutor(16), options=SIZE)
    plugin = KubernetesPlugin(cloud) if package == "kubernetes" else Plugin(package, cloud)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(plugin, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)
    signal.sigwait(ends)
    server.stop(1).wait()


if __name__ == "__main__":
    main(sys.argv[1])
