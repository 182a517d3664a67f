"""The facts of this node, from the instance metadata service (version 2 alone)."""

import os
import time
import urllib.error
import urllib.request
from typing import Optional

from .errors import METADATA, AgentError

ENDPOINT = "AWS_EC2_METADATA_SERVICE_ENDPOINT"
"""The variable by which the AWS SDKs, too, are told of another metadata service."""
DEFAULT = "http://169.254.169.254"
TOKEN_SECONDS = "300"  # noqa: S105
LIFECYCLE = "autoscaling/target-lifecycle-state"


class Metadata:
    """The instance metadata service."""

    def __init__(self, attempts: int = 5, wait_seconds: float = 0.5) -> None:
        self.endpoint = os.environ.get(ENDPOINT, DEFAULT).rstrip("/")
        self.attempts = attempts
        self.wait_seconds = wait_seconds

    def get(self, path: str) -> Optional[str]:
        """One value; nothing when there is none.

        :raises AgentError: when the service does not answer (``WK-AGT-002``).
        """
        problem: Exception = OSError()
        for attempt in range(self.attempts):
            if attempt:
                time.sleep(self.wait_seconds * attempt)
            try:
                token = self._ask("PUT", "/latest/api/token", {"X-aws-ec2-metadata-token-ttl-seconds": TOKEN_SECONDS})
                return self._ask("GET", f"/latest/meta-data/{path}", {"X-aws-ec2-metadata-token": token})
            except urllib.error.HTTPError as error:
                if error.code == 404:
                    return None
                problem = error
            except OSError as error:
                problem = error
        raise AgentError(
            METADATA,
            f"metadata {path}",
            "the instance metadata service does not answer",
            "allow IMDSv2 in the launch template (http_endpoint enabled, hop limit 1 is enough)",
            str(problem),
        )

    def facts(self, slot: Optional[str]) -> dict[str, str]:
        """What the placeholders of the document stand for, but for the token."""
        instance = self._need("instance-id")
        zone = self._need("placement/availability-zone")
        return {
            "INSTANCE_ID": instance,
            "ZONE": zone,
            "PRIVATE_IP": self._need("local-ipv4"),
            "PROVIDER_ID": f"aws:///{zone}/{instance}",
            "SLOT": slot or "",
        }

    def leaving(self) -> bool:
        """Whether the Auto Scaling group is about to terminate this instance."""
        return self.get(LIFECYCLE) == "Terminated"

    def _need(self, path: str) -> str:
        value = self.get(path)
        if not value:
            raise AgentError(METADATA, f"metadata {path}", "is empty", "run the agent on an EC2 instance")
        return value

    def _ask(self, method: str, path: str, headers: dict[str, str]) -> str:
        request = urllib.request.Request(self.endpoint + path, method=method, headers=headers)  # noqa: S310
        # The metadata service is on this machine: a proxy of the environment is not for it.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=2) as answer:
            return answer.read().decode()
