"""The stand-in for Kubernetes: applies to a real API server with the program's own kubeconfig, or echoes.

It applies where the settings of the cloud name a proxy: the program's API has a name that leads nowhere, and the proxy
leads it to the test bed. Server-side apply with strict validation, as the real provider does it.
"""
# ruff: noqa: N802 (the protocol names the methods)

import base64
import json
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import urllib3
import yaml
from google.protobuf import json_format, struct_pb2
from winkube.preview.model import decode, unwrap_secrets

from tests.cluster.client import ApiError, Client

from .cloud import Cloud, Thing
from .plugin import Plugin, name_of, struct, type_of

NOT_APPLIED = ("kubernetes:helm.sh/",)
"""Helm makes the objects of a chart: neither the chart nor Helm is here."""


class KubernetesPlugin(Plugin):
    """One process serves one provider resource, as the engine starts them."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__("kubernetes", cloud)
        self._client: Client | None = None

    def Configure(self, request: Any, context: Any) -> Any:
        proxy, text = self.cloud.settings().get("proxy"), unwrap_secrets(decode(request.args)).get("kubeconfig")
        if proxy and isinstance(text, str):
            self._client = ProxiedClient(yaml.safe_load(text), proxy)
        return super().Configure(request, context)

    def _applies(self, urn: str) -> bool:
        return self._client is not None and not type_of(urn).startswith(NOT_APPLIED)

    def _make(self, urn: str, id_: str, inputs: struct_pb2.Struct, state: struct_pb2.Struct) -> None:
        if self._applies(urn):
            assert self._client is not None
            # The real provider forces nothing either, unless it is told to by an annotation.
            self._client.apply(manifest(urn, unwrap_secrets(decode(inputs))), manager="pulumi")
        super()._make(urn, id_, inputs, state)

    def _look(self, urn: str) -> Thing | None:
        thing = super()._look(urn)
        if thing is None or not self._applies(urn):
            return thing
        assert self._client is not None
        wanted = manifest(urn, unwrap_secrets(decode(struct(thing.inputs))))
        try:
            found = self._client.request("GET", self._client.path_of(wanted))
        except ApiError as error:
            if error.status == 404:
                return None
            raise
        seen = cut(found, thing.inputs)
        return thing if seen == thing.inputs else Thing(urn, thing.id, seen, {**thing.outputs, **seen})

    def _unmake(self, urn: str) -> None:
        thing = self.cloud.get(urn)
        if thing is not None and self._applies(urn):
            assert self._client is not None
            self._client.delete(manifest(urn, unwrap_secrets(decode(struct(thing.inputs)))))


def manifest(urn: str, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs as an API server takes them: named, whole numbers as such, without the provider's annotations."""
    made = json.loads(json_format.MessageToJson(struct(inputs)))
    metadata = made.setdefault("metadata", {})
    metadata.setdefault("name", name_of(urn))
    annotations = {key: it for key, it in metadata.pop("annotations", {}).items() if "pulumi.com/" not in key}
    return {**made, "metadata": {**metadata, **({"annotations": annotations} if annotations else {})}}


def cut(found: Any, wanted: Any) -> Any:
    """What an object says where the program says something: the rest is the server's."""
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return {key: cut(found.get(key), inner) for key, inner in wanted.items()}
    if isinstance(wanted, list) and isinstance(found, list) and len(found) == len(wanted):
        return [cut(one, inner) for one, inner in zip(found, wanted, strict=True)]
    return wanted if found is None else found


class ProxiedClient(Client):
    """A client with the address and the identity of a kubeconfig, through a proxy."""

    def __init__(self, config: Mapping[str, Any], proxy: str) -> None:
        self._identity, self._kinds, self.warnings = (), {}, []
        (cluster,), (user,) = config["clusters"], config["users"]
        self.server = cluster["cluster"]["server"]
        folder = Path(tempfile.mkdtemp(prefix="winkube-kubeconfig-"))
        given = {"ca": cluster["cluster"]["certificate-authority-data"], **_identity(user["user"])}
        for name, data in given.items():
            (folder / name).write_bytes(base64.b64decode(data))
        self._pool = urllib3.ProxyManager(
            proxy, ca_certs=str(folder / "ca"), cert_file=str(folder / "crt"), key_file=str(folder / "key"),
            retries=False, timeout=30, maxsize=16,
        )  # fmt: skip


def _identity(user: Mapping[str, Any]) -> Mapping[str, str]:
    if "exec" in user:
        command = [user["exec"]["command"], *user["exec"]["args"]]
        status = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["status"]
        pair = (status["clientCertificateData"], status["clientKeyData"])
        return dict(zip(("crt", "key"), (base64.b64encode(it.encode()).decode() for it in pair), strict=True))
    return {"crt": user["client-certificate-data"], "key": user["client-key-data"]}
