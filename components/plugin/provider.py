"""The component provider: makes components for programs in other languages.

The SDK's own host builds schema and arguments from ``TypedDict`` facades. It drops inputs that it does not know, says
nothing of a wrong type, and loses the list of mistakes on the way to the engine; so the schema is made from the
``Args`` classes themselves, and what a program sends is read against them.
"""

import importlib
import re
import sys
from collections.abc import Iterable
from dataclasses import fields, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pulumi
from pulumi.provider import ConstructResult, Provider
from pulumi.provider.server import main

from ..core.errors import WinkubeError
from ..core.mistakes import Mistake, Rule, camel_case, nearest
from .argument_types import ArgumentType, fields_of, outputs_of
from .reading import SCHEMA_PAGE, read_arguments
from .schema import NAME, package_schema, schema_text, token

NO_COMPONENT = Rule("WK-PLG-005", "A resource of the package must be one of its components.", SCHEMA_PAGE)
SCHEMA = Path(__file__).parent / "schema.json"
COMPONENTS = (
    "ApiRecord",
    "BootCode",
    "CloudControllerManager",
    "ClusterZone",
    "ControlPlaneRole",
    "EksAddon",
    "EksAddons",
    "EksCluster",
    "EksClusterRole",
    "EksFargateProfile",
    "EksLinuxNodeGroup",
    "EksSecurityGroups",
    "EksWindowsImage",
    "EksWindowsNodeGroup",
    "Flannel",
    "FluentBitWindows",
    "GmsaCredentialSpec",
    "InterruptionQueue",
    "IrsaRole",
    "KarpenterWindowsNodes",
    "KarpenterWindowsRole",
    "KubeletCsrApprover",
    "LinuxControlPlane",
    "LinuxInstanceGroup",
    "Network",
    "NodeRole",
    "NodeTaints",
    "NtfsStorageClass",
    "SampleWorkloads",
    "SelfManagedAddons",
    "SmbStorageClass",
    "StateBucket",
    "WindowsAdmission",
    "WindowsInstanceGroup",
    "WindowsIpam",
    "WindowsKubeProxy",
    "WindowsLogs",
    "WindowsNodeImage",
    "WindowsRuntimeClasses",
    "WorkerSecurityGroup",
)
"""What other languages can make: every public component."""


@cache
def classes(name: str) -> tuple[Any, Any]:
    """A component's class and that of its arguments, imported when they are first used."""
    library: Any = importlib.import_module(__name__.partition(".")[0])
    return getattr(library, name), getattr(library, f"{name}Args")


def current_schema() -> str:
    """The schema that the code describes now."""
    return schema_text(package_schema({name: classes(name) for name in COMPONENTS}, version(NAME)))


class ComponentProvider(Provider):
    """Answers the engine for the package ``winkube``."""

    def __init__(self) -> None:
        super().__init__(version(NAME), SCHEMA.read_text(encoding="utf-8"))

    def construct(
        self, name: str, resource_type: str, inputs: pulumi.Inputs, options: pulumi.ResourceOptions | None = None
    ) -> ConstructResult:
        """Make the component that a program asks for.

        :raises pulumi.InputPropertiesError: with every mistake, by path in the program's own spelling.
        """
        kind = resource_type.rpartition(":")[2]
        if resource_type != token(kind) or kind not in COMPONENTS:
            guess = nearest(kind, COMPONENTS)
            remedy = f'write "{token(guess)}"' if guess else f"use one of {', '.join(COMPONENTS)}"
            mistake = Mistake((), NO_COMPONENT, "there is no such component", remedy, resource_type)
            raise refusal(f'{kind} "{name}" cannot be built', [mistake], resource_type, frozenset())
        component, args = classes(kind)
        words = frozenset(_names(args))
        title, root = f'{kind} "{name}" cannot be built from these inputs', f"{kind}({name})."
        read, mistakes = read_arguments(args, inputs)
        if mistakes:
            raise refusal(title, mistakes, root, words)
        try:
            made = component(name, read, options)
        except WinkubeError as error:
            raise refusal(title, error.mistakes, root, words) from None
        state = {field.key: value for field in outputs_of(component)
                 if (value := getattr(made, field.name, None)) is not None}  # fmt: skip
        return ConstructResult(made.urn, state)


def refusal(title: str, mistakes: Iterable[Mistake], root: str, words: frozenset[str]) -> pulumi.InputPropertiesError:
    """Every mistake in the spelling of the other languages, as an error that the engine shows by path.

    Not a ``WinkubeError``: that is a ``RunError`` too, of which the SDK's server would send the text alone.

    :param words: the names of arguments that may stand in a message or a remedy.
    """
    spelled = [_spelled(mistake, words) for mistake in mistakes]
    error = WinkubeError(title, spelled, root)
    return pulumi.InputPropertiesError(error.text, error.errors)


def _spelled(mistake: Mistake, words: frozenset[str]) -> Mistake:
    def camel(text: str) -> str:
        return re.sub(r"\b[a-z0-9]+(?:_[a-z0-9]+)+\b", lambda found: _word(found[0], words), text)

    path = tuple(camel_case(part) if isinstance(part, str) and part in words else part for part in mistake.path)
    return replace(mistake, path=path, message=camel(mistake.message), remedy=camel(mistake.remedy))


def _word(word: str, words: frozenset[str]) -> str:
    return camel_case(word) if word in words else word


def _names(cls: Any) -> Iterable[str]:
    """The names of the fields of a class and of everything inside it."""
    for field in fields(cls):
        yield field.name
    for field in fields_of(cls):
        yield from _inner_names(field.type)


def _inner_names(argument: ArgumentType) -> Iterable[str]:
    if argument.kind == "object":
        yield from _names(argument.of)
    for part in argument.parts:
        yield from _inner_names(part)


def serve() -> None:
    """Run as the plug-in that the engine starts."""
    main(ComponentProvider(), sys.argv[1:])
