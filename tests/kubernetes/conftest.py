"""What the tests of the Kubernetes objects share."""

from collections.abc import Callable, Mapping
from typing import Any

import kubernetes_validate
import pytest
from winkube.core.mistakes import Mistake, Mistakes
from winkube.kubernetes.windows_pods import check_manifest
from winkube.tables.kubernetes import SELF_MANAGED_MINORS

API = "api.prod.example.com:6443"
SCHEMAS = tuple(minor for minor in SELF_MANAGED_MINORS if minor != "1.37")


@pytest.fixture
def validated() -> Callable[[Mapping[str, Any]], None]:
    """Holds a manifest against the strict schema of the minors, and against our own rules of Windows pods."""

    def check(manifest: Mapping[str, Any]) -> None:
        for minor in SCHEMAS:
            if manifest["kind"].startswith("Mutating") and minor == "1.35":
                continue
            kubernetes_validate.validate(dict(manifest), minor, strict=True)
        assert not check_manifest(manifest)

    return check


def said(found: Mistakes, code: str) -> Mistake:
    """The one mistake with a code."""
    (mistake,) = [it for it in found if it.rule.code == code]
    return mistake
