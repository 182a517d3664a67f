"""What must hold for the selectors of a Fargate profile. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..core.mistakes import Mistakes, Path, Rule

SELECTORS = Rule(
    "WK-EKS-038",
    "A Fargate profile has one to five selectors, each with at most five labels.",
    "https://docs.aws.amazon.com/eks/latest/userguide/fargate-profile.html",
)

SELECTOR_LIMIT = 5
LABEL_LIMIT = 5
_NAMESPACE = re.compile(r"[a-z0-9*?]([a-z0-9*?-]{0,61}[a-z0-9*?])?")


def check_selectors(selectors: Sequence[Mapping[str, Any]], path: Path = ("selectors",)) -> Mistakes:
    """Number, namespaces and labels of the selectors."""
    found = Mistakes()
    if not 1 <= len(selectors) <= SELECTOR_LIMIT:
        found.add(SELECTORS, path, f"a profile has 1 to {SELECTOR_LIMIT} selectors",
                  "select the pods, with several profiles if necessary", len(selectors))  # fmt: skip
    for index, selector in enumerate(selectors):
        namespace = str(selector.get("namespace", ""))
        if not _NAMESPACE.fullmatch(namespace):
            found.add(SELECTORS, (*path, index, "namespace"), "a namespace has lower-case letters, digits and hyphens",
                      'write a name such as "kube-system"', namespace)  # fmt: skip
        labels = cast("Mapping[str, str]", selector.get("labels") or {})
        if len(labels) > LABEL_LIMIT:
            found.add(SELECTORS, (*path, index, "labels"), f"a selector has at most {LABEL_LIMIT} labels",
                      f"remove {len(labels) - LABEL_LIMIT} of them", len(labels))  # fmt: skip
    return found
