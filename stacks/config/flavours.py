"""The flavours: what runs the control plane, and with it the sections that a stack file has.

Each has a package of its name with the modules ``settings`` (the model ``SETTINGS``), ``checks`` (``check_settings``,
``advise_settings`` and ``COMPARED``), ``choices`` (``CHOICES``) and ``program`` (``build``). They are imported when
they are needed: a stack pays for the models of its own flavour only, and a wrong setting is told before any SDK is
loaded.
"""

import importlib
from typing import Any

from winkube.core.mistakes import nearest

from .settings import Settings

FLAVOURS: tuple[str, ...] = ("eks", "kubeadm")
"""The words for ``winkube:flavour``."""


def settings_of(flavour: str) -> type[Settings]:
    """The model of a flavour's stack files; of the most alike one for a word that is none."""
    return importlib.import_module(f"stacks.{known(flavour)}.settings").SETTINGS


def module_of(flavour: str, module: str) -> Any:
    """A module of a flavour's package."""
    return importlib.import_module(f"stacks.{known(flavour)}.{module}")


def known(flavour: str) -> str:
    """The flavour, or the one that a wrong word means."""
    return flavour if flavour in FLAVOURS else nearest(flavour, FLAVOURS) or FLAVOURS[0]
