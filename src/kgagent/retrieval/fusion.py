"""Stage 2, fuse: one ranking from several, by evidence unless another strategy is chosen.

RRF uses only ranks, so the end of one ranking outvotes the head of another. The default compares the scores themselves:

    score(item) = similarity + 0.03 · text - 0.06 if it is a node

`similarity` is what the vector search ranks by (plain cosine, or the score of a path in the same unit), but at least
least + (best - least) · text / matches², where `least` is the lowest score of its kind and `best` the highest of all: a
record that alone contains the words of the query ranks with the best, and one of many such records gains little; up to
ten relationships with an attitude that the query says rank with the best. `text` is the highest full-text score,
relative to the best match, among the item and the path to it; the start of the path counts no more than the more
similar matches at its nodes, so that no path overtakes these. The weights were chosen on 2WikiMultihopQA and MetaQA.

Nodes have no paths, so they would overtake relationships whose path fits less. Therefore, as long as there are
relationships, at most five nodes more than relationships come first; further nodes rank right below the next ones.
"""

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace

from kgagent.graph.records import RelationshipRecord
from kgagent.models.hybrid import FusedRetriever, FusionStrategy
from kgagent.retrieval.candidates import RETRIEVERS, Candidate, Rankings, first_of_each, first_retrievers, key_of
from kgagent.retrieval.fusion_strategies import RRF_K, Scores, by_strategy

TEXT_WEIGHT = 0.03
"""Weight of a full-text score beside a cosine."""

NODE_COST = 0.06
"""About one standard deviation of unrelated similarities; a node repeats a name, a relationship states a fact."""

EXTRA_NODES, FEW_SAID = 5, 10

_KINDS: tuple[tuple[FusedRetriever, FusedRetriever, float], ...] = (
    ("node_vector", "node_fulltext", NODE_COST),
    ("relationship_vector", "relationship_fulltext", 0.0),
)
"""Vector search, full-text search and cost of each kind of item."""


def fuse(
    rankings: Rankings,
    *,
    strategy: FusionStrategy = "calibrated",
    limit: int | None = None,
    weights: Mapping[FusedRetriever, float] | None = None,
    k: int = RRF_K,
    named: Set[str] = frozenset(),
) -> list[Candidate]:
    """Fuse rankings.

    Args:
        rankings: each best first; if an item is in one twice, the first counts.
        strategy: `calibrated` compares scores, see above; for the others, see `HybridSearchRequest.strategy`.
        limit: maximum number of items; None keeps all.
        weights: for `weighted`; they are divided by their sum.
        k: for `rrf`; 0 or less means 60.
        named: keys of the nodes whose names contain the whole query, which `calibrated` ranks with the best.

    Returns:
        Each item once, best first, with what all its retrievers know of it; equal scores are ordered by retriever and
        then by key.

    Raises:
        InputError: the strategy is unknown, or the weights are invalid.
    """
    lists = {name: list(first_of_each(rankings.get(name, ())).values()) for name in RETRIEVERS}
    scores = calibrated(lists, named) if strategy == "calibrated" else by_strategy(strategy, lists, weights, k)
    finds: dict[str, list[tuple[FusedRetriever, Candidate]]] = {}
    for name in RETRIEVERS:
        for item in lists[name]:
            finds.setdefault(item.key, []).append((name, item))
    fused = [_merged(finds[key], score) for key, score in scores]
    return (list(_balanced(fused)) if strategy == "calibrated" else fused)[:limit]


def calibrated(lists: Rankings, named: Set[str] = frozenset()) -> Scores:
    """Keys with their scores by the formula above, best first; of equal ones, the more similar first."""
    first = first_retrievers(lists)
    similar: dict[str, float] = {}
    best = max((item.score - cost for semantic, _, cost in _KINDS for item in lists[semantic]), default=0.0)
    scores: dict[str, float] = {}
    for semantic, fulltext, cost in _KINDS:
        texts = {item.key: item.score for item in lists[fulltext]}
        texts |= {item.key: item.text_score for item in lists[semantic] if item.text_score is not None}
        least = min((item.score for item in lists[semantic]), default=0.0) - cost
        parts = {key: 1.0 if key in named else text / len(texts) ** 2 for key, text in texts.items()}
        floors = {key: least + (best - least) * part for key, part in parts.items()}
        scores |= {key: floors.get(key, least) + TEXT_WEIGHT * text for key, text in texts.items()}
        direct = [(one.score, texts.get(one.key, 0.0), _ends(one.record)) for one in lists[semantic] if not one.path]
        for item in lists[semantic]:
            text = max(texts.get(key, 0.0) for key in (item.key, *map(key_of, item.path[1:])))
            if item.path:
                start = _ends(item.path[0])
                nearer = [one for score, one, ends in direct if score >= item.score and not ends.isdisjoint(start)]
                text = max(text, min(nearer, default=0.0))
            similar[item.key] = item.score - cost
            scores[item.key] = max(similar[item.key], floors.get(item.key, least)) + TEXT_WEIGHT * text
    return sorted(scores.items(), key=lambda one: (-one[1], -similar.get(one[0], -math.inf), first[one[0]], one[0]))


def _balanced(fused: Sequence[Candidate]) -> Iterator[Candidate]:
    """Nodes in excess of `EXTRA_NODES` after the next relationships."""
    waiting: deque[Candidate] = deque()
    room = EXTRA_NODES
    for item in fused:
        is_node = not isinstance(item.record, RelationshipRecord)
        if is_node and not room:
            waiting.append(item)
            continue
        yield item
        room += -1 if is_node else 1
        if waiting and not is_node:
            yield replace(waiting.popleft(), score=item.score)
            room -= 1
    yield from waiting


def _ends(record: object) -> set[str]:
    return set(record.ends_in_direction) if isinstance(record, RelationshipRecord) else set()


def _merged(finds: Sequence[tuple[FusedRetriever, Candidate]], score: float) -> Candidate:
    """One item from what its retrievers know of it; where two know the same, the first counts."""
    (_, first), *others = finds
    similarity, text_score, path = first.similarity, first.text_score, first.path
    for _, item in others:
        similarity = item.similarity if similarity is None else similarity
        text_score = item.text_score if text_score is None else text_score
        path = path or item.path
    return Candidate(first.key, score, first.record, similarity, text_score, path, tuple([name for name, _ in finds]))
