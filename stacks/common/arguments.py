"""The arguments of a component from the section of the settings that mirrors them."""

import dataclasses
from typing import Any

import pulumi

from ..config.introspection import Model


def arguments(kind: type[Any], section: Model, **more: Any) -> Any:
    """The arguments of a component: the values of the section, and ``more``.

    A setting that is left out keeps the component's default. Null is passed on only where it is not the default.
    """
    fields = {field.name for field in dataclasses.fields(kind)}
    open_fields = {name for name, field in type(section).model_fields.items() if field.default is None}
    values = {name: value for name, value in section if name in fields}
    given = {name: value for name, value in values.items() if value is not None or name not in open_fields}
    return kind(**{**given, **more})


def after(opts: pulumi.ResourceOptions, *before: pulumi.Resource) -> pulumi.ResourceOptions:
    """Options by which a resource is created after others."""
    return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=list(before)))


def exported(**outputs: Any) -> None:
    """Export the outputs that the environment has."""
    for name, value in outputs.items():
        if value is not None:
            pulumi.export(name, value)
