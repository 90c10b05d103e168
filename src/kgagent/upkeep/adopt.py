"""Adopting a graph that other programs wrote, and undoing it."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import mean
from typing import Any

from kgagent.batches import check_batch_size
from kgagent.errors import InputError
from kgagent.formatting import counted
from kgagent.graph.deleted_records import LONG_TIMEOUT
from kgagent.graph.embedded_text import MAX_EMBEDDED_TEXT
from kgagent.graph.identifiers import Identifier
from kgagent.graph.property_names import BOOKKEEPING, NODE_EMBEDDINGS
from kgagent.graph.schema_parts import OWN_LABELS
from kgagent.graph.statements import statement
from kgagent.graph.store import Row, Store
from kgagent.ontology import Ontology
from kgagent.opening import GraphAccess
from kgagent.progress import Progress, SilentProgress
from kgagent.ray_workers import RayEngine
from kgagent.services import GraphServices
from kgagent.upkeep.adopt_inference import (
    NodeGroup,
    RelationshipGroup,
    Skipped,
    choose,
    infer_ontology,
)
from kgagent.upkeep.adopt_records import (
    node_texts,
    obstacles,
    relationship_texts,
    undo_adoption,
)
from kgagent.upkeep.examination import Kind
from kgagent.upkeep.migrate import migrate
from kgagent.upkeep.migration_report import MigrationReport
from kgagent.validation import check_user_id

SAMPLE = 300
"""Records of a label or type whose properties are read to infer what they mean."""

SAMPLE_TEXT = 4_000
"""Characters of a property that are read of a record of the sample."""

CHARACTERS_OF_TOKEN = 4
"""Of English text; an estimate."""

_SOME_NAME = "Some Long Name"

Sample = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class AdoptionPlan:
    """What adopting a graph means.

    Attributes:
        ontology: labels, types, and the properties that are their names and texts.
        labels: number of nodes of each label.
        types: number of relationships of each type.
        skipped: what is not adopted.
        tokens: estimated number of tokens to embed, once for each node and relationship.
    """

    ontology: Ontology
    labels: Mapping[str, int]
    types: Mapping[str, int]
    skipped: tuple[Skipped, ...]
    tokens: int

    @property
    def texts(self) -> int:
        """Number of texts to embed."""
        return sum(chain(self.labels.values(), self.types.values()))


@dataclass(frozen=True, kw_only=True)
class AdoptionReport:
    """What adopting a graph did.

    Attributes:
        plan: what was to be done.
        migration: the embedding of the records; None if nothing was changed.
        seconds: duration in seconds.
    """

    plan: AdoptionPlan
    migration: MigrationReport | None
    seconds: float

    @property
    def ontology(self) -> Ontology:
        """The ontology with which the graph is opened from now on."""
        return self.plan.ontology

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON types."""
        plan = self.plan
        return {
            "labels": dict(plan.labels),
            "types": dict(plan.types),
            "skipped": [vars(one) for one in plan.skipped],
            "texts": plan.texts,
            "tokens": plan.tokens,
            "ontology": plan.ontology.model_dump(mode="json", by_alias=True, exclude_defaults=True),
            "migration": self.migration and self.migration.to_dict(),
            "seconds": self.seconds,
        }


@dataclass(frozen=True, kw_only=True)
class UndoneAdoption:
    """What undoing an adoption did.

    Attributes:
        records: number of nodes and relationships from which what kgagent wrote was removed.
        kept: number of nodes that kgagent has written itself, which stay, and with them the
            constraints and indexes.
    """

    records: int
    kept: int

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON types."""
        return vars(self)

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
    labels: Collection[str] | None = None,
    types: Collection[str] | None = None,
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
        plan = await make_plan(
            services, user_id=user_id, ontology=ontology, labels=labels, types=types
        )
    migration = None
    if not dry_run:
        adopted = adopting(services, plan.ontology)
        migration = await migrate(
            adopted,
            user_id=user_id,
            # Indexes of another ontology are of no use for a graph without records of kgagent.
            rebuild_indexes=await _count_records(services.store) == 0,
            batch_size=batch_size,
            progress=progress,
            engine=engine,
            access=access and replace(access, ontology=plan.ontology),
        )
    return AdoptionReport(plan=plan, migration=migration, seconds=time.perf_counter() - started)


async def undo(
    services: GraphServices, *, user_id: str, progress: Progress | None = None
) -> UndoneAdoption:
    """Remove what adopting a graph has added; see `KnowledgeGraph.undo_adoption`."""
    check_user_id(user_id)
    records = await undo_adoption(services.store, user_id, progress or SilentProgress())
    kept = await _count_records(services.store)
    if not kept:
        await services.schema.drop_all()
    return UndoneAdoption(records=records, kept=kept)


def adopting(services: GraphServices, ontology: Ontology) -> GraphServices:
    """The parts of an open graph with another ontology."""
    clock = services.write_context.clock
    return GraphServices.build(
        services.store, ontology, services.embedder, services.settings, clock=clock
    )


async def make_plan(
    services: GraphServices,
    *,
    user_id: str,
    ontology: Ontology | None,
    labels: Collection[str] | None,
    types: Collection[str] | None,
) -> AdoptionPlan:
    """Read what the graph has, and decide what to adopt.

    Args:
        services: the parts of the graph.
        user_id: the user to whom it belongs from then on.
        ontology: labels and types to adopt, and what they mean; None infers it.
        labels: labels to adopt; None adopts all.
        types: types to adopt; None adopts all.

    Raises:
        InputError: there is nothing to adopt, or the ontology has what cannot be adopted.
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
        known = set(chain.from_iterable(group.labels for group in nodes))
        known_types = {group.type for group in relationships}
        labels = [label for label in ontology.labels if label in known]
        types = [name for name in ontology.relationships if name in known_types]
    chosen = choose(nodes, relationships, labels=labels, types=types)
    label_samples = {
        label: await _sample(store, "nodes", label, user_id) for label in chosen.labels
    }
    type_samples = {
        name: await _sample(store, "relationships", name, user_id) for name in chosen.types
    }
    if ontology is None:
        ontology = infer_ontology(chosen, label_samples, type_samples, user_id=user_id)
    counts_of_types = {name: pairs.total() for name, pairs in chosen.types.items()}
    counts = {**chosen.labels, **counts_of_types}
    texts = _sample_texts(ontology, label_samples, type_samples)
    characters = sum(counts[name] * mean(map(len, some)) for name, some in texts.items() if some)
    return AdoptionPlan(
        ontology=ontology,
        labels=chosen.labels,
        types=counts_of_types,
        skipped=chosen.skipped,
        tokens=round(characters / CHARACTERS_OF_TOKEN),
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


async def _sample(store: Store, kind: Kind, name: str, user_id: str) -> Sample:
    parameters = {
        "user_id": user_id,
        "sample": SAMPLE,
        "omitted": [*BOOKKEEPING, "entity_key", "user_id"],
        "text_limit": SAMPLE_TEXT,
    }
    text = statement(f"sample_adoptable_{kind}", label=Identifier(name))
    return [dict(row["fields"]) for row in await store.read(text, parameters)]


def _sample_texts(
    ontology: Ontology, label_samples: Mapping[str, Sample], type_samples: Mapping[str, Sample]
) -> dict[str, list[str]]:
    """About the texts to embed of the records of the samples, by label or type."""
    texts: dict[str, list[str]] = {}
    for label, sample in label_samples.items():
        made = (node_texts(own, ontology.labels[label]) for own in sample)
        texts[label] = [
            f"{own.get('name', name)} {own.get('description', description)}"[:MAX_EMBEDDED_TEXT]
            for own, (name, description) in zip(sample, made, strict=True)
        ]
    for neo4j_type, sample in type_samples.items():
        rule = ontology.relationships[neo4j_type]
        texts[neo4j_type] = [
            " ".join(relationship_texts(own, neo4j_type, rule, [_SOME_NAME, _SOME_NAME]))[
                :MAX_EMBEDDED_TEXT
            ]
            for own in sample
        ]
    return texts


async def _count_records(store: Store) -> int:
    parameters = {"own_labels": sorted(OWN_LABELS)}
    [row] = await store.read(statement("count_kgagent_records"), parameters, timeout=LONG_TIMEOUT)
    return int(row["found"])
