"""A decorator for search methods, so that an observer watches them."""

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from kgagent.observing import Observer, Search


class Observed(Protocol):
    """An object with an observer."""

    @property
    def observer(self) -> Observer:
        """The observer of its searches."""
        ...


ObservedT = TypeVar("ObservedT", bound=Observed)
ParametersT = ParamSpec("ParametersT")
ResultT = TypeVar("ResultT")
SearchMethod = Callable[Concatenate[ObservedT, ParametersT], Awaitable[ResultT]]
WatchedMethod = Callable[Concatenate[ObservedT, ParametersT], Coroutine[Any, Any, ResultT]]


def observed(
    name: str,
) -> Callable[[SearchMethod[ObservedT, ParametersT, ResultT]], WatchedMethod[ObservedT, ParametersT, ResultT]]:
    """Decorate a search method, so that its object's observer watches it under a name."""

    def wrap(
        method: SearchMethod[ObservedT, ParametersT, ResultT],
    ) -> WatchedMethod[ObservedT, ParametersT, ResultT]:
        @wraps(method)
        async def watched(self: ObservedT, /, *args: ParametersT.args, **kwargs: ParametersT.kwargs) -> ResultT:
            with self.observer.watch(Search(name)):
                result = await method(self, *args, **kwargs)
            return result  # noqa: RET504 - mypy assumes that a context manager may suppress errors

        return watched

    return wrap
