"""Finding nodes by their names."""

from collections.abc import Sequence

from kgagent.graph.identifiers import Identifier
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.statements import statement
from kgagent.models import Matches, NodeSearchResult
from kgagent.retrieval.text_score import text_score, tokens

MIN_SCORE = 0.3


async def match_text(
    nodes: NodeRepository, text: str, *, user_id: str, labels: Sequence[str], limit: int, timeout: float
) -> Matches[NodeSearchResult]:
    """Find the user's nodes whose name matches a text, best first.

    Args:
        nodes: reads the nodes.
        text: what the name is compared with, see `text_score`.
        user_id: whose nodes.
        labels: labels that a node may carry.
        limit: nodes at the most.
        timeout: seconds that the search may take on the server.

    Raises:
        StoreError: the database failed.
    """
    rows = await nodes.store.read(
        statement("match_text", labels=Identifier.any_of(labels)),
        {"user_id": user_id, "tokens": words_to_look_for(text), "texts": [text.lower()]},
        timeout=timeout,
    )
    scored = ((text_score(text, row["name"]), row["entity_key"]) for row in rows)
    best = sorted((item for item in scored if item[0] >= MIN_SCORE), key=lambda item: (-item[0], item[1]))[:limit]
    scores = {key: score for score, key in best}
    found = await nodes.get(user_id, list(scores), labels)
    return Matches([NodeSearchResult(node=node, similarity=scores[node.entity_key]) for node in found], plan="exact")


def words_to_look_for(text: str) -> list[str]:
    """The words of a text as the database may hold them: it knows lower case, but not that "ß" folds to "ss"."""
    return list(dict.fromkeys((*tokens(text), *text.lower().split())))
