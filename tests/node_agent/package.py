"""The agent's package under its own name, as it is on a node."""

import importlib
import sys
from types import ModuleType

from tests.node_agent.bed import AGENT


def load(name: str) -> ModuleType:
    """A module of the agent."""
    if str(AGENT) not in sys.path:
        sys.path.append(str(AGENT))
    return importlib.import_module(f"winkube_agent.{name}")
