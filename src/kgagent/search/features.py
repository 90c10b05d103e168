"""The features of a candidate: of a statement by itself, or of a path of relationships that leads
from one.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import NamedTuple

from kgagent.graph.lucene import forms
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.models.search import MAX_HOPS
from kgagent.models.when import OPEN_START, holds
from kgagent.names import are_forms, plain_words
from kgagent.search.query import Query
from kgagent.search.score import Features, score

StoredRecord = NodeRecord | RelationshipRecord

FULL_NAMED = 2
"""Named nodes that give the full feature: a question about more than two nodes is rare."""

FULL_STATEMENTS = 2
"""How many times the words of the best retrieved statement give the full feature: a path has those
of several.
"""

NOTE_LENGTH = 200
"""Characters of a text whose words weigh in full."""

LEVEL_REACH = 1.5
"""Steps from the level that the query says at which a level of a relationship counts nothing."""

REPEATED_WORD = 0.5
"""What a word that explains the type of one relationship of a path counts for a further one."""


class PathFacts(NamedTuple):
    """What the features of a path are made of.

    Attributes:
        records: its relationships, from one that was retrieved.
        similarity: plain cosine with the query of the statement that it starts with.
        words: bits of the query's words that its relationships have.
        doubt: cost of its choices, in cosine.
    """

    records: Sequence[RelationshipRecord]
    similarity: float
    words: int
    doubt: float


@dataclass
class FeatureReader:
    """Computes features of the candidates of one query.

    Attributes:
        query: what the query says.
        day: the day of the question, such as 20230204; at 0, everything holds.
        best_weight: what the query's words in a retrieved statement weigh, of the statement where
            they weigh most.
        asked: the words of the query that name types or levels of retrieved relationships.
    """

    query: Query
    day: int = OPEN_START
    best_weight: float = 0.0
    asked: frozenset[str] = frozenset()
    _forms: dict[str, int] = field(default_factory=dict)
    _weights: list[float] = field(default_factory=list)
    _of_texts: dict[str, int] = field(default_factory=dict)
    _explained: dict[tuple[object, ...], Mapping[str, float]] = field(default_factory=dict)

    @classmethod
    def over(
        cls,
        query: Query,
        retrieved: Iterable[tuple[StoredRecord, Iterable[str]]],
        *,
        day: int = OPEN_START,
    ) -> "FeatureReader":
        """The reader for a query on a day, and what was retrieved for it: records with the texts of
        their statements.
        """
        reader = cls(query, day)
        for position, word in enumerate(query.weights):
            reader._weights.append(query.weights[word])
            for form in forms(word):
                reader._forms.setdefault(form, 1 << position)
        asked: set[str] = set()
        for record, texts in retrieved:
            own = reader.words_of_record(record)
            reader.best_weight = max(
                reader.best_weight,
                *(reader.weight_in(own, [text]) for text in texts),
                0.0,
            )
            if isinstance(record, RelationshipRecord):
                asked.update(reader.explained_by(record))
        reader.asked = frozenset(asked)
        return reader

    def words_in(self, text: str) -> int:
        """The query's words that a text has, singular or plural, a bit each."""
        if not self._forms:
            return 0
        # The same text is met in several steps, a passage at each record that it leads to.
        if text not in self._of_texts:
            known = self._forms.keys() & plain_words(text)
            self._of_texts[text] = reduce(or_, map(self._forms.__getitem__, known), 0)
        return self._of_texts[text]

    def words_of_record(self, record: StoredRecord) -> int:
        """The query's words in the names and the type of a record."""
        if isinstance(record, NodeRecord):
            return self.words_in(record.text("name"))
        return self.words_in(
            f"{record.from_name} {record.text('relationship_type')} {record.to_name}"
        )

    def weight(self, words: int) -> float:
        """What some words weigh together."""
        return sum(weight for position, weight in enumerate(self._weights) if words >> position & 1)

    def weight_in(self, names: int, texts: Iterable[str]) -> float:
        """What the query's words weigh in names and texts together.

        A word of a text that is longer than a note, being one of many, weighs less: it says less of
        what the text is about.

        Args:
            names: bits of the words in the names.
            texts: the texts.
        """
        total, seen = self.weight(names), names
        for text in sorted(texts, key=len):
            words = self.words_in(text) & ~seen
            total += self.weight(words) * min(1.0, NOTE_LENGTH / max(1, len(text)))
            seen |= words
        return total

    def of_statements(
        self,
        record: StoredRecord,
        statements: Sequence[tuple[str, float | None]],
        weights: Features,
        former: Container[str] = (),
        *,
        past: float = 0.0,
    ) -> tuple[list[Features], int]:
        """The features of the statements of a record, and the position of the best one, which alone
        has `types`.

        Args:
            record: the record.
            statements: at least one: the text, and its plain cosine with the query; None if it has
                no embedding.
            weights: weight of each feature.
            former: those of the texts that no longer hold.
            past: whether only past relationships join it to the nodes that the query names.
        """
        nodes, of_record = nodes_of(record), self.words_of_record(record)
        named, past = self._named(nodes), max(past, self.past([record]))
        features = [
            Features(
                max(0.0, similarity or 0.0),
                self._share(self.weight_in(of_record, [text])),
                named,
                past=1.0 if text in former else past,
            )
            for text, similarity in statements
        ]
        best = max(range(len(features)), key=lambda at: score(features[at], weights))
        if isinstance(record, RelationshipRecord):
            features[best] = features[best]._replace(types=self._types([record], nodes))
        return features, best

    def of_path(self, path: PathFacts) -> Features:
        """The features of a path."""
        nodes = frozenset[str]().union(*map(nodes_of, path.records))
        return Features(
            similarity=max(0.0, path.similarity),
            words=self._share(self.weight(path.words)),
            named=self._named(nodes),
            types=self._types(path.records, nodes),
            doubt=min(1.0, max(0.0, path.doubt)),
            hops=(len(path.records) - 1) / MAX_HOPS,
            past=self.past(path.records),
        )

    def of_mention(
        self,
        lead: Features,
        texts: Sequence[str],
        records: Sequence[StoredRecord],
        doubt: float,
    ) -> Features:
        """The features of the way from a passage to a record at a node that it names.

        Args:
            lead: those of the passage.
            texts: the passage, and the best statement of the record.
            records: the source of the passage, and the record.
            doubt: cost of the choice, in cosine.
        """
        nodes = frozenset[str]().union(*map(nodes_of, records))
        names = reduce(or_, map(self.words_of_record, records), 0)
        return Features(
            similarity=lead.similarity,
            words=self._share(self.weight_in(names, texts)),
            named=self._named(nodes),
            doubt=min(1.0, max(0.0, doubt)),
            hops=1 / MAX_HOPS,
            past=max(lead.past, self.past(records)),
        )

    def explained_by(self, record: RelationshipRecord) -> Mapping[str, float]:
        """The words of the query that name a relationship's type or a level, with what each counts,
        above 0 to 1.

        A level beside the one that the query says counts less.
        """
        levels = tuple(record.level(name) for name in ("attitude", "proximity"))
        key = (record.neo4j_type, record.text("relationship_type"), *levels)
        if key not in self._explained:
            self._explained[key] = self._read_words(record)
        return self._explained[key]

    def _read_words(self, record: RelationshipRecord) -> Mapping[str, float]:
        present = plain_words(record.text("relationship_type"))
        words = {
            word: 1.0
            for word in self.query.type_words
            if any(word == other or are_forms(word, other) for other in present)
        }
        for name, level, word in self.query.levels.get(record.neo4j_type, ()):
            own = record.level(name)
            credit = 0.0 if own is None else 1.0 - abs(own - level) / LEVEL_REACH
            if credit > words.get(word, 0.0):
                words[word] = credit
        return words

    def _share(self, weight: float) -> float:
        return min(1.0, weight / (FULL_STATEMENTS * self.best_weight)) if self.best_weight else 0.0

    def past(self, records: Iterable[StoredRecord]) -> float:
        """1 if one of some records does not hold on the day of the question, else 0."""
        times = (one.properties.get("when") for one in records)
        return float(self.day > OPEN_START and not all(holds(when, self.day) for when in times))

    def _named(self, nodes: Iterable[str]) -> float:
        return min(1.0, sum(self.query.named.get(node, 0.0) for node in nodes) / FULL_NAMED)

    def _types(self, records: Sequence[RelationshipRecord], nodes: Iterable[str]) -> float:
        """F1 of the words that name types (recall) and of the relationships that a word names
        (precision).

        Only at a named node, multiplied by its value.
        """
        value = max((self.query.named.get(node, 0.0) for node in nodes), default=0.0)
        if not value or not self.asked:
            return 0.0
        words = [self.explained_by(record) for record in records]
        best: dict[str, float] = {}
        for own in words:
            for word, credit in own.items():
                best[word] = max(credit, best.get(word, 0.0))
        recall = min(1.0, sum(best.values()) / len(self.asked))
        if not recall:
            return 0.0
        precision = _assigned(words) / len(words)
        return value * 2.0 * recall * precision / (recall + precision)


def nodes_of(record: StoredRecord) -> frozenset[str]:
    """Keys of the nodes of a record."""
    return frozenset((record.entity_key,)) if isinstance(record, NodeRecord) else record.pair


def _assigned(words: Sequence[Mapping[str, float]], used: frozenset[str] = frozenset()) -> float:
    """The most that relationships count if each word names one of them, and a further one by
    half.
    """
    if not words:
        return 0.0
    first, rest = words[0], words[1:]
    repeated = REPEATED_WORD * max(first.values(), default=0.0) + _assigned(rest, used)
    new = (
        credit + _assigned(rest, used | {word})
        for word, credit in first.items()
        if word not in used
    )
    return max((repeated, *new))
