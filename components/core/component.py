"""The base of the components: token, parent, and the check of the arguments before anything is registered."""

from typing import Any
from weakref import WeakKeyDictionary

import pulumi
from pulumi.runtime import get_root_resource

from .errors import refuse
from .mistakes import Mistakes

SHARED = (("target",), ("cluster",))
"""Paths of arguments that many components of a program are given alike."""
_TOLD: WeakKeyDictionary[pulumi.Resource, set[str]] = WeakKeyDictionary()


class Component(pulumi.ComponentResource):
    """A component of the type ``winkube:index:<Class>``."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None, found: Mistakes | None = None) -> None:
        kind = type(self).__name__
        refuse(kind, name, found or Mistakes())
        super().__init__(f"winkube:index:{kind}", name, None, opts)

    def advise(self, advice: Mistakes) -> None:
        """Warn of what may be meant otherwise; of an argument that components share, once in a deployment."""
        stack = get_root_resource()
        told = _TOLD.setdefault(stack, set()) if stack else set[str]()
        for one in advice:
            text = one.text()
            if text not in told or one.path[:1] not in SHARED:
                pulumi.log.warn(text, resource=self)
            told.add(text)

    def child(self, **options: Any) -> pulumi.ResourceOptions:
        """Options of a child: its parent is this component, and nothing else of the component's own is copied."""
        return pulumi.ResourceOptions(parent=self, **options)


def known(value: Any) -> bool:
    """Whether a value is plain: not an Output, so that it can be checked at once."""
    return not isinstance(value, pulumi.Output)
