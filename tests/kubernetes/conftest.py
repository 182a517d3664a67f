"""What the tests of the Kubernetes objects share."""

from winkube.core.mistakes import Mistake, Mistakes

API = "api.prod.example.com:6443"


def said(found: Mistakes, code: str) -> Mistake:
    """The one mistake with a code."""
    (mistake,) = [it for it in found if it.rule.code == code]
    return mistake
