"""Runs a program body under the Pulumi runtime, in this process and as fast as it goes.

The SDK is written for a monitor at the other end of a socket: it hands each call to a thread pool, waits for
outstanding work by looking at all of it again after each piece, and walks the whole call stack of each resource.
With the monitor in this process none of that is needed. What else makes the SDK faster stands in ``sdk_speed``.
"""

import asyncio
import contextvars
import gc
import os
import selectors
import sys
from collections.abc import Callable, Generator, Set
from contextlib import ExitStack, contextmanager
from inspect import isawaitable
from typing import Any

import pulumi
from pulumi.runtime import mocks as sdk_mocks
from pulumi.runtime import resource as sdk_resource
from pulumi.runtime import settings as sdk_settings
from pulumi.runtime import stack as sdk_stack
from pulumi.runtime.proto import source_pb2

from ..model import UNKNOWN_TEXT
from .forward_references import keep_names_equal
from .monitor import CALL_TYPE, Engine, Monitor
from .project import Run
from .sdk_speed import faster_sdk
from .sdk_speed.patch import replace

DEADLOCK_SECONDS = 60
"""With the monitor in this process nothing takes long: a program that waits this long waits for nothing."""


class DeadlockError(Exception):
    """The program waits for a value that nothing will ever give."""


def run_program(body: Callable[[], Any], monitor: Monitor, engine: Engine, run: Run) -> None:
    """Run ``body`` as a Pulumi program against ``monitor``. What it raises is raised here."""
    contextvars.copy_context().run(_run, body, monitor, engine, run)


def _run(body: Callable[[], Any], monitor: Monitor, engine: Engine, run: Run) -> None:
    configuration, root_directory = run.configuration, run.directory
    unknown_keys = configuration.unknown_keys
    # The SDK keeps its settings in context variables; this runs in a context of its own, so nothing leaks out.
    settings: Any = sdk_mocks.MockSettings(
        monitor=monitor, monitor_features=set(monitor.GetDeploymentInfo(None).supportedFeatures), engine=engine,
        project=run.project, stack=run.stack, dry_run=run.preview, organization="organization", callbacks=None,
        outputs=set(), root_directory=root_directory, package_refs={}, base_providers_by_ref={}, parallel=None,
        legacy_apply_enabled=False,
    )  # fmt: skip
    sdk_settings.ROOT.set(None)
    sdk_settings.configure(settings)
    pulumi.runtime.set_all_config(dict(configuration.values), sorted(configuration.secret_keys))
    loop = InlineLoop()
    # One error fails every task that waits for it. It is raised once; the loop must not log it forty times more.
    loop.set_exception_handler(lambda *_: None)
    asyncio.set_event_loop(loop)
    with _adapted(root_directory, unknown_keys), faster_sdk():
        try:
            loop.run_until_complete(_in_stack(body))
        finally:
            for task in asyncio.all_tasks(loop):
                task.cancel()
            loop.run_until_complete(asyncio.sleep(0))
            loop.run_until_complete(loop.shutdown_default_executor())
            asyncio.set_event_loop(None)
            loop.close()


class _Selector(selectors.DefaultSelector):
    """Notices a program that waits for ever."""

    def select(self, timeout: float | None = None) -> Any:
        if timeout is not None:
            return super().select(timeout)
        events = super().select(DEADLOCK_SECONDS)
        if not events:
            raise DeadlockError(
                "the program waits for a value that never comes; does a resource depend on itself, "
                "or an Output on work that was never started?"
            )
        return events


class InlineLoop(asyncio.SelectorEventLoop):
    """An event loop that calls the in-process monitor directly instead of through a thread."""

    def __init__(self) -> None:
        super().__init__(_Selector())

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Call what the SDK would hand to a thread at once; a program's own work still gets its thread."""
        if executor is not None or not getattr(func, "__module__", "").startswith("pulumi."):
            return super().run_in_executor(executor, func, *args)
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future


async def _in_stack(body: Callable[[], Any]) -> None:
    """What the SDK's ``run_in_stack`` does, with a wait that looks at each piece of work once."""
    stack = sdk_stack.Stack()
    failure: BaseException | None = None
    try:
        try:
            result = body()
            if isawaitable(result):
                await result
            program = stack._take_async_program()  # pyright: ignore[reportPrivateUsage]
            if program is not None:
                stack._add_program_outputs(await program())  # pyright: ignore[reportPrivateUsage]
        finally:
            stack._finish()  # pyright: ignore[reportPrivateUsage]
    except BaseException as error:
        failure = error
    try:
        await _settle()
    finally:
        await sdk_settings._shutdown_callbacks()  # pyright: ignore[reportPrivateUsage]
        if failure is not None:
            raise failure


async def _settle() -> None:
    """Wait until no call is under way and no Output is unresolved; raise the first error."""
    manager = sdk_settings._get_rpc_manager()  # pyright: ignore[reportPrivateUsage]
    pending: set[Any] = set()
    while True:
        await asyncio.sleep(0)
        while manager.rpcs:
            rpc: Any = manager.rpcs.pop()
            try:
                await rpc
            except Exception:
                if manager.unhandled_exception is not None:
                    raise manager.unhandled_exception.with_traceback(manager.exception_traceback) from None
                raise
        if manager.unhandled_exception is not None:
            raise manager.unhandled_exception.with_traceback(manager.exception_traceback)
        outputs: set[Any] = getattr(sdk_settings.SETTINGS, "outputs")  # noqa: B009 (its type is a descriptor's)
        pending |= outputs
        outputs.clear()
        if not pending:
            if not manager.rpcs:
                return
            continue
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()


@contextmanager
def _adapted(root_directory: str, unknown_keys: Set[str]) -> Generator[None]:
    """The runtime with what it does not tell an evaluation, for the length of one run."""
    collecting = gc.isenabled()
    gc.disable()  # a run makes much and drops little: looking for garbage costs more than half of its time
    with ExitStack() as stack:
        if collecting:
            stack.callback(gc.enable)
        keep_names_equal(stack)
        replace(stack, sdk_resource, "_get_stack_trace", lambda: _stack_trace(root_directory))
        replace(stack, pulumi.runtime, "invoke", _typed(pulumi.runtime.invoke, plain=True))
        replace(stack, pulumi.runtime, "invoke_async", _typed(pulumi.runtime.invoke_async, plain=True))
        replace(stack, pulumi.runtime, "invoke_output", _typed(pulumi.runtime.invoke_output, plain=False))
        if unknown_keys:
            for name in [name for name in vars(pulumi.Config) if name.startswith(("get_secret", "require_secret"))]:
                replace(stack, pulumi.Config, name, _unknown_secret(getattr(pulumi.Config, name), unknown_keys))
        yield


def _typed(function: Callable[..., Any], *, plain: bool) -> Callable[..., Any]:
    """``function`` such that the monitor can tell how it was called and what type it gives."""

    def call(tok: str, props: Any, opts: Any = None, typ: Any = None, **more: Any) -> Any:
        token = CALL_TYPE.set((plain, typ))
        try:
            return function(tok, props, opts, typ, **more)
        finally:
            CALL_TYPE.reset(token)

    return call


def _unknown_secret(getter: Callable[..., Any], unknown_keys: Set[str]) -> Callable[..., Any]:
    """A getter of ``pulumi.Config`` that gives an unknown secret for an encrypted value."""

    def get(self: pulumi.Config, key: str, *args: Any, **kwargs: Any) -> Any:
        if self.full_key(key) not in unknown_keys:
            return getter(self, key, *args, **kwargs)
        value: Any = asyncio.get_event_loop().create_future()
        known: Any = asyncio.get_event_loop().create_future()
        secret: Any = asyncio.get_event_loop().create_future()
        value.set_result(UNKNOWN_TEXT)
        known.set_result(False)
        secret.set_result(True)
        return pulumi.Output(set(), value, known, secret)

    return get


# Text is compared with text, once per frame.
_RUNTIME_DIRECTORIES = tuple(os.path.dirname(file) + os.sep for file in (pulumi.__file__, __file__))  # noqa: PTH120


def _stack_trace(root_directory: str) -> source_pb2.StackTrace:
    """Where the resource is made: the innermost line in the program's folder, else the one that calls its class."""
    frame: Any = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    root = root_directory + os.sep
    outside: tuple[str, int] | None = None
    making: Any = None
    while frame is not None:
        code = frame.f_code
        file: str = code.co_filename
        if code.co_name in ("__init__", "_internal_init") and code.co_varnames:
            # A constructor of the class of the resource itself is not where somebody asked for it.
            this = frame.f_locals.get(code.co_varnames[0])
            if making is None and isinstance(this, pulumi.Resource):
                making = this
            if this is making:
                frame = frame.f_back
                continue
        if not file.startswith(_RUNTIME_DIRECTORIES):
            if file.startswith(root) and "site-packages" not in file:
                return _trace(file, frame.f_lineno)
            outside = outside or (file, frame.f_lineno)
        frame = frame.f_back
    return _trace(*outside) if outside else source_pb2.StackTrace()


def _trace(file: str, line: int) -> source_pb2.StackTrace:
    position = source_pb2.SourcePosition(uri=f"file://{file}", line=line)
    return source_pb2.StackTrace(frames=[source_pb2.StackFrame(pc=position)])


def describe(error: BaseException) -> str:
    """The message of an error as a person wants to read it."""
    text = str(error).strip()
    if isinstance(error, pulumi.RunError | DeadlockError):
        return text
    if type(error).__module__.startswith("winkube.preview"):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
