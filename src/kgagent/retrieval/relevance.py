"""How far the results of a search stand out, so that a search can say that nothing relevant was found.

A nearest record always exists, and how similar it is depends on the model, the query and the graph. Therefore
similarities are measured in units of the noise, the standard deviation of the similarities among a sample of the user's
own embeddings (cached for each user), and compared with the end of the query's own ranking:

    lead    = (similarity of the best - similarity at the end of the ranking) / deviation
    crowd   = (similarity at the end of the ranking - mean similarity of the sample) / deviation, at most 3
    words   = share of the query's words that occur in the results; if one has an attitude that it says, at least 0.5
    naming  = best overlap (Jaccard) of a capitalized phrase of the query, or of a query that is a name, with a name of
              a node in the results

of the kind, nodes or relationships, where lead and crowd are largest. The relevance is the logistic function of

    7.14 · naming² + 1.79 · lead - 2.04 · crowd + 4.75 · words - 5.4     if the query has such a phrase
    2.13 · lead + 5.43 · words - 6.8                                     otherwise

Logistic regression on one half of the questions of 2WikiMultihopQA, MetaQA and the sample graph, and of questions that
these graphs cannot answer, gave the weights; `benchmarks/fusion.py` measures both shares.
"""

import math
import re
import time
from collections.abc import Iterable, Sequence
from operator import mul

from kgagent.graph.lucene import content_words, forms
from kgagent.graph.records import NodeRecord
from kgagent.models.plain import aliases_in
from kgagent.retrieval.candidates import Candidate, Ranking, StoredRecord
from kgagent.retrieval.mentions import CONNECTING, WORD, capitalized_phrases, name_words
from kgagent.retrieval.noise import Noise, Sample, read_sample
from kgagent.retrieval.scope import SearchScope

MAX_SAMPLES, MAX_COMPARED = 1_000, 1_000
"""Number of users whose samples are cached; characters of a query whose words are compared with the results."""

RELEVANT = 0.5
"""Minimum relevance of results that count as relevant."""

MAX_CROWD, USUAL_LEAD, USUAL_CROWD = 3.0, 2.5, 1.0
"""Highest crowd that counts; lead and crowd that are assumed if a search returned too few matches to measure them."""

_PART = re.compile(r"\w+")


class Calibration:
    """A sample of each user's own embeddings, read once in ten minutes; with a warning, once in half a minute."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, Sample]] = {}

    async def sample(self, scope: SearchScope) -> Sample:
        """The sample of a user."""
        expires, known = self._known.get(scope.user_id, (0.0, None))
        if known is not None and expires > time.monotonic():
            return known
        known = await read_sample(scope)
        if len(self._known) >= MAX_SAMPLES:
            self._known.clear()
        self._known[scope.user_id] = (time.monotonic() + known.lifetime, known)
        return known


def relevance(
    query: str,
    vector: Sequence[float] | None,
    rankings: Iterable[tuple[Ranking | None, Noise | None]],
    found: Sequence[Candidate],
) -> float | None:
    """How far the results stand out; from 0.5, something relevant was found.

    Args:
        query: the query in words.
        vector: its embedding; None if it could not be embedded.
        rankings: what vector search returned for each kind, with the noise of that kind.
        found: the results with their full records.

    Returns:
        0 to 1; None if it would be below 0.5, but the user has too few records to tell.
    """
    every = [one.record for one in found if one.record is not None]
    if not every:
        return 0.0
    records = [one.record for one in found if one.record is not None and one.similarity is not None] or every
    of_kinds = list(rankings)
    measured = [stand for one in of_kinds if (stand := _standing(vector, *one))]
    lead, crowd = (max(column) for column in zip(*(measured or [(USUAL_LEAD, USUAL_CROWD)]), strict=True))
    is_said = any(one.text_score and one.found_by == ("relationship_vector",) for one in found)
    known = max(0.5 if is_said else 0.0, _known_words(query[:MAX_COMPARED], records))
    names = [_compared(name) for name in {name for record in every for name in _names(record)}]
    phrases = [_compared(phrase) for phrase in capitalized_phrases(query[:MAX_COMPARED])]
    phrases += [asked] if (asked := _compared(query[:MAX_COMPARED])) in names else []
    if phrases:
        naming = max((len(one & name) / len(one | name) for one in phrases for name in names if one), default=0.0)
        odds = 7.14 * naming**2 + 1.79 * lead - 2.04 * min(MAX_CROWD, crowd) + 4.75 * known - 5.4
    else:
        odds = 2.13 * lead + 5.43 * known - 6.8
    probability = 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odds))))
    return probability if probability >= RELEVANT or any(noise is not None for _, noise in of_kinds) else None


def _compared(name: str) -> set[str]:
    words = set(name_words(name))
    return words - CONNECTING or words


def _standing(
    vector: Sequence[float] | None, ranking: Ranking | None, noise: Noise | None
) -> tuple[float, float] | None:
    if vector is None or ranking is None or ranking.span is None or noise is None:
        return None
    best, last = ranking.span
    usual = sum(map(mul, noise.center, vector)) / math.hypot(*vector)
    return (best - last) / noise.deviation, (last - usual) / noise.deviation


def _known_words(query: str, records: Sequence[StoredRecord]) -> float:
    asked = content_words(query)
    text = " ".join(_text(record)[:10_000] for record in records).casefold()
    folded = " ".join(name_words(text)) if not text.isascii() else ""
    present = {part for word in {*WORD.findall(f"{text} {folded}")} for part in (word, *_PART.findall(word))}
    known = [w for w in asked if any(form.casefold() in (present if w.isascii() else text) for form in forms(w))]
    return len(known) / len(asked) if asked else 1.0


def _text(record: StoredRecord) -> str:
    ends = () if isinstance(record, NodeRecord) else (record.from_name, record.to_name)
    fields = ("name", "relationship_type", "description")
    return " ".join((*ends, *map(record.text, fields), *(note.content for note in record.notes)))


def _names(record: StoredRecord) -> tuple[str, ...]:
    if isinstance(record, NodeRecord):
        return (record.text("name"), *aliases_in(record.properties))
    return (record.from_name, record.to_name)
