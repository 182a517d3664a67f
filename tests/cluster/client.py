"""A small client of the API server: server-side apply, strict; as any user."""

import copy
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3

Manifest = dict[str, Any]
FIELD_MANAGER = "winkube"


class ApiError(Exception):
    """The API server refused; ``status`` is its code, the text its message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


class Client:
    """Talks to one API server with a client certificate; :meth:`as_user` gives the same client as somebody else."""

    def __init__(self, server: str, pki: Path, user: str = "admin", connections: int = 32) -> None:
        self.server = server
        self.warnings: list[str] = []
        """What the server said in ``Warning`` headers, in the order of the requests."""
        self._identity: Sequence[tuple[str, str]] = ()
        self._kinds: dict[tuple[str, str], tuple[str, bool]] = {}
        self._pool = urllib3.PoolManager(
            maxsize=connections,
            ca_certs=str(pki / "ca.crt"),
            cert_file=str(pki / f"{user}.crt"),
            key_file=str(pki / f"{user}.key"),
            retries=False,
            timeout=30,
        )

    def as_user(self, user: str, groups: Sequence[str] = ()) -> "Client":
        """The same client, impersonating a user: ``system:serviceaccount:<namespace>:<name>`` for an account."""
        members = list(groups)
        if user.startswith("system:serviceaccount:") and not members:
            members = ["system:serviceaccounts", f"system:serviceaccounts:{user.split(':')[2]}"]
        other = copy.copy(self)
        other._identity = [
            ("Impersonate-User", user),
            *(("Impersonate-Group", group) for group in (*members, "system:authenticated")),
        ]
        return other

    def request(self, method: str, path: str, body: Any = None, *, content: str = "json", **query: Any) -> Any:
        """One call; the decoded answer, or :class:`ApiError`."""
        headers = urllib3.HTTPHeaderDict({"Content-Type": f"application/{content}", "Accept": "application/json"})
        for name, value in self._identity:
            headers.add(name, value)
        url = self.server + path + (f"?{urlencode(query)}" if query else "")
        answer = self._pool.request(
            method, url, body=None if body is None else json.dumps(body).encode(), headers=headers
        )
        self.warnings.extend(answer.headers.getlist("Warning"))
        is_json = answer.headers.get("Content-Type", "").startswith("application/json")
        said: Any = answer.json() if is_json else answer.data.decode(errors="replace")
        if answer.status >= 400:
            raise ApiError(answer.status, said.get("message", "") if is_json else said)
        return said

    def raw(self, path: str, **query: Any) -> bytes:
        """What the server answers to a GET, as it is."""
        return self._pool.request("GET", f"{self.server}{path}?{urlencode(query)}").data

    def path(self, version: str, kind: str, name: str | None = None, namespace: str | None = None) -> str:
        """Where objects of a kind live; ``namespace`` is left out for kinds without."""
        plural, namespaced = self._kind(version, kind)
        parts = ["", "apis" if "/" in version else "api", version]
        if namespaced and namespace is not None:
            parts += ["namespaces", namespace]
        return "/".join([*parts, plural, *([name] if name else [])])

    def path_of(self, manifest: Mapping[str, Any]) -> str:
        """Where the object of a manifest lives; in ``default`` unless it says otherwise."""
        metadata = manifest["metadata"]
        namespace = metadata.get("namespace", "default")
        return self.path(manifest["apiVersion"], manifest["kind"], metadata["name"], namespace)

    def apply(
        self, manifest: Mapping[str, Any], *, manager: str = FIELD_MANAGER, force: bool = False, **query: Any
    ) -> Manifest:
        """Server-side apply with strict field validation."""
        return self.request(
            "PATCH",
            self.path_of(manifest),
            manifest,
            content="apply-patch+yaml",
            fieldManager=manager,
            fieldValidation="Strict",
            force=str(force).lower(),
            **query,
        )

    def create(self, manifest: Mapping[str, Any], **query: Any) -> Manifest:
        """Create with strict field validation; the name may be generated."""
        collection = self.path(
            manifest["apiVersion"], manifest["kind"], None, manifest["metadata"].get("namespace", "default")
        )
        return self.request("POST", collection, manifest, fieldValidation="Strict", **query)

    def get(self, version: str, kind: str, name: str, namespace: str = "default") -> Manifest:
        """One object."""
        return self.request("GET", self.path(version, kind, name, namespace))

    def list(self, version: str, kind: str, namespace: str | None = None, **query: Any) -> list[Manifest]:
        """Objects of a kind, in one namespace or everywhere; ``labelSelector`` and ``fieldSelector`` as usual."""
        return self.request("GET", self.path(version, kind, None, namespace), **query)["items"]

    def patch_status(self, manifest: Mapping[str, Any], status: Mapping[str, Any]) -> Manifest:
        """Merge into the status of an object."""
        return self.request("PATCH", self.path_of(manifest) + "/status", {"status": status}, content="merge-patch+json")

    def delete(self, manifest: Mapping[str, Any], *, now: bool = True) -> None:
        """Delete an object if it is there, by default without its grace period."""
        try:
            self.request(
                "DELETE",
                self.path_of(manifest),
                {"propagationPolicy": "Background", **({"gracePeriodSeconds": 0} if now else {})},
            )
        except ApiError as error:
            if error.status != 404:
                raise

    def wait(self, what: str, condition: Callable[[], Any], seconds: float = 30) -> Any:
        """Ask again until the condition gives something true; a refusal counts as no."""
        until = time.monotonic() + seconds
        said = ""
        while True:
            try:
                if found := condition():
                    return found
            except (ApiError, urllib3.exceptions.HTTPError) as error:
                said = f" ({error})"
            if time.monotonic() > until:
                raise TimeoutError(f"no {what} in {seconds:g} s{said}")
            time.sleep(0.05)

    def _kind(self, version: str, kind: str) -> tuple[str, bool]:
        if (version, kind) not in self._kinds:
            listed = self.request("GET", f"/{'apis' if '/' in version else 'api'}/{version}")["resources"]
            for resource in listed:
                if "/" not in resource["name"]:
                    self._kinds[version, resource["kind"]] = (resource["name"], resource["namespaced"])
        if (version, kind) not in self._kinds:
            raise ApiError(404, f"the server knows no {kind} in {version}")
        return self._kinds[version, kind]
