"""What tests and golden sentences take from the tables, so that a new row changes no test: minors, names of add-ons."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from winkube.addons.addon_table import ADDONS
from winkube.addons.self_managed_table import SELF_MANAGED_ADDONS
from winkube.core.mistakes import one_of
from winkube.tables.kubernetes import EKS_MINORS, newest, oldest
from winkube.tables.releases import SELF_MANAGED_MINORS, SELF_MANAGED_RELEASES

EKS_NEWEST, EKS_OLDEST = newest(EKS_MINORS), oldest(EKS_MINORS)
NEWEST, OLDEST = newest(SELF_MANAGED_MINORS), oldest(SELF_MANAGED_MINORS)
_NAMES = {
    "{EKS minors}": one_of(EKS_MINORS),
    "{EKS newest}": EKS_NEWEST,
    "{EKS oldest}": EKS_OLDEST,
    "{minors}": one_of(SELF_MANAGED_MINORS),
    "{newest}": NEWEST,
    "{oldest}": OLDEST,
    "{EKS add-ons}": one_of(ADDONS),
    "{add-ons}": one_of(SELF_MANAGED_ADDONS),
    "{oldest end of life}": str(SELF_MANAGED_RELEASES[OLDEST].end_of_life),
}


def golden(text: str) -> str:
    """A golden sentence with what the tables say now in it."""
    for name, value in _NAMES.items():
        text = text.replace(name, value)
    return text


@cache
def has_schema(minor: str) -> bool:
    """Whether the installed schemas of Kubernetes know a minor: they come after its release."""
    package = find_spec("kubernetes_validate")
    assert package is not None
    assert package.origin is not None
    return (Path(package.origin).parent / "kubernetes-json-schema" / f"v{minor}.0-local-strict").is_dir()
