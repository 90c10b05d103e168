"""Bookmarks: what a process has written, so that another one reads it even from a cluster member
that lags behind.
"""

from collections.abc import Iterable

from neo4j import READ_ACCESS, Bookmarks, Query
from neo4j import exceptions as neo4j_errors

from kgagent.errors import InputError
from kgagent.graph.driver_errors import translated
from kgagent.graph.statements import Statement
from kgagent.graph.store import Store
from kgagent.observing import statement_tags

_WAIT = Statement("RETURN 1 AS done", "wait_for_bookmarks")
_OF_BOOKMARKS = "Bookmark"
"""Part of the codes of errors that concern the bookmarks of a statement."""


async def bookmarks_of(store: Store) -> tuple[str, ...]:
    """The bookmarks of the last transactions of this process."""
    store.origin.check()
    return tuple(sorted(await store._driver.execute_query_bookmark_manager.get_bookmarks()))


async def use_bookmarks(store: Store, bookmarks: Iterable[str]) -> None:
    """Let all later statements see what the bookmarks stand for; see
    `KnowledgeGraph.use_bookmarks`.
    """
    store.origin.check()
    given = [bookmarks] if isinstance(bookmarks, str) else list(bookmarks)
    if wrong := [one for one in given if not isinstance(one, str)]:
        raise InputError(
            f"Bookmarks must be text, as KnowledgeGraph.bookmarks returns them, got {wrong[0]!r}"
        )
    if not given:
        return
    query = Query(_WAIT, metadata=statement_tags(_WAIT.name))
    # A bookmark that the database does not know would make all later statements fail.
    session = store._driver.session(
        database=store._database,
        default_access_mode=READ_ACCESS,
        bookmarks=Bookmarks.from_raw_values(given),
    )
    try:
        async with store.reachability.watched(), session:
            await (await session.run(query)).consume()
    except (neo4j_errors.Neo4jError, neo4j_errors.DriverError) as error:
        if isinstance(error, neo4j_errors.Neo4jError) and _OF_BOOKMARKS in str(error.code):
            raise InputError(
                f"The bookmarks cannot be used: {error.message}. Give those of the same database"
            ) from error
        raise translated(error, store.uri) from error
    await store._driver.execute_query_bookmark_manager.update_bookmarks((), given)
