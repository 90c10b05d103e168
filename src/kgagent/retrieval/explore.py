"""Broad investigation: every search at once, fused, with what surrounds the hits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgagent.concurrency import task_group
from kgagent.errors import InputError
from kgagent.models import (
    ExploredNode,
    ExploreRequest,
    ExploreResult,
    GraphNode,
    GraphRelationship,
    NodeSearchResult,
    RelationshipSearchResult,
    Signal,
)
from kgagent.models.search import ExploreSignal
from kgagent.ontology import Ontology
from kgagent.retrieval.fusion import reciprocal_rank_fusion
from kgagent.retrieval.nearest import NearestQuery

if TYPE_CHECKING:
    from kgagent.retrieval.service import RetrievalService

NOTHING_ASKED = "At least one search method required (queries or text_matches)"
NODES_OF_A_LABEL = 20
RELATIONSHIPS = 20


@dataclass(frozen=True)
class _Found:
    """What the searches gave: signals per node key, nodes seen, relationships that matched, best first."""

    rankings: tuple[tuple[tuple[str, Signal], ...], ...]
    nodes: dict[str, GraphNode]
    relationships: tuple[RelationshipSearchResult, ...]


class Explorer:
    """Answers `explore`."""

    def __init__(self, retrieval: "RetrievalService", ontology: Ontology) -> None:
        self._retrieval = retrieval
        self._ontology = ontology

    async def explore(self, request: ExploreRequest, user_id: str) -> ExploreResult:
        """Search, fuse, cut to the best of each label, and expand.

        Raises:
            InputError: nothing was asked for, or a label is unknown.
        """
        if not request.queries and not request.text_matches:
            raise InputError(NOTHING_ASKED)
        labels = self._retrieval.known_labels(request.labels)
        found = await self._search(request, user_id, labels)
        kept = self._best(found, labels, request.limit_per_label)
        expansion = await self._retrieval.expand_graph([item.node.entity_key for item in kept], user_id=user_id)
        relationships = _each_once((*found.relationships, *expansion.relationships))
        return ExploreResult(nodes=kept, relationships=relationships, neighbours=expansion.neighbours)

    async def _search(self, request: ExploreRequest, user_id: str, labels: Sequence[str]) -> _Found:
        texts = [query.query for query in request.queries]
        vectors = await self._retrieval.embed_queries(texts) if texts else []
        near = [NearestQuery(v, q.threshold, q.query) for v, q in zip(vectors, request.queries, strict=True)]
        of_each = max(NODES_OF_A_LABEL, request.limit_per_label)
        async with task_group() as group:
            by_node = group.create_task(self._retrieval.nodes_near(near, user_id=user_id, labels=labels, limit=of_each))
            by_relationship = group.create_task(self._relationships(request, near, user_id))
            by_text = [
                group.create_task(
                    self._retrieval.text_match(text, user_id=user_id, labels=labels, limit=of_each * len(labels))
                )
                for text in request.text_matches
            ]
        matches = by_relationship.result()
        unseen = {
            key for matched in matches for match in matched for key in (match.from_entity_key, match.to_entity_key)
        }
        hits = [hit for ranking in by_node.result() for hit in ranking]
        hits += [hit for task in by_text for hit in task.result()]
        nodes = {hit.node.entity_key: hit.node for hit in hits}
        nodes |= {
            n.entity_key: n
            for n in await self._retrieval.nodes(sorted(unseen - nodes.keys()), user_id=user_id, labels=labels)
        }
        return _Found(
            rankings=(
                *(_node_signals("node_vector", t, ranking) for t, ranking in zip(texts, by_node.result(), strict=True)),
                *(
                    _node_signals("name_match", t, task.result())
                    for t, task in zip(request.text_matches, by_text, strict=True)
                ),
                *(_relationship_signals(matched) for matched in matches),
            ),
            nodes=nodes,
            relationships=_most_similar(match for matched in matches for match in matched),
        )

    async def _relationships(
        self, request: ExploreRequest, near: Sequence[NearestQuery], user_id: str
    ) -> list[Sequence[RelationshipSearchResult]]:
        if not request.search_relationships:
            return []
        found = await self._retrieval.relationships_near(
            near,
            user_id=user_id,
            relationship_types=request.relationship_types,
            limit=RELATIONSHIPS,
            expand_hops=request.expand_hops,
        )
        return list(found)

    def _best(self, found: _Found, labels: Sequence[str], of_each: int) -> tuple[ExploredNode, ...]:
        def tie_break(key: str) -> tuple[int, str]:
            return (self._ontology.label_order[found.nodes[key].label], key)

        rankings = [
            [(key, signal.rank) for key, signal in ranking if key in found.nodes and found.nodes[key].label in labels]
            for ranking in found.rankings
        ]
        room = dict.fromkeys(labels, of_each)
        kept = []
        for key, score in reciprocal_rank_fusion(rankings, tie_break=tie_break):
            node = found.nodes[key]
            if room[node.label] > 0:
                room[node.label] -= 1
                signals = tuple(signal for ranking in found.rankings for other, signal in ranking if other == key)
                kept.append(ExploredNode(node=node, score=score, signals=signals))
        return tuple(kept)


def _node_signals(
    source: ExploreSignal, text: str, ranking: Iterable[NodeSearchResult]
) -> tuple[tuple[str, Signal], ...]:
    return tuple(
        (
            hit.node.entity_key,
            Signal(source=source, matched=text, rank=rank, similarity=hit.similarity),
        )
        for rank, hit in enumerate(ranking, start=1)
    )


def _relationship_signals(matches: Iterable[RelationshipSearchResult]) -> tuple[tuple[str, Signal], ...]:
    """Both ends of a relationship rank as it does; a node that several lead to ranks as the best of them."""
    best: dict[str, Signal] = {}
    for rank, match in enumerate(matches, start=1):
        signal = Signal(
            source="via_relationship",
            matched=match.description or match.relationship_type,
            rank=rank,
            similarity=match.similarity,
        )
        for key in (match.from_entity_key, match.to_entity_key):
            best.setdefault(key, signal)
    return tuple(best.items())


def _most_similar(matches: Iterable[RelationshipSearchResult]) -> tuple[RelationshipSearchResult, ...]:
    """Each relationship once with its best similarity, best first."""
    best: dict[tuple[str, str, str], RelationshipSearchResult] = {}
    for match in sorted(matches, key=lambda match: (-match.similarity, match.pair)):
        best.setdefault(match.pair, match)
    return tuple(best.values())


def _each_once(relationships: Iterable[GraphRelationship]) -> tuple[GraphRelationship, ...]:
    first: dict[tuple[str, str, str], GraphRelationship] = {}
    for relationship in relationships:
        first.setdefault(relationship.pair, relationship)
    return tuple(first.values())
