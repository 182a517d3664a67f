"""One running component provider for all tests of this room."""

from collections.abc import Iterator

import pytest

from .bed import Host
from .bed import host as running


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    with running() as started:
        yield started
