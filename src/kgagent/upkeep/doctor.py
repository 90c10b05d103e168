"""The diagnosis of a whole graph: the server, its indexes, every record, note sources, owners, and stored items."""

from array import array
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import groupby

from kgagent.embedding.base import Embedder
from kgagent.formatting import beginning, counted
from kgagent.graph.identifiers import Identifier
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.record_saver import is_current
from kgagent.graph.schema_parts import STORE_TEXT
from kgagent.graph.statements import statement
from kgagent.graph.store_texts import count_store_texts
from kgagent.models import Note
from kgagent.progress import Progress, SilentProgress
from kgagent.services import GraphServices
from kgagent.upkeep.conditions import Condition, Examination, examine_node, examine_relationship
from kgagent.upkeep.diagnosis import Diagnosis, DiagnosisFacts, Finding
from kgagent.upkeep.issues import (
    CONDITIONS,
    EXPIRED,
    NODE_DEFECTS,
    RELATIONSHIP_DEFECTS,
    SHARED_KEYS,
    Issue,
    IssueCounter,
    other_model,
)
from kgagent.upkeep.scan import (
    Inspected,
    InspectedNode,
    InspectedRelationship,
    InspectedT,
    NodeScan,
    RelationshipScan,
    Scan,
)
from kgagent.upkeep.server_checks import embedder_findings, feature_findings, schema_findings

PROGRESS_INTERVAL = 500
"""Records between two reports of progress."""

MAX_SOURCES = 10_000
"""Number of different sources of notes that are checked."""

SOURCES_PER_STATEMENT = 1_000
MAX_NAME = 80

MAX_EXPIRIES = 30
"""Most recent expiries of a record's notes that can explain a stale embedding."""

_CAN_BE_EXPIRED = {Condition.STALE, Condition.WITHOUT_TEXT}
_JUST_BEFORE = timedelta(microseconds=1)


async def diagnose(
    services: GraphServices,
    *,
    user_id: str | None = None,
    check_embedder: bool = False,
    progress: Progress | None = None,
) -> Diagnosis:
    """Examine the server, its indexes and every record, and report what is wrong and how to fix it.

    Nothing is changed and no vector is read. Records are streamed; only eight bytes a node and the names of up to
    10,000 sources stay in memory. The arguments are those of `KnowledgeGraph.diagnose`.
    """
    store, schema, embedder = services.store, services.schema, services.embedder
    findings = feature_findings(store.features) + await schema_findings(store, schema)
    if check_embedder:
        findings += await embedder_findings(embedder)
    checks = RecordChecks(services, progress or SilentProgress())
    await checks.check_nodes(user_id)
    await checks.check_relationships(user_id)
    findings += [*checks.findings(user_id), *await checks.sources.findings()]
    findings += await owner_findings(services.nodes, user_id)
    stored_items = 0
    if schema.covers(STORE_TEXT):
        texts = await count_store_texts(store, embedder, user_id=user_id)
        stored_items = texts.items
        if texts.outdated:
            records = f"{counted(texts.outdated, 'text')} of {counted(texts.items, 'stored item')}"
            findings.append(other_model(texts.other_model, embedder.model).finding(records, None, user_id))
    facts = DiagnosisFacts(
        uri=store.uri,
        server_version=store.features.version,
        filtered_vector_indexes=store.features.filtered_vector_indexes,
        vectors_on_the_wire=store.features.vectors_on_the_wire,
        embedder=str(embedder),
        user_id=user_id,
        nodes=checks.nodes.examined,
        relationships=checks.relationships.examined,
        store_items=stored_items,
    )
    return Diagnosis.of(findings, facts)


class RecordChecks:
    """Checks whether records are stored as the tools would store them, and collects the findings."""

    def __init__(self, services: GraphServices, progress: Progress) -> None:
        self.nodes = IssueCounter("nodes")
        self.relationships = IssueCounter("relationships")
        self.sources = NoteSources(services.nodes)
        self._services = services
        self._progress = progress
        self._key_hashes = array("Q")

    async def check_nodes(self, user_id: str | None) -> None:
        """Check the nodes of a user, or of all users.

        Raises:
            StoreError: the database failed.
        """
        nodes, embedder, clock = self._services.nodes, self._services.embedder, self._services.write_context.clock

        def issues(node: InspectedNode) -> Iterator[Issue]:
            if node.record.entity_key:
                self._key_hashes.append(_hash(f"{len(node.user_id)}:{node.user_id}{node.record.entity_key}"))
            now = clock()
            examined = examine_node(node, nodes, embedder, now)
            if examined.defect:
                yield NODE_DEFECTS[examined.defect]
            else:
                yield from self._issues(node, examined, lambda moment: nodes.text(node.record, moment), now)

        await self._check(NodeScan(nodes=nodes, user_id=user_id), self.nodes, issues)

    async def check_relationships(self, user_id: str | None) -> None:
        """Check the relationships that start at a node of a user, or all.

        Raises:
            StoreError: the database failed.
        """
        relationships, embedder = self._services.relationships, self._services.embedder
        clock = self._services.write_context.clock

        def issues(relationship: InspectedRelationship) -> Iterator[Issue]:
            now = clock()
            examined = examine_relationship(relationship, relationships, embedder, now)
            if examined.defect:
                yield RELATIONSHIP_DEFECTS[examined.defect]
            else:
                record = relationship.record
                yield from self._issues(relationship, examined, lambda moment: relationships.text(record, moment), now)

        await self._check(RelationshipScan(relationships=relationships, user_id=user_id), self.relationships, issues)

    def findings(self, user_id: str | None) -> Iterator[Finding]:
        """The findings about the records checked so far."""
        yield from self.nodes.findings(user_id)
        equal_hashes = (list(equal) for _, equal in groupby(sorted(self._key_hashes)))
        if shared := sum(len(equal) for equal in equal_hashes if len(equal) > 1):
            yield SHARED_KEYS.finding(f"{shared:,} of {self.nodes.examined:,} nodes", None, user_id)
        yield from self.relationships.findings(user_id)

    async def _check(
        self, scan: Scan[InspectedT], counter: IssueCounter, issues: Callable[[InspectedT], Iterable[Issue]]
    ) -> None:
        with self._progress.task(f"Examining {scan.kind}", await scan.count()) as advance:
            async with scan.records() as records:
                async for inspected in records:
                    counter.examined += 1
                    for issue in issues(inspected):
                        counter.add(issue, inspected)
                    if counter.examined % PROGRESS_INTERVAL == 0:
                        advance(PROGRESS_INTERVAL)
            advance(counter.examined % PROGRESS_INTERVAL)

    def _issues(
        self, inspected: Inspected, examined: Examination, text_at: Callable[[datetime], str], now: datetime
    ) -> Iterator[Issue]:
        """The issues of a record without a defect; a defect must be fixed before the migration can fix others."""
        self.sources.add(inspected.user_id, inspected.record.notes, inspected)
        embedder = self._services.embedder
        for condition in examined.conditions:
            if condition in _CAN_BE_EXPIRED and _was_current_before_a_note_expired(inspected, embedder, text_at, now):
                yield EXPIRED
            elif condition is Condition.OTHER_MODEL:
                yield other_model(inspected.record.properties["embedding_model"], embedder.model)
            else:
                yield CONDITIONS[condition]


class NoteSources:
    """Collects the sources that notes name, and finds those that the notes' users do not have."""

    def __init__(self, nodes: NodeRepository) -> None:
        self._nodes = nodes
        self._examples: dict[tuple[str, str], str] = {}

    def add(self, user_id: str, notes: Iterable[Note], example: object) -> None:
        """Add the notes of one record."""
        for key in {note.source_entity_key for note in notes if note.source_entity_key}:
            if len(self._examples) < MAX_SOURCES:
                self._examples.setdefault((user_id, key), str(example))

    async def findings(self) -> list[Finding]:
        """One finding if sources are missing.

        Raises:
            StoreError: the database failed.
        """
        sources = list(self._examples)
        missing: list[tuple[str, str]] = []
        for start in range(0, len(sources), SOURCES_PER_STATEMENT):
            batch = sources[start : start + SOURCES_PER_STATEMENT]
            rows = await self._nodes.store.read(
                statement("find_missing_sources", **self._nodes.names),
                {"sources": [{"user_id": user_id, "entity_key": key} for user_id, key in batch]},
            )
            missing += [batch[row["position"]] for row in rows]
        if not missing:
            return []
        message = (
            f"Notes name {counted(len(missing), 'source')} that their user does not have, such as "
            f"{beginning(missing[0][1], MAX_NAME)!r} in {self._examples[missing[0]]}"
        )
        fix = (
            "No change is needed: the sources of these notes do not exist; create a node with that key if one is wanted"
        )
        return [Finding("info", message, fix)]


async def owner_findings(nodes: NodeRepository, user_id: str | None) -> list[Finding]:
    """One finding for each user who has several owners: nodes that stand for the user, "me".

    Args:
        nodes: repository of the nodes.
        user_id: the user; None for all.

    Raises:
        StoreError: the database failed.
    """
    label = nodes.ontology.owner_label
    owner = nodes.names["labels"] if label is None else Identifier(label)
    rows = await nodes.store.read(statement("find_users_with_owners", owner=owner), {"user_id": user_id})
    fix = (
        "Make them one with merge_nodes if they are the same person; else set is_owner to false with update_node on "
        'those that are not the user. Until then tools ask which of them "me" means'
    )
    findings = []
    for row in rows:
        owners = (f"{beginning(repr(node['name']), MAX_NAME)} ({node['entity_key']})" for node in row["first"])
        message = f"User {row['user_id']!r} has {counted(row['owners'], 'owner')}: {', '.join(owners)}"
        findings.append(Finding("warning", message, fix))
    return findings


def _hash(key: str) -> int:
    """64 bits of a hash: among a million keys, the probability that two are taken for the same is 3 in 100 million."""
    return int.from_bytes(blake2b(key.encode(errors="surrogatepass"), digest_size=8).digest(), "big")


def _was_current_before_a_note_expired(
    inspected: Inspected, embedder: Embedder, text_at: Callable[[datetime], str], now: datetime
) -> bool:
    record = inspected.record
    expired = {note.expires_at for note in record.notes if note.expires_at is not None and note.expires_at <= now}
    latest = sorted(expired, reverse=True)[:MAX_EXPIRIES]
    return any(is_current(record, text_at(end - _JUST_BEFORE), embedder) for end in latest)
