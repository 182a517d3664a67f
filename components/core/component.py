"""The base of the components: token, parent, and the check of the arguments before anything is registered."""

from typing import Any

import pulumi

from .errors import refuse
from .mistakes import Mistakes


class Component(pulumi.ComponentResource):
    """A component of the type ``winkube:index:<Class>``."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions | None, found: Mistakes | None = None) -> None:
        kind = type(self).__name__
        refuse(kind, name, found or Mistakes())
        super().__init__(f"winkube:index:{kind}", name, None, opts)

    def child(self, **options: Any) -> pulumi.ResourceOptions:
        """Options of a child: its parent is this component, and nothing else of the component's own is copied."""
        return pulumi.ResourceOptions(parent=self, **options)


def known(value: Any) -> bool:
    """Whether a value is plain: not an Output, so that it can be checked at once."""
    return not isinstance(value, pulumi.Output)
