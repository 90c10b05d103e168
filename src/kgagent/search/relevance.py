"""How far the results of a search stand out, so that a search can say that nothing relevant was
found.

A nearest statement always exists, and how similar it is depends on the model, the query and the
graph. Therefore its similarity is compared with the end of the query's own ranking:

    lead    = (similarity of the best - similarity of the 50th) / (1 - similarity of the 50th)
    words   = share of the query's longer words that occur in the results in some form
    named   = whether the query names a node by its name or another name

The relevance is the logistic function of

    ODDS · (lead, words, named, 1)

`benchmarks/fit_weights.py` fits the odds by logistic regression on questions that graphs can and
cannot answer.
"""

import math
from collections.abc import Sequence
from operator import mul

from kgagent.graph.records import NodeRecord
from kgagent.models.graph import GraphNode, GraphRelationship
from kgagent.models.plain import aliases_in
from kgagent.names import plain_words, words_in_some_form
from kgagent.search.candidates import Candidate, Ranking
from kgagent.search.features import StoredRecord, nodes_of
from kgagent.search.search import READ, Ranked

MAX_COMPARED = 10_000
"""Characters of a record that are compared with the query."""

LEAST_ROOM = 0.01
"""Least distance of the last similarity from 1 that a lead is divided by."""

BEST = 3
"""Results of which one at least is about a node that the query names, or the answer says that none
is.
"""

RELEVANT = 0.5
"""Minimum relevance of results that count as relevant."""

USUAL_LEAD = 0.3
"""Lead that is assumed if a search returned too few matches to measure it."""

ODDS = (13.4, 1.83, 2.02, -5.97)
"""Weights of lead, words, named and 1 in the logarithm of the odds."""


def relevance(ranked: Ranked, candidates: Sequence[Candidate]) -> float | None:
    """How far the results stand out; from 0.5, something relevant was found.

    Args:
        ranked: what was found for a query.
        candidates: the results, scored.

    Returns:
        0 to 1; None if it would be below 0.5, but the user has too few statements to tell.
    """
    if not candidates:
        return 0.0
    log_odds = math.fsum(map(mul, ODDS, (*signals(ranked, candidates), 1.0)))
    probability = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, log_odds))))
    return probability if probability >= RELEVANT or _span(ranked) is not None else None


def names_without_match(ranked: Ranked, candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """The names in a query that none of the best results has, nor the path to it: in a node, or in
    its text.
    """
    query = ranked.retrieved.query
    for one in candidates[:BEST]:
        for record in (one.record, *one.path):
            if record is not None and not query.named.keys().isdisjoint(nodes_of(record)):
                return ()
        present = frozenset(
            () if one.record is None or one.result is None else _words(one.record, one.result)
        )
        if any(present.issuperset(plain_words(name)) for name in query.names.values()):
            return ()
    return tuple(dict.fromkeys(query.names.values()))


def signals(ranked: Ranked, candidates: Sequence[Candidate]) -> tuple[float, float, float]:
    """Lead, words and named; see the module."""
    query = ranked.retrieved.query
    span = _span(ranked)
    lead = USUAL_LEAD if span is None else (span[0] - span[1]) / max(1.0 - span[1], LEAST_ROOM)
    return lead, _known_words(ranked, candidates), 1.0 if query.named else 0.0


def _span(ranked: Ranked) -> tuple[float, float] | None:
    return ranked.retrieved.rankings.get("statement_vector", Ranking()).span


def _known_words(ranked: Ranked, candidates: Sequence[Candidate]) -> float:
    """The share of the query's longer words that the best records have in some form, however many
    were read.
    """
    asked = ranked.retrieved.query.type_words
    compared = {one.key for one in ranked.candidates[:READ]}
    present = {
        word
        for one in candidates
        if one.key in compared and one.record is not None and one.result is not None
        for word in _words(one.record, one.result)
    }
    return len(words_in_some_form(asked, present)) / len(asked) if asked else 1.0


def _words(record: StoredRecord, result: GraphNode | GraphRelationship) -> list[str]:
    """The words of a record."""
    if isinstance(record, NodeRecord):
        names = (record.text("name"), *aliases_in(record.properties))
    else:
        names = (record.from_name, record.text("relationship_type"), record.to_name)
    text = " ".join((*names, result.description, *(note.searched_text for note in result.notes)))
    return plain_words(text[:MAX_COMPARED])
