"""How far the results of a search stand out, so that a search can say that nothing relevant was found.

A nearest record always exists, and how similar it is depends on the model, the query and the graph. Therefore
similarities are measured in units of the noise, the standard deviation of the similarities among a sample of the user's
own embeddings (cached for each user), and compared with the end of the query's own ranking:

    lead    = (similarity of the best - similarity at the end of the ranking) / deviation
    words   = share of the query's longer words that occur in the results in some form
    named   = whether the query names a node by its name or another name

of the kind, nodes or relationships, where lead is largest. The relevance is the logistic function of

    ODDS · (lead, words, named, 1)

`benchmarks/fit_weights.py` fits the odds by logistic regression on questions that graphs can and cannot answer.
"""

import math
import time
from collections.abc import Iterable, Sequence
from operator import mul

from kgagent.graph.records import NodeRecord
from kgagent.models.plain import aliases_in
from kgagent.plain_names import folded_words, words_in_some_form
from kgagent.search.candidates import Candidate, Ranking, StoredRecord
from kgagent.search.noise import Noise, Sample, read_sample
from kgagent.search.pipeline import QueryResult
from kgagent.search.query import long_words
from kgagent.search.retrieve import attempt
from kgagent.search.scope import SearchScope

MAX_SAMPLES, MAX_COMPARED = 1_000, 10_000
"""Number of users whose samples are cached; characters of a record that are compared with the query."""

RELEVANT = 0.5
"""Minimum relevance of results that count as relevant."""

USUAL_LEAD = 2.5
"""Lead that is assumed if a search returned too few matches to measure it."""

ODDS = (2.78, 4.05, 2.02, -9.7)
"""Weights of lead, words, named and 1 in the logarithm of the odds."""


class Calibration:
    """A sample of each user's own embeddings, read once in ten minutes; with a warning, once in half a minute."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, Sample]] = {}

    def known(self, scope: SearchScope) -> Sample:
        """The sample of a user as far as it was read."""
        return self._known.get(scope.user_id, (0.0, Sample()))[1]

    async def reading(self, scope: SearchScope, timeout: float) -> None:
        """Read the sample of a user, unless it is known; a failure leaves it unknown."""
        expires, _ = self._known.get(scope.user_id, (0.0, None))
        if expires > time.monotonic():
            return
        sample, failure = await attempt(read_sample(scope), timeout, default=Sample())
        if failure is not None:
            return
        if len(self._known) >= MAX_SAMPLES:
            self._known.clear()
        self._known[scope.user_id] = (time.monotonic() + sample.lifetime, sample)


def relevance(
    result: QueryResult, noise: tuple[Noise | None, Noise | None], hydrated: Sequence[Candidate]
) -> float | None:
    """How far the results stand out; from 0.5, something relevant was found.

    Args:
        result: what was found for a query.
        noise: the noise of nodes and of relationships; None for a kind with too few.
        hydrated: the results with their full records.

    Returns:
        0 to 1; None if it would be below 0.5, but the user has too few records to tell.
    """
    records = [item.record for item in hydrated if item.record is not None]
    if not records:
        return 0.0
    values = (*signals(result, noise, records), 1.0)
    log_odds = math.fsum(map(mul, ODDS, values))
    probability = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, log_odds))))
    return probability if probability >= RELEVANT or any(one is not None for one in noise) else None


def signals(
    result: QueryResult, noise: tuple[Noise | None, Noise | None], records: Sequence[StoredRecord]
) -> tuple[float, float, float]:
    """Lead, words and named; see the module."""
    kinds = zip(("node_vector", "relationship_vector"), noise, strict=True)
    leads = [_lead(result.rankings.get(name), own) for name, own in kinds]  # type: ignore[call-overload]
    lead = max((value for value in leads if value is not None), default=USUAL_LEAD)
    return lead, _known_words(result.query.text, records), 1.0 if result.names_a_node else 0.0


def _lead(ranking: Ranking | None, noise: Noise | None) -> float | None:
    if ranking is None or ranking.span is None or noise is None:
        return None
    best, last = ranking.span
    return (best - last) / noise.deviation


def _known_words(query: str, records: Iterable[StoredRecord]) -> float:
    asked = long_words(query)
    present = {word for record in records for word in folded_words(_text(record)[:MAX_COMPARED])}
    return len(words_in_some_form(asked, present)) / len(asked) if asked else 1.0


def _text(record: StoredRecord) -> str:
    if isinstance(record, NodeRecord):
        names = (record.text("name"), *aliases_in(record.properties))
    else:
        names = (record.from_name, record.to_name)
    fields = (record.text("relationship_type"), record.text("description"))
    return " ".join((*names, *fields, *(note.content for note in record.notes)))
