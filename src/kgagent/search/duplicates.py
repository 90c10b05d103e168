"""Likely duplicates: nodes of one label that may mean the same thing, by one formula over few
features.

Nodes are compared that share a rare word of their names, or two words. How much a word of a name
counts is how rare it is among the names of the graph, so that "film" in "Dollar (1938 film)" counts
little, and no word is listed. All nodes are read once and compared here: a query of the indexes for
each node of a large graph would take longer. `benchmarks/duplicates.py` measures the formula.
"""

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import mul
from typing import NamedTuple

from rapidfuzz import fuzz

from kgagent.graph.records import ontology_label
from kgagent.models import GraphNode, LikelyDuplicate
from kgagent.names import plain_words
from kgagent.search.scope import SearchScope

TIMEOUT = 60.0
"""Seconds that reading all nodes may take."""

TEXT_LENGTH = 1_000
"""Characters of a description, and of notes, that are compared."""

NEIGHBORS = 200
"""Neighbors of a node that are compared."""

MAX_BLOCK = 60
"""Nodes that share a word, or two: of more, the word does not tell them apart."""

RAREST_WORDS = 5
"""Words of a name by which others are looked up, the rarest ones."""

MIN_NAMES = 0.5
"""Share of a name below which nodes are not compared any further."""

ALIKE, MIN_ALIKE = 80, 5
"""Minimum similarity, of 100, of two words that are spelt alike, and their minimum letters."""

MIN_SPELT_OUT = 3
"""Minimum letters of a word for which another name has the initial."""

OTHER_ORDER = 0.7
"""What the same words in another order count."""

DOUBT = 0.7
"""Words of the highest rarity that are added to what is said of a node, so that one word in common
is no proof.
"""

SHOWN = 5
"""Shared neighbors, and words in common, that a result names."""


class PairFeatures(NamedTuple):
    """What speaks for or against two nodes being one, each 0 to 1.

    Attributes:
        names: share of the words of the shorter name that the longer one has, equal, spelt alike or
            as an initial, by their rarity; of the two names or aliases that are most similar.
        equal: 1 if the names have the same words.
        differ: 1 if both names have a word that the other lacks.
        unique: 1 if no other node has a name as similar, 1/2 if one other has, and so on.
        said: share of what is said of one, and of the names of its neighbors, that is said of the
            other too, by the rarity of the words.
        neighbors: n / (n + 1) for n neighbors that they share.
        joined: 1 if a relationship joins them.
    """

    names: float
    equal: float
    differ: float
    unique: float
    said: float
    neighbors: float
    joined: float


WEIGHTS = PairFeatures(
    names=5.0, equal=1.5, differ=-3.0, unique=2.5, said=8.0, neighbors=1.0, joined=-4.0
)
BIAS = -8.6
"""The score of a pair is the logistic function of the weighted sum of its features and this."""


@dataclass(frozen=True)
class DescribedNode:
    """What nodes are compared by.

    Attributes:
        node: key, label, name and description.
        aliases: its other names.
        notes: the text of its notes.
        neighbors: keys of the nodes that it is joined with.
    """

    node: GraphNode
    aliases: tuple[str, ...] = ()
    notes: str = ""
    neighbors: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """Its name and aliases."""
        return self.node.name, *self.aliases


class _Compared(NamedTuple):
    """How similar two names are: `names`, `equal` and the negative of `differ` of `PairFeatures`,
    and the positions of the names.
    """

    names: float
    equal: float
    same: float
    places: tuple[int, int]


async def find_duplicates(
    scope: SearchScope, *, threshold: float, limit: int
) -> tuple[LikelyDuplicate, ...]:
    """Read all nodes, and compare them; see `KnowledgeGraph.duplicates`.

    Raises:
        StoreError: the database failed.
    """
    parameters = {"text_length": TEXT_LENGTH, "neighbor_limit": NEIGHBORS}
    rows = await scope.read(scope.statement("read_described_nodes"), parameters, timeout=TIMEOUT)

    def compare() -> tuple[LikelyDuplicate, ...]:
        nodes = []
        for row in rows:
            label = ontology_label(row["labels"], scope.ontology)
            texts = {name: row[name] for name in ("entity_key", "name", "description")}
            nodes.append(
                DescribedNode(
                    GraphNode(label=label, **texts),
                    tuple(row["aliases"]),
                    row["notes"],
                    frozenset(row["neighbors"]),
                )
            )
        return likely_duplicates(nodes, threshold=threshold, limit=limit)

    # A large graph takes a while, during which other users' calls go on.
    return await asyncio.to_thread(compare)


def likely_duplicates(
    nodes: Sequence[DescribedNode], *, threshold: float, limit: int | None = None
) -> tuple[LikelyDuplicate, ...]:
    """The pairs of nodes with at least a score, best first."""
    names = [[plain_words(name) for name in one.names] for one in nodes]
    words_of_names = [{word for name in one for word in name} for one in names]
    rarity = _rarity(words_of_names)
    said = _said(nodes, words_of_names)
    said_rarity = _rarity(said)
    similar = _similar(nodes, names, rarity)
    weights = [sum(map(said_rarity.__getitem__, one)) for one in said]
    doubt = DOUBT * math.log(1.0 + len(nodes))
    values = defaultdict[int, list[float]](list)
    for pair, compared in similar.items():
        for at in pair:
            values[at].append(compared.names)

    def features_of(pair: tuple[int, int], compared: _Compared) -> PairFeatures:
        one, other = pair
        in_both = words_of_names[one] & words_of_names[other]
        shared = len(nodes[one].neighbors & nodes[other].neighbors)
        # What both names say is no further evidence.
        known = sum(map(said_rarity.__getitem__, in_both))
        common = sum(map(said_rarity.__getitem__, said[one] & said[other])) - known
        return PairFeatures(
            names=compared.names,
            equal=compared.equal,
            differ=-compared.same,
            unique=1.0 / max(sum(each >= compared.names for each in values[at]) for at in pair),
            said=common / (doubt + min(weights[one], weights[other]) - known),
            neighbors=shared / (shared + 1.0),
            joined=float(nodes[one].node.entity_key in nodes[other].neighbors),
        )

    features = {pair: features_of(pair, compared) for pair, compared in similar.items()}
    scores = {pair: score_of(one) for pair, one in features.items()}
    kept = (pair for pair, score in scores.items() if score >= threshold)
    best = sorted(kept, key=lambda pair: (-scores[pair], pair))[:limit]
    name_of = {one.node.entity_key: one.node.name for one in nodes}
    return tuple(
        LikelyDuplicate(
            first=nodes[one].node,
            second=nodes[other].node,
            score=scores[one, other],
            contributions=dict(
                zip(PairFeatures._fields, map(mul, WEIGHTS, features[one, other]), strict=True)
            ),
            names=(nodes[one].names[first], nodes[other].names[second]),
            shared_neighbors=tuple(
                sorted(name_of[key] for key in nodes[one].neighbors & nodes[other].neighbors)
            )[:SHOWN],
            said_of_both=tuple(
                sorted(
                    (said[one] & said[other]) - words_of_names[one] - words_of_names[other],
                    key=lambda word: (-said_rarity[word], word),
                )[:SHOWN]
            ),
        )
        for one, other in best
        for first, second in [similar[one, other].places]
    )


def score_of(features: PairFeatures) -> float:
    """The score of a pair, 0 to 1."""
    return 1.0 / (1.0 + math.exp(-BIAS - sum(map(mul, WEIGHTS, features))))


def _said(
    nodes: Sequence[DescribedNode], words_of_names: Sequence[Collection[str]]
) -> list[set[str]]:
    """The words of the names of each node, of what is said of it, and of the names of its
    neighbors.
    """
    at = {one.node.entity_key: place for place, one in enumerate(nodes)}
    return [
        set(plain_words(f"{one.node.description} {one.notes}")).union(
            own, *(words_of_names[at[key]] for key in one.neighbors if key in at)
        )
        for one, own in zip(nodes, words_of_names, strict=True)
    ]


def _rarity(words: Sequence[Collection[str]]) -> dict[str, float]:
    """How rare each word is: the logarithm of how many nodes there are for one that has it."""
    counts = Counter(word for one in words for word in one)
    return {word: math.log(1.0 + len(words) / count) for word, count in counts.items()}


def _similar(
    nodes: Sequence[DescribedNode],
    names: Sequence[Sequence[Sequence[str]]],
    rarity: Mapping[str, float],
) -> dict[tuple[int, int], _Compared]:
    """The pairs of nodes of one label with similar names, among those that share a rare word, two
    words or all words.
    """
    blocks = defaultdict[tuple[str, ...], list[int]](list)
    for at, (one, own) in enumerate(zip(nodes, names, strict=True)):
        keys = set[tuple[str, ...]]()
        for name in own:
            rarest = sorted(
                sorted(set(name), key=lambda word: (-rarity[word], word))[:RAREST_WORDS]
            )
            keys |= {(word,) for word in rarest} | {*combinations(rarest, 2), tuple(rarest)}
        for key in keys:
            blocks[one.node.label, *key].append(at)
    near = {
        pair
        for members in blocks.values()
        if len(members) <= MAX_BLOCK
        for pair in combinations(members, 2)
    }
    compared = {
        (one, other): max(
            _compared(name, another, rarity, (first, second))
            for first, name in enumerate(names[one])
            for second, another in enumerate(names[other])
        )
        for one, other in near
    }
    return {pair: one for pair, one in compared.items() if one.names > MIN_NAMES}


def _compared(
    name: Sequence[str], other: Sequence[str], rarity: Mapping[str, float], at: tuple[int, int]
) -> _Compared:
    """Compare two names, each a list of words; a word stands for one of the other name."""
    weights = [sum(rarity[word] for word in {*words}) for words in (name, other)]
    if not min(weights):
        return _Compared(0.0, 0.0, 0.0, at)
    short, long = (name, other) if weights[0] <= weights[1] else (other, name)
    left = {word: place for place, word in enumerate(long)}
    places = {word: left.pop(word) for word in {*short} if word in left}
    common = sum(rarity[word] for word in places)
    for word in sorted({*short} - places.keys()):
        alike, best = max((_alike(word, each), each) for each in left) if left else (0.0, "")
        if alike:
            common += alike * rarity[word]
            places[word] = left.pop(best)
    in_order = [places[word] for word in dict.fromkeys(short) if word in places]
    if in_order != sorted(in_order):
        common *= OTHER_ORDER
    differ = bool(left) and len(places) < len({*short})
    return _Compared(common / min(weights), float(name == other), -float(differ), at)


def _alike(word: str, other: str) -> float:
    """Whether two words of names may be one: equal, spelt alike, or one as an initial, 0 to 1."""
    if word == other:
        return 1.0
    short, long = (word, other) if len(word) <= len(other) else (other, word)
    if len(short) == 1 and len(long) >= MIN_SPELT_OUT:
        # "I" is no initial of "III".
        return float(long[0] == short and bool(long.strip(short)))
    return fuzz.ratio(word, other, score_cutoff=ALIKE) / 100.0 if len(short) >= MIN_ALIKE else 0.0
