"""Waiting until the API server acts by every admission policy that was made, changed or taken away before."""

import uuid
from typing import Any

from winkube.admission.windows_admission import mutating_policies

from .bed import Cluster
from .client import ApiError, Client, Manifest

NAME = "notice"
_API = "admissionregistration.k8s.io/v1"
_PROBE: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME, "namespace": "default"}}


def take_notice(cluster: Cluster) -> None:
    """Return when it does.

    The server learns of policies one by one, in the order of their writing, and of bindings apart from them; then it
    takes over all it knows of at once, every second or so. So a policy of each kind with its binding, written last, is
    in force only with all the others. These refuse, and before that label, a ConfigMap that nobody has.
    """
    token = uuid.uuid4().hex
    mutating = mutating_policies(cluster.minor)
    for manifest in _policies(token, mutating=mutating):
        cluster.client.apply(manifest)
    wanted = f"refused {token}, seen {token if mutating else 'by none'}"
    cluster.client.wait("notice of the policies", lambda: wanted in _answer(cluster.client))


def _answer(client: Client) -> str:
    try:
        client.create(_PROBE, dryRun="All")
    except ApiError as error:
        return error.message
    return ""


def _policies(token: str, *, mutating: bool) -> list[Manifest]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}
    both: dict[str, Any] = {
        "matchConstraints": {"resourceRules": [rule]},
        "matchConditions": [{"name": "probe", "expression": f"object.metadata.name == '{NAME}'"}],
    }
    label = f"Object{{metadata: Object.metadata{{labels: {{'seen': '{token}'}}}}}}"
    seen = "has(object.metadata.labels) ? object.metadata.labels.seen : 'by none'"
    refusal = {"expression": "false", "messageExpression": f"'refused {token}, seen ' + ({seen})"}
    made = [("Validating", {**both, "validations": [refusal]}, {"validationActions": ["Deny"]})]
    if mutating:
        mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": label}}
        made.append(("Mutating", {**both, "reinvocationPolicy": "Never", "mutations": [mutation]}, {}))
    return [
        {"apiVersion": _API, "kind": f"{kind}AdmissionPolicy{part}", "metadata": {"name": NAME}, "spec": spec}
        for kind, policy, binding in made
        for part, spec in (("", policy), ("Binding", {"policyName": NAME, **binding}))
    ]
