"""The clients of AWS, made when a command needs them: boto3 is an extra."""

from dataclasses import dataclass, field
from typing import Any

INSTALL = 'this command speaks to AWS and needs boto3: run pip install "winkube[ops]"'


class OpsError(Exception):
    """What a person has to know instead of a traceback."""


@dataclass
class Clients:
    """The clients of one region, each made once."""

    region: str | None = None
    _made: dict[str, Any] = field(default_factory=dict[str, Any])

    def __getitem__(self, service: str) -> Any:
        """The client of a service.

        :raises OpsError: without boto3, or without a region.
        """
        if service not in self._made:
            try:
                import boto3  # pyright: ignore[reportMissingTypeStubs]
            except ModuleNotFoundError:
                raise OpsError(INSTALL) from None
            from botocore.exceptions import NoRegionError  # pyright: ignore[reportMissingTypeStubs]

            try:
                self._made[service] = boto3.client(service, region_name=self.region)  # pyright: ignore
            except NoRegionError:
                raise OpsError("no region is set: give --region") from None
        return self._made[service]


def aws_problem(error: Exception) -> str | None:
    """What AWS, or the way to it, says against a call, for people; None for any other error."""
    try:
        from botocore.exceptions import BotoCoreError, ClientError  # pyright: ignore[reportMissingTypeStubs]
    except ModuleNotFoundError:
        return None
    if isinstance(error, ClientError):
        refused: Any = error  # botocore has no types
        said = refused.response.get("Error", {})
        return f"AWS refused {refused.operation_name}: {said.get('Code', '?')}: {said.get('Message', error)}"
    if isinstance(error, BotoCoreError):
        return f"AWS was not reached: {str(error).rstrip('.')}. See that credentials and region are right (AWS_PROFILE)"
    return None
