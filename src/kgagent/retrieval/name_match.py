"""Name match as a retriever: nodes with a name or alias that equals, contains or shares words with a text."""

from collections.abc import Sequence

from kgagent.graph.identifiers import Identifier
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.statements import statement
from kgagent.retrieval.candidates import Candidate, Ranking, node_key
from kgagent.retrieval.scope import SearchScope

MIN_SCORE = 0.3

EXACT_NAME = 1.0
"""Score of a name that equals the text."""

SHARED_WORDS = 0.6
"""Highest score of a name that only shares words with the text."""


async def nodes_by_name(
    scope: SearchScope, text: str, *, labels: Sequence[str], limit: int, nodes: NodeRepository
) -> Ranking:
    """Find nodes with a name or alias that matches a text, best first; see `name_score`.

    Raises:
        StoreError: the database failed.
    """
    rows = await scope.read(
        statement("match_text", labels=Identifier.any_of(labels)),
        {"tokens": _search_words(text), "texts": [text.lower()]},
    )
    scored: dict[str, float] = {}
    for row in rows:
        scored[row["entity_key"]] = max(name_score(text, row["name"]), scored.get(row["entity_key"], 0.0))
    matching = ((score, key) for key, score in scored.items() if score >= MIN_SCORE)
    best = sorted(matching, key=lambda item: (-item[0], item[1]))[:limit]
    found = {node.entity_key: node for node in await nodes.get(scope.user_id, [key for _, key in best], labels)}
    return Ranking(
        [
            Candidate(node_key(key), score, similarity=score, found_by=("name_match",), result=found[key])
            for score, key in best
            if key in found
        ],
        "exact",
    )


def name_score(text: str, name: str) -> float:
    """Score a name against a text, ignoring case.

    Returns:
        1.0 if they are equal; 0.7 to 1.0 if one contains the other, by their lengths; up to 0.6 by the share of common
        words; otherwise 0.0.
    """
    one, other = text.casefold().strip(), name.casefold().strip()
    if not one or not other:
        return 0.0
    if one == other:
        return EXACT_NAME
    short, long = sorted((one, other), key=len)
    if short in long:
        return 0.7 + 0.3 * len(short) / len(long)
    words, others = _words(one), _words(other)
    return min(SHARED_WORDS, len(set(words) & set(others)) / max(len(words), len(others)))


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(text.casefold().split()))


def _search_words(text: str) -> list[str]:
    """The words as the database may contain them: it can lower case, but not fold "ß" to "ss"."""
    return list(dict.fromkeys((*_words(text), *text.lower().split())))
