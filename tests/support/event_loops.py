"""Other event loops for the tests: `KGAGENT_TEST_LOOP` is "uvloop" or "eager" (tasks begin when
they are created).
"""

import asyncio
import os
import sys


class _UvloopPolicy(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        import uvloop

        return uvloop.new_event_loop()


class _EagerPolicy(asyncio.DefaultEventLoopPolicy):
    def new_event_loop(self) -> asyncio.AbstractEventLoop:
        loop = super().new_event_loop()
        if sys.version_info >= (3, 12):
            loop.set_task_factory(asyncio.eager_task_factory)
            return loop
        raise RuntimeError("Eager tasks need Python 3.12 or later")


def choose_event_loop() -> None:
    """Let all event loops of this process, also those in threads, be of the kind that the
    environment names.
    """
    if name := os.environ.get("KGAGENT_TEST_LOOP"):
        asyncio.set_event_loop_policy({"uvloop": _UvloopPolicy, "eager": _EagerPolicy}[name]())
