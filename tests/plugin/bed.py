"""An engine for the component provider: real gRPC on both sides, the provider in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import struct_pb2
from pulumi.runtime.proto import (
    engine_pb2_grpc,
    errors_pb2,
    provider_pb2,
    provider_pb2_grpc,
    resource_pb2,
    resource_pb2_grpc,
    status_pb2,
)
from winkube.preview.evaluation.invokes import Answers
from winkube.preview.evaluation.monitor import Engine, Monitor
from winkube.preview.evaluation.project import Run
from winkube.preview.model import OUTPUT_SIGNATURE, SECRET_SIGNATURE, SIGNATURE_KEY, Resource, decode

ROOT = Path(__file__).resolve().parent.parent.parent


PARAMETER = "ami-0123456789abcdef0"
ANSWERS = Answers({"aws:ssm/getParameter:getParameter": (({}, {"value": PARAMETER, "insecureValue": PARAMETER}),)})
"""What the cloud is asked: the images of Windows."""


class MonitorServicer(resource_pb2_grpc.ResourceMonitorServicer):
    """The recording monitor behind a socket."""

    def __init__(self) -> None:
        self.start(preview=True)

    def start(self, *, preview: bool) -> None:
        """Forget what was recorded."""
        run = Run(project="project", stack="stack", directory="/", mode="preview" if preview else "update")
        self.monitor = Monitor(run, answers=ANSWERS, locate=lambda file: file)

    def RegisterResource(self, request: Any, context: Any) -> Any:  # noqa: N802
        made = self.monitor.RegisterResource(request)
        return resource_pb2.RegisterResourceResponse(urn=made.urn, id=made.id, object=made.object)

    def ReadResource(self, request: Any, context: Any) -> Any:  # noqa: N802
        made = self.monitor.ReadResource(request)
        return resource_pb2.ReadResourceResponse(urn=made.urn, properties=made.object)

    def Invoke(self, request: Any, context: Any) -> Any:  # noqa: N802
        answered = self.monitor.Invoke(request)
        response = provider_pb2.InvokeResponse()
        getattr(response, "return").CopyFrom(answered.result)
        return response

    def RegisterResourceOutputs(self, request: Any, context: Any) -> Any:  # noqa: N802
        return self.monitor.RegisterResourceOutputs(request)

    def GetDeploymentInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        return self.monitor.GetDeploymentInfo(request)

    def SupportsFeature(self, request: Any, context: Any) -> Any:  # noqa: N802
        return self.monitor.SupportsFeature(request)

    def RegisterPackage(self, request: Any, context: Any) -> Any:  # noqa: N802
        return self.monitor.RegisterPackage(request)


class EngineServicer(engine_pb2_grpc.EngineServicer):
    """The engine's log."""

    def __init__(self) -> None:
        self.engine = Engine()

    def Log(self, request: Any, context: Any) -> Any:  # noqa: N802
        return self.engine.Log(request)


class RefusedError(Exception):
    """What a Construct was refused with: the text, and each reason by its path."""

    def __init__(self, error: grpc.RpcError) -> None:
        super().__init__(error.details())
        self.code = error.code()
        self.text = str(error.details())
        self.reasons: dict[str, str] = {}
        for key, value in error.trailing_metadata() or ():
            if key == "grpc-status-details-bin":
                for detail in status_pb2.Status.FromString(value).details:
                    found = errors_pb2.InputPropertiesError()
                    detail.Unpack(found)
                    self.reasons |= {item.property_path: item.reason for item in found.errors}


class Host:
    """A running component provider."""

    def __init__(self, stub: Any, monitor: MonitorServicer, address: str) -> None:
        self._stub, self._monitor, self._address = stub, monitor, address

    def made(self) -> dict[str, Resource]:
        """What the last request has registered."""
        return self._monitor.monitor.resources

    def schema(self) -> str:
        return self._stub.GetSchema(provider_pb2.GetSchemaRequest()).schema

    def construct(
        self,
        kind: str,
        inputs: Mapping[str, Any],
        *,
        preview: bool = True,
        name: str = "it",
        dependencies: Sequence[str] = (),
    ) -> tuple[dict[str, Any], dict[str, Resource]]:
        """Make a component: its outputs, and what was registered, by URN.

        :raises RefusedError: with what the provider says.
        """
        self._monitor.start(preview=preview)
        request = provider_pb2.ConstructRequest(
            project="project", stack="stack", type=kind if ":" in kind else f"winkube:index:{kind}", name=name,
            inputs=struct(inputs), dryRun=preview, monitorEndpoint=self._address, parallel=16,
            organization="organization", dependencies=dependencies, accepts_output_values=True,
        )  # fmt: skip
        try:
            response = self._stub.Construct(request)
        except grpc.RpcError as error:
            raise RefusedError(error) from None
        return {"urn": response.urn, **decode(response.state)}, self._monitor.monitor.resources


def output(value: Any = None, *, known: bool = False, secret: bool = False) -> dict[str, Any]:
    """An output of another resource, as the protocol spells it."""
    return {
        SIGNATURE_KEY: OUTPUT_SIGNATURE,
        **({"value": value} if known else {}),
        **({"secret": True} if secret else {}),
    }


def secret(value: Any) -> dict[str, Any]:
    """A secret, as the protocol spells it."""
    return {SIGNATURE_KEY: SECRET_SIGNATURE, "value": value}


def struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    made.update(values)
    return made


@contextmanager
def host(python: str = sys.executable) -> Iterator[Host]:
    """Start the provider as the engine does: an interpreter on the folder of the components."""
    server = grpc.server(ThreadPoolExecutor(16))
    monitor = MonitorServicer()
    resource_pb2_grpc.add_ResourceMonitorServicer_to_server(monitor, server)
    engine_pb2_grpc.add_EngineServicer_to_server(EngineServicer(), server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    command = [python, str(ROOT / "components"), address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            port = child.stdout.readline().strip()
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                yield Host(provider_pb2_grpc.ResourceProviderStub(channel), monitor, address)
        finally:
            child.terminate()
            server.stop(None).wait()
