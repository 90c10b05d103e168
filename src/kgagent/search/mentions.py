"""The hop from a passage to what it names: which nodes the text of a passage names is read when it
was found, so that it follows every change of a name.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from kgagent.names import plain_words
from kgagent.search.candidates import Candidate
from kgagent.search.expand import TEMPERATURE
from kgagent.search.features import FeatureReader, StoredRecord
from kgagent.search.query import Query, names_in
from kgagent.search.retrieve import SearchSpec, at_named_nodes
from kgagent.search.score import Features, score
from kgagent.search.vectors import VectorSearch

LEADS = 5
"""Passages of a query from which a search follows the names."""


@dataclass(frozen=True, slots=True)
class Lead:
    """A passage that was retrieved.

    Attributes:
        record: the source that has it.
        text: the passage in its section.
        features: of the passage.
    """

    record: StoredRecord
    text: str
    features: Features


@dataclass(frozen=True, slots=True)
class Mention:
    """A record that a passage leads to.

    Attributes:
        candidate: the record with its statements.
        features: of the way from the query through the passage to the record.
        score: of these.
    """

    candidate: Candidate
    features: Features
    score: float


def leads_of(
    reader: FeatureReader, candidates: Sequence[Candidate], weights: Features
) -> list[Lead]:
    """The best passages that were retrieved for a query."""
    leads = []
    for one in candidates:
        record = one.record
        if not one.passages or record is None:
            continue
        statements = one.texts
        features, _ = reader.of_statements(record, statements, weights)
        leads += [
            Lead(record, text, of_text)
            for (text, _), own, of_text in zip(statements, one.statements, features, strict=True)
            if own in one.passages
        ]
    return sorted(leads, key=lambda lead: -score(lead.features, weights))[:LEADS]


async def mentioned(
    spec: SearchSpec,
    vectors: VectorSearch,
    readers: Sequence[FeatureReader],
    leads: Sequence[Sequence[Lead]],
) -> list[dict[str, Mention]]:
    """Follow passages to the records at the nodes that they name, in one statement.

    Args:
        spec: whose graph, and which relationships to keep.
        vectors: knows which relationships are searched.
        readers: of each query.
        leads: its passages.

    Returns:
        For each query the best way to each record, by the key of its candidate.

    Raises:
        StoreError: the database failed.
    """
    asked = [(position, lead) for position, of_query in enumerate(leads) for lead in of_query]
    queries = [_read(readers[position].query, lead.text) for position, lead in asked]
    owners, stop_words = spec.scope.owners, spec.scope.ontology.stop_words
    names = [names_in(lead.text, owners, without=stop_words) for _, lead in asked]
    returned = await at_named_nodes(spec, queries, names, vectors, 0)
    found: list[dict[str, Mention]] = [{} for _ in readers]
    for (position, lead), one in zip(asked, returned, strict=True):
        reached = filter(spec.searches, one.ranking.candidates)
        for mention in _mentions(readers[position], lead, reached, spec.weights):
            key = mention.candidate.key
            known = found[position].get(key)
            if known is None or mention.score > known.score:
                found[position][key] = mention
    return found


def _read(query: Query, text: str) -> Query:
    embedded = replace(query.embedded, text=text)
    return Query(embedded, tokens=plain_words(text))


def _mentions(
    reader: FeatureReader, lead: Lead, reached: Iterable[Candidate], weights: Features
) -> list[Mention]:
    """The records at the nodes that a passage names; the more there are, and the less similar to
    the query, the more the choice of one costs.
    """
    chosen = [
        (one, one.record)
        for one in reached
        if one.record is not None and one.record.element_id != lead.record.element_id
    ]
    total = sum(math.exp(one.score / TEMPERATURE) for one, _ in chosen)
    mentions = []
    for one, record in chosen:
        best = max(one.statements, key=lambda text: one.statements[text] or 0.0, default="")
        doubt = TEMPERATURE * math.log(total) - one.score
        features = reader.of_mention(lead.features, [lead.text, best], [lead.record, record], doubt)
        mentions.append(Mention(one, features, score(features, weights)))
    return mentions
