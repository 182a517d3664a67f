"""Secrets of workloads."""

import re
from collections.abc import Iterator

from ...frameworks import cis_eks, cis_kubernetes
from ...model import WHEN_OPTIONS, Planned, Settings, Value, applies, every, resource_rule
from ...pods import container_name, pod_of
from ...resource_types import CONFIG_MAP, WORKLOADS
from ...secret_patterns import ACCESS_KEY, SECRET_NAME, holds_client_key

SECRETS_PAGE = "https://kubernetes.io/docs/concepts/security/secrets-good-practices/"


@resource_rule(
    "no-secret-in-environment",
    "Pods do not contain secrets as plain values",
    types=WORKLOADS,
    severity="high",
    references=[cis_eks("4.4.1"), cis_kubernetes("5.4.1")],
    steps="keep the value in a Secret and mount it, or read it from Secrets Manager with the pod's role",
    url=SECRETS_PAGE,
)
def no_secret_in_environment(resource: Planned, settings: Settings) -> Iterator[str]:
    """Everyone who may read the pod could read them. Judged by the variable's name; references are accepted."""

    def check(container: Value) -> Iterator[str]:
        for variable in container["env"].items():
            name = variable["name"].text or ""
            value = variable["value"]
            if SECRET_NAME.search(name) and not re.search(r"(?i)(file|path|name|arn|url|ttl|length|mode)$", name):
                text = value.text
                if text and not text.startswith(("$(", "/")):
                    yield f"{container_name(container)}: the pod contains the value of the variable {name}"

    pod = pod_of(resource)
    yield from every(pod.containers if pod else (), check)


@resource_rule(
    "secrets-as-files",
    "Containers get secrets as files",
    types=WORKLOADS,
    severity="low",
    references=[cis_eks("4.4.1"), cis_kubernetes("5.4.1")],
    steps="mount the Secret as a volume",
    url=SECRETS_PAGE,
    options=WHEN_OPTIONS,
)
def secrets_as_files(resource: Planned, settings: Settings) -> Iterator[str]:
    """By default, applies in production only: variables end up in crash reports and child processes."""
    if not applies(resource, settings):
        return

    def check(container: Value) -> Iterator[str]:
        sources = [variable["valueFrom"]["secretKeyRef"] for variable in container["env"].items()]
        sources += [source["secretRef"] for source in container["envFrom"].items()]
        if any(source.settled for source in sources):
            yield f"{container_name(container)} gets secrets as environment variables"
        for source in sources:
            source.known()

    pod = pod_of(resource)
    yield from every(pod.containers if pod else (), check)


@resource_rule(
    "config-map-without-secrets",
    "ConfigMaps hold no private keys or access keys",
    types=[CONFIG_MAP],
    severity="critical",
    level="mandatory",
    references=[cis_eks("4.4.1")],
    steps="keep the key in a Secret; give programs a service account instead of an administrator's kubeconfig",
    url=SECRETS_PAGE,
)
def config_map_without_secrets(resource: Planned, settings: Settings) -> Iterator[str]:
    """Everyone who may read ConfigMaps in the namespace could use them."""

    def check(pair: tuple[str, Value]) -> Iterator[str]:
        text = pair[1].text or ""
        if holds_client_key(text) or ACCESS_KEY.search(text):
            yield f"data.{pair[0]} holds a private key or an access key"

    yield from every(resource["data"].entries(), check)
