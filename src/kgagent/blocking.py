"""Synchronous classes, made from asynchronous ones: they run an object on the event loop of a
thread, and wait.
"""

import atexit
import inspect
import os
from abc import update_abstractmethods
from collections.abc import Awaitable, Callable, Collection
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial, wraps
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

    _omitted: frozenset[str] = frozenset()

    def __init__(self, wrapped: WrappedT, portal: Portal) -> None:
        """Wrap an object.

        Args:
            wrapped: the object.
            portal: leads to the event loop that the object belongs to.
        """
        self._wrapped = wrapped
        self._portal = portal

    def _wait(self, method: Callable[..., Awaitable[Any]], *args: object, **kwargs: object) -> Any:  # noqa: ANN401
        try:
            return self._portal.call(partial(method, *args, **kwargs))
        except RuntimeError as error:
            if "portal is not running" in str(error):
                raise StoreError("The graph is closed: open it again") from None
            raise

    def _returned(self, result: object) -> Any:  # noqa: ANN401
        """A result; an asynchronous object of a class that has a synchronous one is wrapped."""
        wrapper = next((sync for of, sync in _SYNC_CLASSES.items() if isinstance(result, of)), None)
        return result if wrapper is None else wrapper(result, self._portal)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """A public attribute of the asynchronous object."""
        if name.startswith("_") or name in self._omitted:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        return self._returned(getattr(self._wrapped, name))


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


SPECIAL_METHODS = frozenset({"__call__", "__getitem__", "__iter__", "__len__"})
"""Special methods that a synchronous class has too."""

SyncT = TypeVar("SyncT", bound=BlockingWrapper[Any])

_SYNC_CLASSES: dict[type, type[BlockingWrapper[Any]]] = {}


def waits_for(
    of: type, *, omitted: Collection[str] = frozenset()
) -> Callable[[type[SyncT]], type[SyncT]]:
    """Give a synchronous class the methods and properties of an asynchronous class.

    Results that are objects of an asynchronous class with a synchronous one are wrapped in it.
    What the synchronous class defines itself stays.

    Args:
        of: the asynchronous class.
        omitted: public names that the synchronous class does not have.
    """

    def decorate(sync: type[SyncT]) -> type[SyncT]:
        for name in dir(of):
            is_public = not name.startswith("_") or name in SPECIAL_METHODS
            if is_public and name not in omitted and name not in vars(sync):
                setattr(sync, name, _waiting(of, name))
        sync._omitted = frozenset(omitted)
        _SYNC_CLASSES[of] = sync
        return update_abstractmethods(sync)

    return decorate


def _waiting(of: type, name: str) -> object:
    """The synchronous form of a method or property."""
    member = inspect.getattr_static(of, name)
    if isinstance(member, property):
        return property(
            lambda self: self._returned(getattr(self._wrapped, name)), None, None, member.__doc__
        )
    if isinstance(member, staticmethod):

        def opened(cls: type[BlockingResource[Any]], /, *args: object, **kwargs: object) -> object:
            return cls._open(getattr(of, name), *args, **kwargs)

        opened.__doc__ = member.__func__.__doc__
        return classmethod(opened)

    is_awaited = inspect.iscoroutinefunction(member)

    @wraps(member)
    def method(self: BlockingWrapper[Any], *args: object, **kwargs: object) -> object:
        call = getattr(self._wrapped, name)
        run = partial(self._wait, call) if is_awaited else call
        return self._returned(run(*args, **kwargs))

    return method


def unwrap(wrapper: BlockingWrapper[WrappedT]) -> tuple[WrappedT, Portal]:
    """Return the asynchronous object and the portal to its event loop; for kgagent's own
    packages.
    """
    return wrapper._wrapped, wrapper._portal
