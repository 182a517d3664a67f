"""The calls to AWS: S3 with conditional writes, SSM, EC2, Auto Scaling; each with a deadline and bounded retries.

botocore is imported when the first client is made, and only the models of the services that are used are read.
"""

import base64
import hashlib
import os
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, Optional, TypeVar

from .document import Deadlines
from .errors import REFUSED, UNAVAILABLE, AgentError, AnswerError, UnavailableError
from .log import log

T = TypeVar("T")
TRANSIENT = ("SlowDown", "Throttling", "RequestLimitExceeded", "RequestTimeout", "InternalError", "InternalFailure",
             "InternalServerError", "ServiceUnavailable", "ConditionalRequestConflict", "OperationAborted",
             "TooManyUpdates", "Unavailable", "BadGateway", "KMSThrottling", "TooManyRequests")  # fmt: skip
"""Beginnings of codes that say: again, a little later. 409 of a conditional write is one of them."""
DENIED = ("AccessDenied", "Forbidden", "403", "UnauthorizedOperation", "UnrecognizedClient", "InvalidAccessKeyId")
MAX_UPLOAD = 5 * 1024**3
"""Bytes of one PutObject: https://docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html"""


class Object(NamedTuple):
    """An object of the bucket, with the ETag by which it can be replaced."""

    body: bytes
    etag: str


class Listed(NamedTuple):
    """A key with its size."""

    key: str
    size: int


def code_of(error: Any) -> str:
    """The code of an error that AWS answered."""
    return str(error.response.get("Error", {}).get("Code", ""))


def is_transient(error: Any) -> bool:
    """Whether an answer says: again, a little later."""
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    return status >= 500 or status == 429 or code_of(error).startswith(TRANSIENT)


class Aws:
    """The services that the agent uses, in one region."""

    def __init__(self, region: str, bucket: str, deadlines: Deadlines) -> None:
        self.region = region
        self.bucket = bucket
        self.deadlines = deadlines
        self._clients: dict[str, Any] = {}
        self._session: Any = None
        self._lock = threading.Lock()  # the machine downloads in threads; making clients is not safe in them

    def client(self, service: str) -> Any:
        """A client, made once."""
        with self._lock:
            if service not in self._clients:
                self._clients[service] = self._make(service)
            return self._clients[service]

    def _make(self, service: str) -> Any:
        import botocore.config  # pyright: ignore[reportMissingTypeStubs]
        import botocore.session  # pyright: ignore[reportMissingTypeStubs]

        session: Any = botocore.session
        self._session = self._session or session.get_session()
        seconds = self.deadlines.request_seconds
        endpoint = os.environ.get("AWS_ENDPOINT_URL")
        config = botocore.config.Config(
            connect_timeout=seconds,
            read_timeout=seconds * 4,
            retries={"total_max_attempts": 1},  # one place decides about retries: retry()
            s3={"addressing_style": "path" if endpoint else "auto"},
        )
        return self._session.create_client(service, region_name=self.region, config=config, endpoint_url=endpoint)

    def ask(self, service: str, operation: str, **arguments: Any) -> Any:
        """Make one call.

        :raises UnavailableError: when it failed by time-outs, throttling or 500s until the attempts were used up.
        :raises AgentError: when the role may not make it (``WK-AGT-003``).
        :raises AnswerError: for every other answer that is an error.
        """
        call = getattr(self.client(service), operation)
        return self.retry(f"{service}.{operation}", lambda: call(**arguments))

    def retry(self, name: str, call: Callable[[], T]) -> T:
        """Call, and again with a growing wait, as long as a failure may pass."""
        from botocore.exceptions import BotoCoreError, ClientError  # pyright: ignore[reportMissingTypeStubs]

        problem = ""
        for attempt in range(self.deadlines.request_attempts):
            if attempt:
                time.sleep(self.deadlines.retry_seconds * 2 ** (attempt - 1) * random.uniform(0.5, 1.5))  # noqa: S311
            try:
                return call()
            except ClientError as error:
                problem = code_of(error)
                if problem.startswith(DENIED):
                    raise denied(name, str(error)) from error
                if not is_transient(error):
                    raise AnswerError(name, problem, str(error)) from error
            except (BotoCoreError, OSError) as error:  # no connection, no answer in time, no credentials yet
                problem = type(error).__name__
            log("aws again", call=name, attempt=attempt + 1, problem=problem)
        remedy = "wait; the agent tries again by itself"
        raise UnavailableError(UNAVAILABLE, name, "AWS does not answer", remedy, problem)

    def read(self, key: str) -> Optional[Object]:
        """An object of the bucket; nothing when there is none.

        For a key that is not there S3 answers 403 to whoever may not list the whole bucket, so a refusal is checked
        against the list of the one key: https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
        """

        def call() -> Object:
            answer = self.client("s3").get_object(Bucket=self.bucket, Key=key)
            return Object(answer["Body"].read(), str(answer["ETag"]))

        try:
            return self.retry(f"s3.get_object {key}", call)
        except AnswerError as error:
            if error.code in ("NoSuchKey", "404"):
                return None
            raise
        except AgentError as error:
            if error.rule is REFUSED and not any(one.key == key for one in self.list(key, 1)):
                return None
            raise

    def write(
        self, key: str, body: bytes, etag: Optional[str] = None, *, nonce: str = "", **more: str
    ) -> Optional[str]:
        """Write an object if it is not there, or if it is still the one with this ETag.

        An attempt whose answer was lost may have been carried out: the next one is then refused, although the object
        is ours. ``nonce``, a text in the body that nobody else writes, tells that case.

        :param more: further arguments of the call, such as the key of the encryption.
        :returns: the new ETag; nothing when somebody else was first.
        """
        condition = {"IfMatch": etag} if etag else {"IfNoneMatch": "*"}
        try:
            answer = self.ask("s3", "put_object", Bucket=self.bucket, Key=key, Body=body, **condition, **more)
            return str(answer["ETag"])
        except AnswerError as error:
            if error.code not in ("PreconditionFailed", "412", "NoSuchKey", "404"):
                raise
        there = self.read(key)
        return there.etag if there and nonce and nonce.encode() in there.body else None

    def overwrite(self, key: str, body: bytes) -> None:
        """Write an object of which this node is the only writer."""
        self.ask("s3", "put_object", Bucket=self.bucket, Key=key, Body=body)

    def upload(self, key: str, path: Path) -> None:
        """A file as a new object; S3 checks its digest."""
        with path.open("rb") as file:
            digest = hashlib.sha256()
            for part in iter(lambda: file.read(1 << 20), b""):
                digest.update(part)
            checksum = base64.b64encode(digest.digest()).decode()

        def call() -> Any:
            with path.open("rb") as file:
                return self.client("s3").put_object(Bucket=self.bucket, Key=key, Body=file, ChecksumSHA256=checksum)

        self.retry(f"s3.put_object {key}", call)

    def download(self, key: str, path: Path) -> bool:
        """An object as a file; False when it is not there."""

        def call() -> bool:
            body = self.client("s3").get_object(Bucket=self.bucket, Key=key)["Body"]
            with path.open("wb") as file:
                for part in iter(lambda: body.read(1 << 20), b""):
                    file.write(part)
            return True

        try:
            return self.retry(f"s3.get_object {key}", call)
        except AnswerError as error:
            if error.code in ("NoSuchKey", "404"):
                return False
            raise

    def list(self, prefix: str, limit: Optional[int] = None) -> "list[Listed]":
        """The keys below a prefix, in order."""
        found: list[Listed] = []
        following: dict[str, str] = {}
        while True:
            size = {"MaxKeys": limit} if limit else {}
            page = self.ask("s3", "list_objects_v2", Bucket=self.bucket, Prefix=prefix, **size, **following)
            found += [Listed(str(one["Key"]), int(one["Size"])) for one in page.get("Contents", [])]
            if limit or not page.get("IsTruncated"):
                return found
            following = {"ContinuationToken": page["NextContinuationToken"]}

    def fetch(self, bucket: str, key: str) -> Any:
        """An object of any bucket that the role reads, as a stream."""
        return self.ask("s3", "get_object", Bucket=bucket, Key=key)["Body"]

    def delete(self, key: str) -> None:
        """Delete one object."""
        self.ask("s3", "delete_object", Bucket=self.bucket, Key=key)

    def instance_states(self, me: str, instances: Iterable[str]) -> dict[str, str]:
        """The state of each instance: as EC2 says, ``absent``, or ``unknown``.

        Who is not in the answer is absent only when this node itself is in it: else the answer is not about this
        account and region, and means nothing.
        """
        wanted = sorted({me, *instances})
        filters = [{"Name": "instance-id", "Values": wanted}]
        answer = self.ask("ec2", "describe_instances", Filters=filters)
        found = {
            str(one["InstanceId"]): str(one["State"]["Name"])
            for reservation in answer["Reservations"]
            for one in reservation["Instances"]
        }
        rest = "absent" if me in found else "unknown"
        return {name: found.get(name, rest) for name in wanted}


def denied(name: str, text: str) -> AgentError:
    """A call that the role may not make."""
    return AgentError(REFUSED, name, "the role of this node may not make this call",
                      "deploy the stack again, which writes the policies of the role", text)  # fmt: skip


def new_nonce() -> str:
    """A text that nobody else writes."""
    return uuid.uuid4().hex
