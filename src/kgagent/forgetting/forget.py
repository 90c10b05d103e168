"""Forgets a user or a node in batches, each a transaction of its own, so that other calls do not wait for long."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from kgagent.batches import split_by_size
from kgagent.errors import ConflictError, EntityGoneError, InputError, NodeNotFoundError, NotFoundError
from kgagent.forgetting.report import ForgetReport
from kgagent.forgetting.source_traces import SourceTraces
from kgagent.formatting import has_unpaired_surrogates
from kgagent.graph.deleted_records import DELETED_NAMES, LONG_TIMEOUT
from kgagent.graph.identifiers import Identifier
from kgagent.graph.node_references import NodeReferences
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import Statement, statement
from kgagent.graph.store import Row, Store
from kgagent.graph.store_items import STORE_ITEM_NAMES
from kgagent.graph.writes import WriteContext
from kgagent.progress import Advance, Progress, SilentProgress
from kgagent.validation import check_user_id


async def forget(
    *,
    nodes: NodeRepository,
    relationships: RelationshipRepository,
    write_context: WriteContext,
    user_id: str,
    references: NodeReferences,
    entity_key: str | None = None,
    dry_run: bool = False,
    batch_size: int = 200,
    progress: Progress | None = None,
) -> ForgetReport:
    """Delete all data of a user or of a node, and keep no deleted record of it.

    Args:
        nodes: repository of the nodes.
        relationships: repository of the relationships.
        write_context: dependencies of writes.
        user_id: owner of the records.
        references: finds the node of a name or of the beginning of a key.
        entity_key: the node to forget (its whole key, a unique beginning of at least 8 characters, or its name) with
            its relationships, its deleted records and the notes that name it as their source; None forgets the user.
        dry_run: only count.
        batch_size: records per transaction, from 1.
        progress: receives the number of records.

    Raises:
        InputError: an argument is invalid.
        NotFoundError: nothing is stored under the key.
        ConflictError: concurrent writes won; forget again to continue.
        EmbeddingError: a record without the notes could not be embedded; likewise.
        StoreError: the database failed; likewise.
    """
    check_user_id(user_id)
    if entity_key is not None and (not entity_key or has_unpaired_surrogates(entity_key)):
        raise InputError(f"entity_key must be a text that is not empty, got {entity_key!r}")
    if batch_size < 1:
        raise InputError(f"batch_size must be at least 1, got {batch_size}")
    names = {**relationships.names, **STORE_ITEM_NAMES, "all_deleted": DELETED_NAMES["all_deleted"]}
    store = nodes.store
    counting = statement("count_records_of_user" if entity_key is None else "count_records_of_node", **names)

    async def count(key: str | None) -> Row:
        [counts] = await store.read(counting, {"user_id": user_id, "entity_key": key}, timeout=LONG_TIMEOUT)
        return counts

    found = await count(entity_key)
    traces = None
    if entity_key is not None:
        traces = SourceTraces(nodes, relationships, write_context, user_id, entity_key, batch_size)
        if not any(found.values()) and not any((await traces.count()).values()):
            entity_key = await _resolved(references, user_id, entity_key)
            traces = replace(traces, entity_key=entity_key)
            found = await count(entity_key)
    parameters = {"user_id": user_id, "entity_key": entity_key}
    others = await _count_others(store, names, user_id) if entity_key is None else 0
    if dry_run:
        removed = await traces.count() if traces else Counter[str]()
        return ForgetReport(**found, **removed, other_nodes=others, entity_key=entity_key, dry_run=True)
    total = sum(found.values())
    with (progress or SilentProgress()).task("Forgetting", total) as advance:
        erasure = _Erasure(store, names, parameters, batch_size, write_context.attempts, advance)
        await (erasure.forget_user() if entity_key is None else erasure.forget_node())
        if traces:
            erasure.counts += await traces.remove()
    return ForgetReport(**erasure.counts, other_nodes=others, entity_key=entity_key)


class _Erasure:
    """Deletes records, and counts them."""

    def __init__(  # noqa: PLR0917
        self,
        store: Store,
        names: dict[str, Identifier],
        parameters: dict[str, str | None],
        batch_size: int,
        attempts: int,
        advance: Advance,
    ) -> None:
        self.counts = Counter[str]()
        self._store = store
        self._names = names
        self._parameters = parameters
        self._batch_size = batch_size
        self._attempts = attempts
        self._advance = advance

    async def forget_user(self) -> None:
        """Delete the nodes of the user, relationships that name the user, deleted records, and stored items."""
        while rows := await self._list("list_nodes_to_forget"):
            await self._delete(rows)
        await self._repeat("forget_foreign_relationships", "relationships")
        await self._repeat("forget_deleted", "deleted")
        await self._repeat("forget_store_nodes", "items", label=self._names["item"])
        await self._repeat("forget_store_nodes", None, label=self._names["text"])

    async def forget_node(self) -> None:
        """Delete a node, and what is kept of it and its relationships."""
        while rows := await self._list("list_node_to_forget"):
            await self._delete(rows)
        await self._repeat("forget_deleted_of_node", "deleted")

    async def _list(self, name: str) -> list[Row]:
        return await self._store.read(statement(name, **self._names), {**self._parameters, "limit": self._batch_size})

    async def _delete(self, rows: Sequence[Row]) -> None:
        """Delete nodes; of those with many relationships, first these."""
        for row in rows:
            while row["degree"] > self._batch_size:
                done = await self._write(
                    statement("forget_relationships_of_node"), element_id=row["element_id"], limit=self._batch_size
                )
                row["degree"] = row["degree"] - self._batch_size if done["relationships"] else 0
        for group in split_by_size(rows, lambda row: row["degree"] + 1, max_size=self._batch_size):
            await self._write(statement("forget_nodes"), element_ids=[row["element_id"] for row in group])

    async def _repeat(self, name: str, counted_as: str | None, **places: Identifier) -> None:
        """Run a statement until it finds less than a whole batch."""
        found = self._batch_size
        while found == self._batch_size:
            rows = await self._run(statement(name, **self._names, **places), limit=self._batch_size)
            found = rows[0]["found"]
            if counted_as is not None:
                self.counts[counted_as] += found
                self._advance(found)

    async def _write(self, text: Statement, **parameters: object) -> Row:
        [row] = await self._run(text, **parameters)
        self.counts.update(row)
        self._advance(sum(row.values()))
        return row

    async def _run(self, text: Statement, **parameters: object) -> list[Row]:
        """Run a statement, again if a concurrent write deleted one of its records."""
        for _ in range(self._attempts):
            try:
                return await self._store.write(text, {**self._parameters, **parameters})
            except EntityGoneError:
                continue
        raise ConflictError("Concurrent writes keep deleting the same records. Forget again to continue")


async def _resolved(references: NodeReferences, user_id: str, reference: str) -> str:
    try:
        return (await references.resolve(user_id, [reference]))[reference]
    except NodeNotFoundError as error:
        raise NotFoundError(
            f"Nothing is stored under the key {reference!r}. {error}. A deleted node can be named only by its full key"
        ) from error


async def _count_others(store: Store, names: dict[str, Identifier], user_id: str) -> int:
    rows = await store.read(statement("count_other_nodes", **names), {"user_id": user_id}, timeout=LONG_TIMEOUT)
    return int(rows[0]["found"])
