"""LangGraph's store over the database of a graph."""

import json
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

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
from kgagent.concurrency import task_group
from kgagent.errors import InputError
from kgagent.formatting import has_unpaired_surrogates
from kgagent.graph.store_items import StoreItemRepository
from kgagent.knowledge_graph import KnowledgeGraph, services_of
from kgagent.models.store_item import (
    SEPARATOR,
    ItemPlace,
    ItemSearch,
    Namespace,
    NewItem,
    StoredItem,
)
from kgagent.sync import SyncKnowledgeGraph
from kgagent.validation import check_user_id

MAX_CHARACTERS = 1_000_000
"""Characters of the JSON text of a value."""

WHOLE_VALUE = "$"
WILDCARD = "*"


class KnowledgeGraphStore(BaseStore):
    """Keeps items of one user, JSON values by namespace and key, in the database of the graph.

        store = KnowledgeGraphStore(graph, user_id="me")
        agent = create_agent(model, tools, store=store)

    Items are no part of the user's knowledge graph: its tools and searches do not see them. A
    search with a query ranks items by the texts that the graph's embedder embedded, without one the
    newest come first. `put` keeps `created_at` of an item that exists. A batch reads first and then
    writes, in one transaction; items that another transaction deletes at that moment are written in
    a second one. Of several writes to one key the last counts.

    Differences from `InMemoryStore`: values become JSON, in which keys are texts and tuples lists;
    only namespaces with items are listed; comparisons of a filter hold between two numbers or two
    texts and fail otherwise.
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
            graph: an open graph. The methods without "a" need a `SyncKnowledgeGraph`, or a thread
                other than that of the graph's event loop.
            user_id: owner of the items, or a function that returns it in a run, such as
                `lambda: get_runtime(Context).context.user_id`.
            fields: paths of the texts to embed, such as "text" or "messages[*].content"; "$" is the
                whole value. An empty sequence embeds nothing. `put(index=…)` overrides it.
            ttl: when items expire by default, and whether reads renew that.

        Raises:
            InputError: the user id is empty.
        """
        super().__init__()
        if not callable(user_id):
            check_user_id(user_id)
        if isinstance(fields, str):
            raise InputError(
                f"fields must be a list of paths, got the text {fields!r}; put it in a list"
            )
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
            self._graph.loop,
            self._run(list(ops), self._owner()),
            instead="the methods of the store that begin with a",
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

        async def read(op: Op) -> Result:
            if isinstance(op, SearchOp):
                search = ItemSearch(
                    prefix=tuple(op.namespace_prefix),
                    vector=vectors.get(op.query or ""),
                    accepts=partial(_accepts, wanted=op.filter) if op.filter else None,
                    offset=op.offset,
                    limit=op.limit,
                )
                found = await items.search(search)
                refreshed.extend(item.place for item in found if item.has_ttl and op.refresh_ttl)
                return [SearchItem(**_fields(item), score=item.score) for item in found]
            if isinstance(op, ListNamespacesOp):
                return _matching(op, await items.namespaces(_literal_prefix(op)))
            return None

        refreshed: list[ItemPlace] = []
        gets = {position: op for position, op in enumerate(ops) if isinstance(op, GetOp)}
        async with task_group() as group:
            getting = group.create_task(
                items.get([ItemPlace(op.namespace, op.key) for op in gets.values()])
            )
            reading = [group.create_task(read(op)) for op in ops]
        results = [task.result() for task in reading]
        for (position, op), item in zip(gets.items(), getting.result(), strict=True):
            if item is not None:
                results[position] = Item(**_fields(item))
                refreshed.extend([item.place] if item.has_ttl and op.refresh_ttl else [])
        await items.refresh(refreshed)
        return results

    async def _query_vectors(self, ops: Sequence[Op]) -> dict[str, Sequence[float]]:
        queries = list(
            dict.fromkeys(
                op.query for op in ops if isinstance(op, SearchOp) and op.query and op.query.strip()
            )
        )
        if not queries:
            return {}
        services = services_of(self._graph)
        vectors = await (services.query_cache or services.embedder).embed_queries(queries)
        return dict(zip(queries, vectors, strict=True))

    def _new_item(self, place: ItemPlace, op: PutOp) -> NewItem:
        text, value = _to_json(op.value)
        paths = self._fields if op.index is None else op.index or ()
        texts = dict.fromkeys(
            found for path in paths for found in get_text_at_path(value, path) if found.strip()
        )
        return NewItem(place=place, value=text, texts=tuple(texts), ttl_minutes=op.ttl)


def _check(op: Op) -> None:
    """Check an operation, as far as the database and the embedder do not.

    Raises:
        InvalidNamespaceError, InputError: it is invalid.
    """
    namespace: Namespace = (
        getattr(op, "namespace", None) or getattr(op, "namespace_prefix", None) or ()
    )
    for label in namespace:
        if not isinstance(label, str) or not label or set(label) & {SEPARATOR, "\0"}:
            raise InvalidNamespaceError(
                f"labels of a namespace must be texts that are not empty and have no "
                f"{SEPARATOR!r}, got {label!r}"
            )
    if isinstance(op, PutOp) and op.ttl is not None and op.ttl <= 0:
        raise InputError(f"ttl must be more than 0 minutes, got {op.ttl}")


def _to_json(value: Mapping[str, Any] | None) -> tuple[str, dict[str, Any]]:
    """A value as JSON text, and the value that comes back.

    Raises:
        InputError: the value is no mapping, is not JSON, or is too large.
    """
    if not isinstance(value, Mapping):
        raise InputError(f"value must be a mapping with text keys, got {type(value).__name__}")
    try:
        text = json.dumps(dict(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        stored: dict[str, Any] = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"value must consist of JSON types: {error}") from None
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"value may have at most {MAX_CHARACTERS:,} characters as JSON, got {len(text):,}; "
            f"split it"
        )
    if has_unpaired_surrogates(text):
        raise InputError(
            "value contains an unpaired surrogate, which is not a character; remove it"
        )
    return text, stored


_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def _accepts(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether the fields of a value satisfy all conditions; see `langgraph.store.base.SearchOp`."""
    return all(_satisfies(value.get(field), condition) for field, condition in wanted.items())


def _satisfies(stored: object, condition: object) -> bool:
    if isinstance(condition, Mapping):
        if any(str(name).startswith("$") for name in condition):
            return all(_compare(stored, name, given) for name, given in condition.items())
        return isinstance(stored, Mapping) and _accepts(stored, condition)
    if isinstance(condition, list | tuple):
        return (
            isinstance(stored, list)
            and len(stored) == len(condition)
            and all(map(_satisfies, stored, condition))
        )
    return stored == condition


def _compare(stored: object, name: str, given: object) -> bool:
    if name not in _COMPARISONS:
        raise InputError(f"unknown operator {name!r} in the filter; use {', '.join(_COMPARISONS)}")
    if name not in {"$eq", "$ne"} and not any(
        isinstance(stored, kind) and isinstance(given, kind) for kind in (int | float, str)
    ):
        return False
    return _COMPARISONS[name](stored, given)


def _literal_prefix(op: ListNamespacesOp) -> Namespace:
    """Labels that all namespaces that match begin with."""
    for condition in op.match_conditions or ():
        if condition.match_type == "prefix":
            path = tuple(condition.path)
            return path[: path.index(WILDCARD)] if WILDCARD in path else path
    return ()


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
        namespace[: op.max_depth]
        for namespace in namespaces
        if all(_matches(namespace, condition) for condition in conditions)
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
