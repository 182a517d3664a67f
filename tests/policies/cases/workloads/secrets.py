"""Cases of the rules in ``rules/workloads/secrets.py``."""

from winkube.policies.model import UNKNOWN
from winkube.policies.resource_types import CONFIG_MAP, POD

from ..base import linux, one
from .common import ALWAYS

SECRET_ENV = [{"name": "DB_PASSWORD", "value": "hunter2"}]
SECRET_REF = [{"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}}]

CASES = {
    "no-secret-in-environment": one(
        POD,
        [
            linux(),
            linux(env=SECRET_REF),
            linux(env=[{"name": "TOKEN_FILE", "value": "/run/token"}]),
            linux(env=[{"name": "DB_PASSWORD", "value": "$(OTHER)"}, {"name": "MODE", "value": UNKNOWN}]),
        ],
        [linux(env=SECRET_ENV)],
        [linux(env=[{"name": "DB_PASSWORD", "value": UNKNOWN}]), linux(env=UNKNOWN)],
        "the pod contains the value of the variable DB_PASSWORD",
    ),
    "secrets-as-files": one(
        POD,
        [linux(), linux(env=[{"name": "A", "value": "b"}])],
        [linux(env=SECRET_REF), linux(envFrom=[{"secretRef": {"name": "db"}}])],
        [linux(env=UNKNOWN)],
        "gets secrets as environment variables",
        ALWAYS,
    ),
    "config-map-without-secrets": one(
        CONFIG_MAP,
        [{"metadata": {}, "data": {"a": "b"}}, {"metadata": {}}],
        [
            {"metadata": {}, "data": {"kubeconfig": "users:\n- user: {}\n    client-key-data: LS0t"}},
            {"metadata": {}, "data": {"id": "AKIAIOSFODNN7EXAMPLE"}},
        ],
        [{"metadata": {}, "data": {"a": UNKNOWN}}, {"metadata": {}, "data": UNKNOWN}],
        "holds a private key",
    ),
}
