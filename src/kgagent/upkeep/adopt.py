"""Adopting a graph that other programs wrote, and undoing it."""

import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from kgagent.batches import check_batch_size
from kgagent.errors import InputError
from kgagent.formatting import counted
from kgagent.graph.deleted_records import DELETED_NAMES, LONG_TIMEOUT
from kgagent.graph.identifiers import Identifier
from kgagent.graph.property_names import NODE_EMBEDDINGS
from kgagent.graph.schema_parts import OWN_LABELS
from kgagent.graph.statements import statement
from kgagent.graph.store import Row, Store
from kgagent.models.report import Report
from kgagent.ontology import Ontology
from kgagent.ontology.definitions import NodeLabel
from kgagent.opening import GraphAccess
from kgagent.progress import Progress, SilentProgress
from kgagent.ray_workers import RayEngine
from kgagent.services import GraphServices
from kgagent.upkeep.adopt_inference import (
    NodeGroup,
    PropertyFacts,
    RelationshipGroup,
    choose,
    facts_of,
    infer_ontology,
)
from kgagent.upkeep.adopt_records import obstacles, own_properties, undo_adoption
from kgagent.upkeep.examination import Kind
from kgagent.upkeep.migrate import migrate
from kgagent.upkeep.migration_report import MigrationReport, Skipped
from kgagent.validation import check_user_id

SAMPLE = 300
"""Records of a label or type whose properties are read to infer what they mean."""

SAMPLE_TEXT = 4_000
"""Characters of a property that are read of a record of the sample."""

TOKENS_OF_WORD = 1.3
TRIPLET_WORDS = 6
"""Estimates, for English text and for a relationship with the names of its nodes."""


class AdoptionReport(Report):
    """What adopting a graph means, and did.

    Attributes:
        ontology: labels, types, and the properties that are their names and texts; the graph is
            opened with it from then on.
        labels: number of nodes of each label.
        types: number of relationships of each type.
        skipped: what is not adopted.
        tokens: estimated number of tokens to embed, once for each node and relationship.
        migration: the embedding of the records; None if nothing was changed.
        seconds: duration in seconds.
    """

    ontology: Ontology
    labels: Mapping[str, int]
    types: Mapping[str, int]
    skipped: tuple[Skipped, ...]
    tokens: int
    migration: MigrationReport | None = None
    seconds: float = 0.0

    @property
    def texts(self) -> int:
        """Number of texts to embed."""
        return sum((*self.labels.values(), *self.types.values()))

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON types."""
        return {
            **super().to_dict(),
            "texts": self.texts,
            "ontology": self.ontology.model_dump(mode="json", by_alias=True, exclude_defaults=True),
            "migration": self.migration and self.migration.to_dict(),
        }


class UndoneAdoption(Report):
    """What undoing an adoption did.

    Attributes:
        records: number of nodes and relationships from which what kgagent wrote was removed.
        kept: number of nodes that kgagent has written itself, which stay, and with them the
            constraints and indexes.
    """

    records: int
    kept: int

    def __str__(self) -> str:
        """The report in one line."""
        schema = "constraints and indexes were dropped"
        if self.kept:
            schema = (
                f"{counted(self.kept, 'node')} that kgagent wrote, and its constraints and "
                f"indexes, stay"
            )
        return f"{counted(self.records, 'record')} restored; {schema}"


async def adopt(
    services: GraphServices,
    *,
    user_id: str,
    ontology: Ontology | None = None,
    dry_run: bool = False,
    batch_size: int = 500,
    progress: Progress | None = None,
    engine: RayEngine | None = None,
    access: GraphAccess | None = None,
) -> AdoptionReport:
    """Adopt a graph; see `KnowledgeGraph.adopt`."""
    check_user_id(user_id)
    check_batch_size(batch_size)
    started, progress = time.perf_counter(), progress or SilentProgress()
    with progress.task("Reading the schema"):
        plan = await _plan(services, user_id, ontology)
    migration = None
    if not dry_run:
        adopting = GraphServices.build(
            services.store,
            plan.ontology,
            services.embedder,
            services.settings,
            clock=services.write_context.clock,
        )
        migration = await migrate(
            adopting,
            user_id=user_id,
            # Indexes of another ontology are of no use for a graph without records of kgagent.
            rebuild_indexes=await _count_records(services.store) == 0,
            batch_size=batch_size,
            progress=progress,
            engine=engine,
            access=access and replace(access, ontology=plan.ontology),
        )
    seconds = time.perf_counter() - started
    return plan.model_copy(update={"migration": migration, "seconds": seconds})


async def undo(
    services: GraphServices, *, user_id: str, progress: Progress | None = None
) -> UndoneAdoption:
    """Remove what adopting a graph has added; see `KnowledgeGraph.undo_adoption`."""
    check_user_id(user_id)
    store, now = services.store, services.write_context.clock()
    text = statement("count_deleted_adopted", all_deleted=DELETED_NAMES["all_deleted"])
    [deleted] = await store.read(text, {"user_id": user_id, "now": now}, timeout=LONG_TIMEOUT)
    if deleted["found"]:
        raise InputError(
            f"Tools deleted or merged {counted(deleted['found'], 'record')} of other programs. "
            "First restore them with `kgagent restore`, which lists them, or erase them with "
            f"`kgagent purge --user {user_id} --restorable`"
        )
    records = await undo_adoption(store, user_id, progress or SilentProgress())
    kept = await _count_records(store)
    if not kept:
        await services.schema.drop_all()
    return UndoneAdoption(records=records, kept=kept)


async def _plan(services: GraphServices, user_id: str, ontology: Ontology | None) -> AdoptionReport:
    """Read what the graph has, and decide what to adopt.

    Raises:
        InputError: there is nothing to adopt, or the ontology is not one for this.
        StoreError: the database failed.
    """
    store = services.store
    parameters = await obstacles(store, user_id)

    async def groups(kind: Kind) -> list[Row]:
        text = statement(f"find_adoptable_{kind}")
        return await store.read(text, parameters, timeout=LONG_TIMEOUT)

    nodes = [NodeGroup(**row) for row in await groups("nodes")]
    relationships = [RelationshipGroup(**row) for row in await groups("relationships")]
    if ontology is not None:
        _check(ontology, user_id)
    chosen = choose(nodes, relationships, ontology)
    if ontology is not None and chosen.refused_types:
        raise InputError(f"{chosen.refused_types[0]}; or remove it from the ontology")
    facts = {label: await _facts(store, "nodes", label, user_id) for label in chosen.labels}
    for name in chosen.types:
        facts[name] = await _facts(store, "relationships", name, user_id)
    ontology = ontology or infer_ontology(chosen, facts, user_id)
    counts_of_types = {name: pairs.total() for name, pairs in chosen.types.items()}
    words = sum(
        count * _words(ontology, name, facts[name])
        for name, count in {**chosen.labels, **counts_of_types}.items()
    )
    return AdoptionReport(
        ontology=ontology,
        labels=chosen.labels,
        types=counts_of_types,
        skipped=chosen.skipped,
        tokens=round(words * TOKENS_OF_WORD),
    )


def _check(ontology: Ontology, user_id: str) -> None:
    """Check an ontology that was given.

    Raises:
        InputError: it is not for the user, or leaves no embeddings of other programs.
    """
    if (ontology.adopted_for, ontology.node_embedding) != (user_id, NODE_EMBEDDINGS[1]):
        raise InputError(
            f"To adopt a graph for user {user_id!r}, the ontology must have `adopted_for: "
            f"{user_id}` and "
            f"`node_embedding: {NODE_EMBEDDINGS[1]}`, got {ontology.adopted_for} and "
            f"{ontology.node_embedding}"
        )


async def _facts(store: Store, kind: Kind, name: str, user_id: str) -> list[PropertyFacts]:
    """What a sample says about the properties of a label or type."""
    parameters = {"user_id": user_id, "sample": SAMPLE, "text_limit": SAMPLE_TEXT}
    text = statement(f"sample_adoptable_{kind}", label=Identifier(name))
    rows = await store.read(text, parameters)
    return facts_of([own_properties(dict(row["fields"])) for row in rows])


def _words(ontology: Ontology, name: str, facts: Collection[PropertyFacts]) -> float:
    """About the words to embed of a record of a label or type."""
    rule = ontology.labels.get(name) or ontology.relationships[name]
    first, words = (
        (rule.name_from, 0.0) if isinstance(rule, NodeLabel) else (rule.type_from, TRIPLET_WORDS)
    )
    used = {"name", "description", *first, *rule.text_from}
    return words + sum(one.present * one.words for one in facts if one.name in used)


async def _count_records(store: Store) -> int:
    parameters = {"own_labels": sorted(OWN_LABELS)}
    [row] = await store.read(statement("count_kgagent_records"), parameters, timeout=LONG_TIMEOUT)
    return int(row["found"])
