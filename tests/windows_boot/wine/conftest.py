"""One played Windows Server for all of these tests."""

from collections.abc import Iterator

import pytest

from tests.binaries.wine import Wine, wine


@pytest.fixture(scope="session")
def server() -> Iterator[Wine]:
    """A prefix; tests that need a release play it."""
    with wine("2022") as prefix:
        yield prefix
