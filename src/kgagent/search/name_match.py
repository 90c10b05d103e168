"""Name match as a retriever: nodes with a name or alias that equals, contains or shares words with
a text.
"""

from collections.abc import Sequence

from kgagent.concurrency import task_group
from kgagent.graph.identifiers import Identifier
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.names import name_score, plain_text
from kgagent.search.candidates import Candidate, Ranking, node_key
from kgagent.search.scope import EVERY, RelationshipFilter, SearchScope
from kgagent.turns import in_turns

MIN_SCORE = 0.3

MAX_NODES = 1_000
"""Nodes of which names are scored for one text, unless more are requested: the likeliest."""


async def nodes_by_name(
    scope: SearchScope,
    texts: Sequence[str],
    *,
    labels: Sequence[str],
    limit: int,
    nodes: NodeRepository,
    kept: RelationshipFilter = EVERY,
) -> list[Ranking]:
    """Find, for each text, at most `limit` nodes with a name or alias that matches it, best first;
    see `kgagent.names.name_score`. Each is as it was at the time of `kept`, and trusted so far.

    Raises:
        StoreError: the database failed.
    """
    async with task_group() as group:
        tasks = [group.create_task(_best(scope, text, labels, limit)) for text in texts]
    best = [task.result() for task in tasks]
    keys = [key for scored in best for _, key in scored]
    records = (await nodes.read(scope.user_id, keys, labels)).values()
    then = [record for one in records if (record := kept.on_day(one)) is not None]
    trusted = [one for one in then if kept.min_trust is None or kept.keeps_node(one)]
    models = await in_turns(
        lambda record: kept.without_other_notes(record.to_model(scope.ontology)), trusted
    )
    found = {node.entity_key: node for node in models}
    return [
        Ranking(
            [
                Candidate(
                    node_key(key),
                    score,
                    similarity=score,
                    found_by=("name_match",),
                    result=found[key],
                )
                for score, key in scored
                if key in found
            ],
            "exact",
        )
        for scored in best
    ]


async def _best(
    scope: SearchScope, text: str, labels: Sequence[str], limit: int
) -> list[tuple[float, str]]:
    """Scores and keys of the nodes whose names match a text best, best first."""

    def best_of(rows: list[Row]) -> list[tuple[float, str]]:
        best: dict[str, float] = {}
        for node in rows[0]["nodes"]:
            score = max(name_score(text, name) for name in node["names"])
            best[node["entity_key"]] = max(score, best.get(node["entity_key"], 0.0))
        matching = ((score, key) for key, score in best.items() if score >= MIN_SCORE)
        return sorted(matching, key=lambda item: (-item[0], item[1]))[:limit]

    return await scope.read_as(
        best_of,
        statement("match_text", labels=Identifier.any_of(labels)),
        {
            "text": plain_text(text),
            "words": _words(plain_text(text)),
            "limit": max(limit, MAX_NODES),
        },
    )


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(text.split()))
