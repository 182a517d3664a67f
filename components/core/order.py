"""Order among components: what a caller wants to come first, said again on the children that really wait."""

from collections.abc import Sequence

import pulumi


def ordered_after(opts: pulumi.ResourceOptions | None, *before: pulumi.Resource) -> list[pulumi.Resource]:
    """What a child comes after: its component's own ``depends_on``, and ``before``.

    The engine holds a component back until its dependencies are there, and its children with it. Saying it again on the
    child keeps the order in its own state entry, where a plan and a policy see it.
    """
    given = opts.depends_on if opts is not None else None
    if isinstance(given, pulumi.Resource):
        return [given, *before]
    if isinstance(given, Sequence):
        return [*(resource for resource in given if isinstance(resource, pulumi.Resource)), *before]
    return list(before)
