"""What pods tell about the nodes that they are for."""

import pytest
from winkube.policies.pods import image_release, retired_release


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("mcr.microsoft.com/windows/servercore:ltsc2022", "2022"),
        ("mcr.microsoft.com/windows/nanoserver:1809", "2019"),
        ("mcr.microsoft.com/dotnet/framework/aspnet:4.8-windowsservercore-ltsc2019", "2019"),
        ("mcr.microsoft.com/windows/servercore:10.0.26100.2033", "2025"),
        ("registry.example.com:5000/app:1.4-ltsc2025", "2025"),
        ("registry.example.com/app:2022", None),
        ("registry.example.com/app:1.2", None),
        ("registry.example.com/app", None),
        ("registry.example.com/windows/app@sha256:00", None),
    ],
)
def test_an_image_tells_the_release_that_it_was_built_for(image: str, release: str | None) -> None:
    assert image_release(image) == release


@pytest.mark.parametrize(
    ("image", "release"),
    [
        ("mcr.microsoft.com/windows/servercore:1909", "1909"),
        ("microsoft/iis:windowsservercore-1709", "1709"),
        ("mcr.microsoft.com/windows/servercore:ltsc2016", "Windows Server 2016"),
        ("mcr.microsoft.com/windows/servercore:ltsc2022", None),
        ("registry.example.com/app:1909", None),
    ],
)
def test_images_of_retired_releases_are_known(image: str, release: str | None) -> None:
    assert retired_release(image) == release
