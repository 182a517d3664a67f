"""The flavours of clusters. The flavour decides who runs the control plane, and which sections a stack file has.

Each has a package of its name with the modules ``settings`` (the model ``SETTINGS``), ``checks`` (``check_settings``,
``advise_settings`` and ``COMPARED``), ``choices`` (``CHOICES``) and ``program`` (``build``). They are imported by name
on first use: a stack imports the models of its own flavour only, and wrong settings are reported before any SDK is
imported.
"""

import importlib
from typing import Any

from winkube.core.mistakes import nearest

from .settings import Settings

FLAVOURS: tuple[str, ...] = ("eks", "kubeadm")
"""The values of ``winkube:flavour``."""


def settings_of(flavour: str) -> type[Settings]:
    """The model of the stack files of a flavour; for an unknown flavour, of the most similar one."""
    return importlib.import_module(f"stacks.{known(flavour)}.settings").SETTINGS


def module_of(flavour: str, module: str) -> Any:
    """A module of the package of a flavour."""
    return importlib.import_module(f"stacks.{known(flavour)}.{module}")


def known(flavour: str) -> str:
    """The flavour, or the most similar one for an unknown name."""
    return flavour if flavour in FLAVOURS else nearest(flavour, FLAVOURS) or FLAVOURS[0]
