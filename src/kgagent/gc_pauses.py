"""Short pauses of Python's garbage collector in a program that serves many users."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def short_gc_pauses() -> Iterator[None]:
    """Exclude from garbage collection what exists already, until the block ends.

    A full collection examines every object while all calls wait: for the classes, schemas and the
    model that a server has loaded when it starts, 60 to 150 ms. They live as long as the server.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
