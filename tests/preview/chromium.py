"""Drives Debian's Chromium through its debugging pipe: no driver, no further package, no network port."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DEADLINE_SECONDS = 60


class Page:
    """One tab. ``events`` holds everything that the browser reported since the tab was opened."""

    def __init__(self, browser: "Browser", session: str) -> None:
        self._browser, self._session = browser, session
        self.events: list[dict[str, Any]] = []

    def command(self, method: str, **params: Any) -> dict[str, Any]:
        """Send one command of the DevTools protocol and give its result."""
        return self._browser.command(method, params, self._session)

    def open(self, file: Path) -> None:
        """Open a file and wait until it is loaded."""
        answer = self.command("Page.navigate", url=file.resolve().as_uri())
        assert "errorText" not in answer, answer
        self.wait_for("document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.command("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(json.dumps(answer["exceptionDetails"], indent=1))
        return answer["result"].get("value")

    def wait_for(self, condition: str) -> None:
        """Wait until an expression holds."""
        end = time.monotonic() + DEADLINE_SECONDS
        while not self.run(condition):
            if time.monotonic() > end:
                raise TimeoutError(condition)
            time.sleep(0.02)

    def press(self, key: str, text: str = "", *, shift: bool = False) -> None:
        """Press and release a key as a keyboard would."""
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "ArrowRight": 39, "ArrowLeft": 37}
        text = text or ("\r" if key == "Enter" else key if len(key) == 1 else "")
        code = {"windowsVirtualKeyCode": codes[key], "code": key} if key in codes else {}
        for kind in ("keyDown", "keyUp"):
            self.command("Input.dispatchKeyEvent", type=kind, key=key, modifiers=8 if shift else 0,
                         **({"text": text} if text and kind == "keyDown" else {}), **code)  # fmt: skip

    def write(self, text: str) -> None:
        """Type a text into what has the focus."""
        self.command("Input.insertText", text=text)

    def shape(self, width: int, height: int, scheme: str = "light") -> None:
        """Give the window a size and the system a colour scheme."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                     mobile=width < 600)  # fmt: skip
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, file: Path, *, whole: bool = False) -> None:
        """Write a screenshot."""
        answer = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(answer["data"]))

    def complaints(self) -> list[str]:
        """What the console, the page's own errors and the log said."""
        named = (
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Log.entryAdded",
            "Page.javascriptDialogOpening",
        )
        return [json.dumps(event) for event in self.events if event["method"] in named]

    def requests(self) -> list[str]:
        """The addresses that were asked for, files and data apart."""
        asked = [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]
        return [address for address in asked if not address.startswith("file:")]


class Browser:
    """A browser process; see :func:`browser`."""

    def __init__(self, reader: int, writer: int) -> None:
        self._reader, self._writer = os.fdopen(reader, "rb", 0), os.fdopen(writer, "wb", 0)
        self._rest = b""
        self._number = 0
        self._pages: dict[str, Page] = {}

    def command(self, method: str, params: dict[str, Any], session: str | None = None) -> dict[str, Any]:
        """Send one command and read until its answer comes; events go to their tabs."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        self._writer.write(json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            if answer.get("sessionId") in self._pages:
                self._pages[answer["sessionId"]].events.append(answer)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            piece = self._reader.read(1 << 16)
            if not piece:
                raise AssertionError("the browser ended")
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\0")
        return json.loads(line)

    def page(self) -> Page:
        """A new tab that reports its console, errors and requests."""
        target = self.command("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.command("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self._pages[session] = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.command(f"{domain}.enable")
        return page

    def close(self) -> None:
        """Close the pipes."""
        self._reader.close()
        self._writer.close()


@contextmanager
def browser() -> Iterator[Browser]:
    """A headless browser with a profile of its own, ended afterwards."""
    assert CHROMIUM is not None
    from_browser, to_us = os.pipe()
    from_us, to_browser = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The browser reads commands from descriptor 3 and writes to 4. The shell puts ours there.
        line = f'exec "$0" "$@" 3<&{from_us} 4>&{to_us}'
        flags = [
            "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-dev-shm-usage", "--disable-background-networking", f"--user-data-dir={profile}",
        ]  # fmt: skip
        process = subprocess.Popen(
            ["/bin/bash", "-c", line, CHROMIUM, *flags], pass_fds=(from_us, to_us),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(from_us)
        os.close(to_us)
        running = Browser(from_browser, to_browser)
        try:
            yield running
        finally:
            running.close()
            process.terminate()
            process.wait(DEADLINE_SECONDS)
