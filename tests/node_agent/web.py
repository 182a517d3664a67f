"""A web server for tests: a mirror, S3 and the metadata service in one, which can be told to misbehave."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKEN = "metadata-token"
ROLE = "node-role"
CREDENTIALS = (
    '{\n  "Code" : "Success",\n  "Type" : "AWS-HMAC",\n  "AccessKeyId" : "ASIAEXAMPLE",\n'
    '  "SecretAccessKey" : "se/cr+et",\n  "Token" : "to/ken==",\n  "Expiration" : "2030-01-01T00:00:00Z"\n}'
)


class Web(ThreadingHTTPServer):
    """Files by path; what was asked is kept."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.broken: list[str] = []
        """What goes wrong with the next requests, one word each: ``500``, ``cut``, ``404``, ``close``, ``hang``."""
        self.hanging, self.going_on = threading.Event(), threading.Event()
        """Half of a file was sent (``hang``); the test lets the server go on."""
        self.asked: list[tuple[str, str, dict[str, str]]] = []

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def paths(self) -> list[str]:
        """The paths that were asked, metadata left out."""
        return [path for _, path, _ in self.asked if not path.startswith("/latest/")]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Web

    def do_PUT(self) -> None:
        self._note()
        self._answer(200, TOKEN.encode())

    def do_GET(self) -> None:
        self._note()
        path = self.path.partition("?")[0]
        if path.startswith("/latest/"):
            good = self.headers.get("X-aws-ec2-metadata-token") == TOKEN
            answer = {"/latest/meta-data/iam/security-credentials/": ROLE,
                      f"/latest/meta-data/iam/security-credentials/{ROLE}": CREDENTIALS}  # fmt: skip
            self._answer(200 if good else 401, answer.get(path, "").encode() if good else b"")
            return
        trouble = self.server.broken.pop(0) if self.server.broken else ""
        if trouble.isdigit():
            self._answer(int(trouble), b"no")
            return
        if trouble == "hang":
            half = self.server.files[path][: len(self.server.files[path]) // 2]
            self.send_response(200)
            self.send_header("Content-Length", str(len(self.server.files[path])))
            self.end_headers()
            self.wfile.write(half)
            self.wfile.flush()
            self.server.hanging.set()
            self.server.going_on.wait(20)
            self.close_connection = True
            return
        if trouble == "close":
            self.close_connection = True
            return
        body = self.server.files.get(path)
        if body is None:
            self._answer(404, b"none")
            return
        start = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
        if start > len(body):
            self._answer(416, b"")
            return
        self._answer(206 if start else 200, body[start:], cut=trouble == "cut")

    def _note(self) -> None:
        self.server.asked.append((self.command, self.path, dict(self.headers)))

    def _answer(self, status: int, body: bytes, *, cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if cut else body)
        if cut:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@contextmanager
def serving() -> Iterator[Web]:
    """A server as long as it is needed."""
    web = Web()
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield web
    finally:
        web.shutdown()
        web.server_close()
