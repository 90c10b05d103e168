"""LangGraph's store over the database of a graph."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeGuard

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
)

from kgagent.adapters.event_loops import run_on, wait_on
from kgagent.adapters.langgraph.filters import accepts, check_filter
from kgagent.adapters.langgraph.json_values import to_json
from kgagent.concurrency import task_group
from kgagent.errors import InputError
from kgagent.graph.store_items import StoreItemRepository
from kgagent.knowledge_graph import KnowledgeGraph, services_of
from kgagent.models.store_item import SEPARATOR, ItemPlace, ItemSearch, Namespace, NewItem, StoredItem
from kgagent.sync import SyncKnowledgeGraph
from kgagent.validation import check_user_id

MAX_TEXTS = 1_000
"""Texts of one item that are embedded."""

MAX_TTL = 52_560_000
"""Minutes in 100 years."""

WHOLE_VALUE = "$"
WILDCARD = "*"


class KnowledgeGraphStore(BaseStore):
    """Keeps items of one user, JSON values by namespace and key, in the database of the graph.

        store = KnowledgeGraphStore(graph, user_id="me")
        agent = create_agent(model, tools, store=store)

    Items are no part of the user's knowledge graph: its tools and searches do not see them. A search with a query ranks
    items by the texts that the graph's embedder embedded, without one the newest come first. `put` keeps `created_at`
    of an item that exists. A batch reads first and then writes, in one transaction; items that another transaction
    deletes at that moment are written in a second one. Of several writes to one key the last counts.

    Differences from `InMemoryStore`: values must be JSON; only namespaces with items are listed; comparisons of a
    filter hold between two numbers or two texts and fail otherwise.
    """

    supports_ttl = True

    def __init__(
        self,
        graph: KnowledgeGraph | SyncKnowledgeGraph,
        *,
        user_id: str | Callable[[], str],
        fields: Sequence[str] = (WHOLE_VALUE,),
        ttl: TTLConfig | None = None,
    ) -> None:
        """Prepare; nothing is read yet.

        Args:
            graph: an open graph. The methods without "a" need a `SyncKnowledgeGraph`, or a thread other than that of
                the graph's event loop.
            user_id: owner of the items, or a function that returns it in a run, such as
                `lambda: get_runtime(Context).context.user_id`.
            fields: paths of the texts to embed, such as "text" or "messages[*].content"; "$" is the whole value.
                An empty sequence embeds nothing. `put(index=…)` overrides it.
            ttl: when items expire by default, and whether reads renew that.

        Raises:
            InputError: the user id is empty.
        """
        super().__init__()
        if not callable(user_id):
            check_user_id(user_id)
        if isinstance(fields, str):
            raise InputError(f"fields must be a list of paths, got the text {fields!r}; put it in a list")
        self._graph = graph.graph if isinstance(graph, SyncKnowledgeGraph) else graph
        self._user_id = user_id
        self._fields = tuple(fields)
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations from synchronous code; see `abatch`.

        Raises:
            ConfigurationError: the caller is on the graph's event loop.
        """
        return wait_on(
            self._graph.loop, self._run(list(ops), self._owner()), instead="the methods of the store that begin with a"
        )

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations: first all reads, then all writes.

        Args:
            ops: operations of `langgraph.store.base`.

        Returns:
            One result for each operation, in their order.

        Raises:
            InputError: an operation is invalid; nothing was written.
            EmbeddingError: texts or a query could not be embedded; nothing was written.
            StoreError: the database failed.
        """
        return await run_on(self._graph.loop, self._run(list(ops), self._owner()))

    def _owner(self) -> str:
        """The user; determined in the context of the caller, which knows the run."""
        user_id = self._user_id() if callable(self._user_id) else self._user_id
        check_user_id(user_id)
        return user_id

    async def _run(self, ops: Sequence[Op], user_id: str) -> list[Result]:
        for op in ops:
            _check(op)
        puts = {ItemPlace(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        new = [self._new_item(place, op) for place, op in puts.items() if op.value is not None]
        deleted = [place for place, op in puts.items() if op.value is None]
        services = services_of(self._graph)
        items = StoreItemRepository(
            services.store,
            services.embedder,
            services.write_context.clock,
            user_id,
            exact_scan_limit=services.settings.exact_scan_limit,
            oversampling=services.settings.oversampling,
        )
        results = await self._read(items, ops)
        if new or deleted:
            await items.write(new, deleted)
        return results

    async def _read(self, items: StoreItemRepository, ops: Sequence[Op]) -> list[Result]:
        vectors = await self._query_vectors(ops)
        gets = {position: ItemPlace(op.namespace, op.key) for position, op in enumerate(ops) if isinstance(op, GetOp)}
        async with task_group() as group:
            got = group.create_task(items.get(list(gets.values())))
            searches = {
                position: group.create_task(items.search(_search(op, vectors.get(op.query or ""))))
                for position, op in enumerate(ops)
                if isinstance(op, SearchOp)
            }
            lists = {
                position: group.create_task(items.namespaces(_literal_prefix(op)))
                for position, op in enumerate(ops)
                if isinstance(op, ListNamespacesOp)
            }
        found: dict[int, Any] = {position: task.result() for position, task in searches.items()}
        found |= {position: task.result() for position, task in lists.items()}
        found |= dict(zip(gets, got.result(), strict=True))
        read = [found.get(position) for position in range(len(ops))]
        await items.refresh([place for op, one in zip(ops, read, strict=True) for place in _to_refresh(op, one)])
        return [_result(op, one) for op, one in zip(ops, read, strict=True)]

    async def _query_vectors(self, ops: Sequence[Op]) -> dict[str, Sequence[float]]:
        queries = list(dict.fromkeys(op.query for op in ops if isinstance(op, SearchOp) and _is_query(op.query)))
        if not queries:
            return {}
        services = services_of(self._graph)
        vectors = await (services.query_cache or services.embedder).embed_queries(queries)
        return dict(zip(queries, vectors, strict=True))

    def _new_item(self, place: ItemPlace, op: PutOp) -> NewItem:
        text, value = to_json(op.value or {})
        paths = self._fields if op.index is None else op.index or ()
        texts = dict.fromkeys(found for path in paths for found in get_text_at_path(value, path) if found.strip())
        if len(texts) > MAX_TEXTS:
            raise InputError(f"at most {MAX_TEXTS:,} texts of an item can be embedded, got {len(texts):,} at {paths}")
        return NewItem(place=place, value=text, texts=tuple(texts), ttl_minutes=op.ttl)


def _check(op: Op) -> None:
    """Check an operation, as far as the database and the embedder do not.

    Raises:
        InvalidNamespaceError, InputError: it is invalid.
    """
    if not isinstance(op, GetOp | SearchOp | PutOp | ListNamespacesOp):
        raise InputError(f"unknown operation {type(op).__name__}; use those of langgraph.store.base")
    if isinstance(op, GetOp | PutOp):
        _check_namespace(op.namespace)
        if not isinstance(op.key, str):
            raise InputError(f"key must be text, got {op.key!r}")
    if isinstance(op, SearchOp):
        _check_namespace(op.namespace_prefix)
        check_filter(op.filter or {})
    if isinstance(op, PutOp):
        is_list = isinstance(op.index, list) and all(isinstance(path, str) for path in op.index)
        if not (op.index is None or op.index is False or is_list):
            raise InputError(f"index must be a list of paths, False or None, got {op.index!r}")
        if op.ttl is not None and not 0 < op.ttl <= MAX_TTL:
            raise InputError(f"ttl must be more than 0 minutes and at most {MAX_TTL:,}, got {op.ttl}")


def _check_namespace(namespace: Namespace) -> None:
    for label in namespace:
        if not isinstance(label, str) or not label or set(label) & {SEPARATOR, "\0"}:
            raise InvalidNamespaceError(
                f"labels of a namespace must be texts that are not empty and have no {SEPARATOR!r}, got {label!r}"
            )


def _is_query(query: str | None) -> TypeGuard[str]:
    return query is not None and bool(query.strip())


def _search(op: SearchOp, vector: Sequence[float] | None) -> ItemSearch:
    return ItemSearch(
        prefix=tuple(op.namespace_prefix),
        vector=vector,
        accepts=partial(accepts, wanted=op.filter) if op.filter else None,
        offset=op.offset,
        limit=op.limit,
    )


def _literal_prefix(op: ListNamespacesOp) -> Namespace:
    """Labels that all namespaces that match begin with."""
    for condition in op.match_conditions or ():
        if condition.match_type == "prefix":
            path = tuple(condition.path)
            return path[: path.index(WILDCARD)] if WILDCARD in path else path
    return ()


def _to_refresh(op: Op, found: Any) -> list[ItemPlace]:  # noqa: ANN401 - the result of any operation
    """Items whose expiry a read renews."""
    if not isinstance(op, GetOp | SearchOp) or not op.refresh_ttl or not found:
        return []
    read: list[StoredItem] = [found] if isinstance(op, GetOp) else found
    return [item.place for item in read if item.has_ttl]


def _result(op: Op, found: Any) -> Result:  # noqa: ANN401 - the result of any operation
    """What was found as LangGraph has it."""
    if isinstance(op, GetOp):
        return None if found is None else Item(**_fields(found))
    if isinstance(op, SearchOp):
        return [SearchItem(**_fields(item), score=item.score) for item in found]
    return _matching(op, found) if isinstance(op, ListNamespacesOp) else None


def _fields(item: StoredItem) -> dict[str, Any]:
    return {
        "namespace": item.place.namespace,
        "key": item.place.key,
        "value": item.value,
        "created_at": item.created_at,
        "updated_at": item.updated_at,
    }


def _matching(op: ListNamespacesOp, namespaces: Iterable[Namespace]) -> list[Namespace]:
    """The namespaces that match all conditions, cut to the depth, in order."""
    conditions = op.match_conditions or ()
    kept = {
        namespace[: op.max_depth] for namespace in namespaces if all(_matches(namespace, one) for one in conditions)
    }
    return sorted(kept)[op.offset : op.offset + op.limit]


def _matches(namespace: Namespace, condition: MatchCondition) -> bool:
    path, labels = tuple(condition.path), namespace
    if condition.match_type == "suffix":
        path, labels = path[::-1], labels[::-1]
    elif condition.match_type != "prefix":
        raise InputError(f'match_type must be "prefix" or "suffix", got {condition.match_type!r}')
    return len(path) <= len(labels) and all(
        wanted in {WILDCARD, label} for wanted, label in zip(path, labels, strict=False)
    )
