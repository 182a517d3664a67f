"""From a section of the settings to the arguments of the component that it mirrors."""

import dataclasses
from typing import Any

import pulumi

from ..config.introspection import Model


def arguments(kind: type[Any], section: Model, **more: Any) -> Any:
    """A component's arguments: what the section says of them, and ``more``.

    What the section leaves open keeps the component's default; null says something only where it is not the default.
    """
    fields = {field.name for field in dataclasses.fields(kind)}
    open_fields = {name for name, field in type(section).model_fields.items() if field.default is None}
    values = {name: value for name, value in section if name in fields}
    given = {name: value for name, value in values.items() if value is not None or name not in open_fields}
    return kind(**{**given, **more})


def after(opts: pulumi.ResourceOptions, *before: pulumi.Resource) -> pulumi.ResourceOptions:
    """Options with what has to be there first."""
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=list(before)))


def exported(**outputs: Any) -> None:
    """Export what an environment has of these."""
    for name, value in outputs.items():
        if value is not None:
            pulumi.export(name, value)
