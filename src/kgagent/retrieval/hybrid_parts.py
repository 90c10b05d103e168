"""What the parts of a hybrid search found, and the one answer that is made of it."""

import asyncio
import logging
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from kgagent.errors import KgAgentError
from kgagent.models import GraphNode, GraphRelationship, RelationshipSearchResult
from kgagent.models.hybrid import Finder, HybridObject, HybridRelationship, HybridResult
from kgagent.models.search import Plan
from kgagent.retrieval.strategies import RANKINGS, Fused, Ranked

FINDERS: tuple[Finder, ...] = (*RANKINGS, "through")

WORDS_OF: Mapping[Finder, str] = {
    "graph": "nodes by meaning",
    "text": "nodes by their words",
    "relationship": "relationships by meaning",
    "relationship_text": "relationships by their words",
    "through": "nodes at the ends of relationships",
}
"""What each ranking is of, for a person to read."""

NODES: tuple[Finder, ...] = ("graph", "text")
RELATIONSHIPS: tuple[Finder, ...] = ("relationship", "relationship_text")

_log = logging.getLogger(__name__)

Parts = Mapping[Finder, "Found"]
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
        relationships: those that are relationships.
        plan: how a search by meaning was run.
        failure: why there is nothing, where the part could not be carried out.
    """

    ranking: Sequence[Ranked] = ()
    nodes: Mapping[str, GraphNode] = field(default_factory=dict)
    relationships: Mapping[str, GraphRelationship] = field(default_factory=dict)
    plan: Plan | None = None
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
        return otherwise, Failure("it failed inside; more is in the log of the host program", error)


def failures(parts: Parts) -> list[str]:
    """Which parts could not be carried out, and why."""
    return [
        f"Left out {WORDS_OF[finder]}: {parts[finder].failure}"
        for finder in FINDERS
        if finder in parts and parts[finder].failure is not None
    ]


def answer(parts: Parts, fused: Sequence[Fused], warnings: Sequence[str], *, with_relationships: bool) -> HybridResult:
    """Make the answer.

    Args:
        parts: what was found.
        fused: what is answered of it, best first.
        warnings: what is to be said beside that of the parts.
        with_relationships: whether relationships were asked for.
    """
    scores = {finder: {item.key: item.score for item in reversed(part.ranking)} for finder, part in parts.items()}
    objects, relationships = [], []
    for rank, item in enumerate(fused, start=1):
        found_by = tuple(finder for finder in FINDERS if item.key in scores.get(finder, ()))
        by_words = (scores[finder][item.key] for finder in found_by if finder in {"text", "relationship_text"})
        standing = {"rank": rank, "score": item.score, "found_by": found_by, "text_score": next(by_words, None)}
        first = parts[item.source]
        if item.key in first.nodes:
            similarity = scores.get("graph", {}).get(item.key)
            objects.append(HybridObject(**{**dict(first.nodes[item.key]), **standing, "similarity": similarity}))
        else:
            relationships.append(_relationship(first.relationships[item.key], standing))
    return HybridResult(
        objects=tuple(objects),
        relationships=tuple(relationships) if with_relationships else None,
        warnings=(*failures(parts), *(_emptiness(parts) if with_relationships else ()), *warnings),
        plan={finder: part.plan for finder, part in parts.items() if part.plan is not None},
    )


def ends_of(item: Fused, parts: Parts) -> tuple[str, ...]:
    """Keys of the two nodes that an item joins; none where it is a node itself."""
    relationship = parts[item.source].relationships.get(item.key)
    return () if relationship is None else (relationship.from_entity_key, relationship.to_entity_key)


def with_ends(fused: Sequence[Fused], parts: Parts) -> list[Fused]:
    """Let the two nodes of each relationship follow it, unless they stand before it, with its score.

    What speaks for a relationship speaks for its nodes, but must not put them before it.
    """
    ordered: dict[str, Fused] = {}
    for item in fused:
        ordered.setdefault(item.key, item)
        for key in map(node_key, ends_of(item, parts)):
            if key in parts["through"].nodes:
                ordered.setdefault(key, Fused(key, "through", item.score))
    return list(ordered.values())


def node_key(entity_key: str) -> str:
    """What a node is called in a ranking."""
    return f"object:{entity_key}"


def relationship_key(relationship: GraphRelationship) -> str:
    """What a relationship is called in a ranking; old graphs have several of one type between two nodes."""
    return f"relationship:{':'.join(relationship.pair)}:{relationship.relationship_type}"


def _relationship(relationship: GraphRelationship, standing: Mapping[str, object]) -> HybridRelationship:
    told = {name: getattr(relationship, name) for name in GraphRelationship.model_fields}
    path = relationship.path if isinstance(relationship, RelationshipSearchResult) else ()
    return HybridRelationship(**{**told, **standing, "triplet_text": relationship.triplet, "path": path})


def _emptiness(parts: Parts) -> Iterator[str]:
    """Say that nothing of one kind matched where something of the other did."""
    nodes, relationships = (
        any(parts[finder].ranking for finder in finders if finder in parts) for finders in (NODES, RELATIONSHIPS)
    )
    if nodes and not relationships and not any(parts[f].failure for f in RELATIONSHIPS if f in parts):
        yield "No relationship matched: what was found are nodes"
    if relationships and not nodes and not any(parts[f].failure for f in NODES if f in parts):
        yield "No node matched by itself: what was found are relationships and the nodes that they join"
