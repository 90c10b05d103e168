"""What the parts of a hybrid search found, and the one answer that is made of it."""

import asyncio
import logging
from collections.abc import Awaitable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from kgagent.errors import KgAgentError
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.hybrid import HybridObject, HybridRelationship, HybridSearchResult, RetrieverName
from kgagent.models.search import SearchPlan
from kgagent.retrieval.beam import Step
from kgagent.retrieval.strategies import RANKINGS, Fused, Ranked

RETRIEVER_NAMES: tuple[RetrieverName, ...] = (*RANKINGS, "via_relationship")

RETRIEVER_DESCRIPTIONS: Mapping[RetrieverName, str] = {
    "node_vector": "nodes by meaning",
    "node_fulltext": "nodes by their words",
    "relationship_vector": "relationships by meaning",
    "relationship_fulltext": "relationships by their words",
    "via_relationship": "nodes at the ends of relationships",
}
"""What each ranking is of, for a person to read."""

NODES: tuple[RetrieverName, ...] = ("node_vector", "node_fulltext")
RELATIONSHIPS: tuple[RetrieverName, ...] = ("relationship_vector", "relationship_fulltext")

FAILED_INSIDE = "it failed inside; more is in the log of the host program"

OBJECT = "object:"
"""What the names of nodes in a ranking begin with."""

_log = logging.getLogger(__name__)

Parts = Mapping[RetrieverName, "Found"]
Records = Mapping[str, GraphNode | GraphRelationship]
"""What is shown of items, by their keys in the ranking."""
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class Failure:
    """Why a step could not be carried out; `unforeseen` is the fault, where it is one of the program's own."""

    why: str
    unforeseen: Exception | None = None

    def __str__(self) -> str:
        """The reason."""
        return self.why


@dataclass(frozen=True)
class Found:
    """What one part of a hybrid search found.

    Attributes:
        ranking: items, best first.
        nodes: those that are nodes, by their key in the ranking.
        relationships: those that are relationships, as far as they must be known to be ranked.
        steps: how those that were found by meaning were found.
        plan: how a search by meaning was run.
        failure: why there is nothing, where the part could not be carried out.
    """

    ranking: Sequence[Ranked] = ()
    nodes: Mapping[str, NodeRecord] = field(default_factory=dict)
    relationships: Mapping[str, RelationshipRecord] = field(default_factory=dict)
    steps: Mapping[str, Step] = field(default_factory=dict)
    plan: SearchPlan | None = None
    failure: Failure | None = None


async def tried(part: Awaitable[Found], timeout: float) -> Found:
    """A part's answer, or why there is none."""
    found, failure = await attempt(part, timeout, otherwise=Found())
    return found if failure is None else Found(failure=failure)


async def attempt(step: Awaitable[ResultT], timeout: float, *, otherwise: ResultT) -> tuple[ResultT, Failure | None]:
    """Take a step of a search that has others; where it fails, tell why and give what stands in for its result.

    Args:
        step: the step.
        timeout: seconds that it may take.
        otherwise: stands in for its result.
    """
    try:
        async with asyncio.timeout(timeout):
            return await step, None
    except TimeoutError:
        return otherwise, Failure(f"it took longer than {timeout:g} s")
    except KgAgentError as error:
        return otherwise, Failure(str(error))
    except Exception as error:
        # One part that fails in a way that nobody foresaw must not keep back what the others found.
        _log.exception("Part of a hybrid search failed")
        return otherwise, Failure(FAILED_INSIDE, error)


def failures(parts: Parts) -> list[str]:
    """Which parts could not be carried out, and why."""
    return [
        f"Left out {RETRIEVER_DESCRIPTIONS[finder]}: {parts[finder].failure}"
        for finder in RETRIEVER_NAMES
        if finder in parts and parts[finder].failure is not None
    ]


def answer(
    parts: Parts, records: Records, fused: Sequence[Fused], warnings: Sequence[str], *, with_relationships: bool
) -> HybridSearchResult:
    """Make the answer.

    Args:
        parts: what was found.
        records: what is shown of each item.
        fused: what is answered, best first.
        warnings: what is to be said beside that of the parts.
        with_relationships: whether relationships were asked for.
    """
    scores = {finder: {item.key: item.score for item in reversed(part.ranking)} for finder, part in parts.items()}
    steps = parts["relationship_vector"].steps if "relationship_vector" in parts else {}
    objects, relationships = [], []
    for rank, item in enumerate(fused, start=1):
        found_by = tuple(finder for finder in RETRIEVER_NAMES if item.key in scores.get(finder, ()))
        by_words = (
            scores[finder][item.key] for finder in found_by if finder in {"node_fulltext", "relationship_fulltext"}
        )
        standing = {"rank": rank, "score": item.score, "found_by": found_by, "text_score": next(by_words, None)}
        record = records[item.key]
        if isinstance(record, GraphNode):
            similarity = scores.get("node_vector", {}).get(item.key)
            objects.append(HybridObject(**{**dict(record), **standing, "similarity": similarity}))
        else:
            relationships.append(_relationship(record, steps.get(item.key), standing))
    return HybridSearchResult(
        objects=tuple(objects),
        relationships=tuple(relationships) if with_relationships else None,
        warnings=(*failures(parts), *(_emptiness(parts) if with_relationships else ()), *warnings),
        plan={finder: part.plan for finder, part in parts.items() if part.plan is not None},
    )


def with_ends(
    fused: Sequence[Fused], relationships: Mapping[str, RelationshipRecord], labels: Collection[str], room: int
) -> tuple[list[Fused], list[Ranked]]:
    """Let the two nodes of each relationship follow it, unless they stand before it, with its score.

    What speaks for a relationship speaks for its nodes, but must not put them before it.

    Args:
        fused: items, best first.
        relationships: those among them that are relationships.
        labels: labels that a node must carry one of.
        room: items after which no more nodes are let in, since none of them could be answered.

    Returns:
        All items, and those that stand at the end of a relationship, as a ranking of their own.
    """
    ordered: dict[str, Fused] = {}
    ends: dict[str, float] = {}
    for item in fused:
        has_room = len(ordered) < room
        ordered.setdefault(item.key, item)
        if not has_room or item.key not in relationships:
            continue
        for entity_key, carried in relationships[item.key].ends_in_direction.items():
            if not set(labels).isdisjoint(carried):
                key = node_key(entity_key)
                ends.setdefault(key, item.score)
                ordered.setdefault(key, Fused(key, "via_relationship", item.score))
    return list(ordered.values()), [Ranked(key, score) for key, score in ends.items()]


def node_key(entity_key: str) -> str:
    """What a node is called in a ranking."""
    return f"{OBJECT}{entity_key}"


def entity_key_of(key: str) -> str:
    """The key of the node that is called so in a ranking."""
    return key.removeprefix(OBJECT)


def relationship_key(relationship: RelationshipRecord) -> str:
    """What a relationship is called in a ranking; old graphs have several of one type between two nodes."""
    first, second = sorted((relationship.from_entity_key, relationship.to_entity_key))
    return f"relationship:{relationship.neo4j_type}:{first}:{second}:{relationship.text('relationship_type')}"


def _relationship(
    relationship: GraphRelationship, step: Step | None, standing: Mapping[str, object]
) -> HybridRelationship:
    told = {**dict(relationship), **standing, "triplet_text": relationship.triplet}
    if step is not None:
        told |= {"similarity": step.similarity, "path": tuple(record.triplet for record in step.path)}
    return HybridRelationship.model_validate(told)


def _emptiness(parts: Parts) -> Iterator[str]:
    """Say that nothing of one kind matched where something of the other did."""
    nodes, relationships = (
        any(parts[finder].ranking for finder in finders if finder in parts) for finders in (NODES, RELATIONSHIPS)
    )
    if nodes and not relationships and not any(parts[f].failure for f in RELATIONSHIPS if f in parts):
        yield "No relationship matched: what was found are nodes"
    if relationships and not nodes and not any(parts[f].failure for f in NODES if f in parts):
        yield "No node matched by itself: what was found are relationships and the nodes that they join"
