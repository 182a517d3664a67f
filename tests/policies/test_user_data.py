"""What user data tells about a machine."""

from typing import Any

import pytest
from winkube.policies.model import UNKNOWN
from winkube.policies.user_data import system_of_user_data

from .nodes import POWERSHELL, SHELL


@pytest.mark.parametrize(
    ("text", "system"),
    [
        (POWERSHELL, "windows"),
        ("<script>dir</script>", "windows"),
        (SHELL, "linux"),
        ("#cloud-config\n", "linux"),
        ("[settings.kubernetes]\n", "linux"),
        ("something", None),
        (UNKNOWN, None),
        (None, None),
    ],
)
def test_user_data_shows_its_system(text: Any, system: str | None) -> None:
    assert system_of_user_data(text) == system
