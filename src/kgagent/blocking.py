"""The base of the synchronous classes: it runs an asynchronous object on the event loop of a
thread, and waits.
"""

import atexit
import os
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, Generic, ParamSpec, Protocol, Self, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

from kgagent.errors import StoreError
from kgagent.origin import check_process


class Closeable(Protocol):
    """Has a connection to close."""

    async def close(self) -> None:
        """Close it."""
        ...


WrappedT = TypeVar("WrappedT")
CloseableT = TypeVar("CloseableT", bound=Closeable)
ParametersT = ParamSpec("ParametersT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Portal:
    """Leads to an event loop in a thread of the process that started it."""

    thread: BlockingPortal
    pid: int = field(default_factory=os.getpid)

    @property
    def is_own(self) -> bool:
        """Whether this process started the thread."""
        return os.getpid() == self.pid

    def call(self, function: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """Run a function on the event loop, and wait for it.

        Raises:
            ConfigurationError: this process was forked from the one with the thread.
        """
        check_process(self.pid)
        return self.thread.call(function)


class BlockingWrapper(Generic[WrappedT]):
    """Waits for the methods of an asynchronous object."""

    def __init__(self, wrapped: WrappedT, portal: Portal) -> None:
        """Wrap an object.

        Args:
            wrapped: the object.
            portal: leads to the event loop that the object belongs to.
        """
        self._wrapped = wrapped
        self._portal = portal

    def _wait(
        self,
        method: Callable[ParametersT, Awaitable[ResultT]],
        /,
        *args: ParametersT.args,
        **kwargs: ParametersT.kwargs,
    ) -> ResultT:
        try:
            return self._portal.call(partial(method, *args, **kwargs))
        except RuntimeError as error:
            if "portal is not running" in str(error):
                raise StoreError("The graph is closed: open it again") from None
            raise


class BlockingResource(BlockingWrapper[CloseableT]):
    """Owns the thread of the event loop, and ends it when it is closed."""

    def __init__(self, wrapped: CloseableT, portal: Portal, stack: ExitStack) -> None:
        super().__init__(wrapped, portal)
        self._stack = stack

    @classmethod
    def _open(
        cls,
        connect: Callable[..., Awaitable[CloseableT]],
        *args: Any,  # noqa: ANN401
        **kwargs: Any,  # noqa: ANN401
    ) -> Self:
        async def opened() -> CloseableT:
            return await connect(*args, **kwargs)

        with ExitStack() as stack:
            portal = Portal(stack.enter_context(start_blocking_portal()))
            wrapped = portal.call(opened)
            stack.callback(portal.call, wrapped.close)
            resource = cls(wrapped, portal, stack.pop_all())
        # A program that ends without closing would wait for the thread forever.
        atexit.register(resource.close)
        return resource

    def close(self) -> None:
        """Close the connection and end the thread; a second call does nothing, and neither does one
        in a fork.
        """
        atexit.unregister(self.close)
        if self._portal.is_own:
            self._stack.close()

    def __enter__(self) -> Self:
        """Use it for a block of code."""
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Close it at the end of the block."""
        self.close()


def unwrap(wrapper: BlockingWrapper[WrappedT]) -> tuple[WrappedT, Portal]:
    """Return the asynchronous object and the portal to its event loop; for kgagent's own
    packages.
    """
    return wrapper._wrapped, wrapper._portal
