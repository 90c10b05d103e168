"""What is written and asked: 2WikiMultihopQA, and questions of MetaQA over one, two and three
hops.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from _multi_hop_data import metaqa_sample, metaqa_triples
from _questions import QuestionSet, Triple, by_pair, fact, relation_words, two_wiki

from side.toolkit import Fact

OWNER = "benchmark"
USERS = tuple(f"user{number}" for number in range(5))
HOPS = (1, 2, 3)
MOST_GOLD = 12
WARM_UP = 3
THEMES = (
    "lighthouse", "violin workshop", "chess club", "vineyard", "submarine", "bakery", "observatory", "circus",
    "ski "
    "school", "beehive", "printing press", "zoo", "balloon flight", "pottery course", "sailing race", "opera",
    "mushroom guide", "tram line", "lottery ticket", "quarry",
)  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """A question.

    Attributes:
        text: the question.
        pairs: the two names of each relationship that answers it.
        hops: number of relationships to an answer.
    """

    text: str
    pairs: frozenset[frozenset[str]]
    hops: int

    @property
    def names(self) -> frozenset[str]:
        """The entities of the relationships."""
        return frozenset(name for pair in self.pairs for name in pair)


@dataclass(frozen=True)
class Change:
    """A new text of a relationship.

    Attributes:
        fact: the relationship as it is.
        text: its new text, of another meaning.
        query: a question that the new text answers and the old does not.
    """

    fact: Fact
    text: str
    query: str


@dataclass(frozen=True)
class Asking:
    """Facts, and questions about them.

    Attributes:
        name: of the set.
        facts: what is written.
        questions: those that are measured.
        warm_up: those that are asked before.
    """

    name: str
    facts: tuple[Fact, ...]
    questions: tuple[Asked, ...]
    warm_up: tuple[Asked, ...]


@dataclass(frozen=True)
class Data:
    """All sets.

    Attributes:
        wiki: all triples of 2WikiMultihopQA.
        movies: MetaQA by number of hops; all have the same facts.
        users: the same facts for each of several users, asked by each in turn.
    """

    wiki: Asking
    movies: tuple[Asking, ...]
    users: Asking

    def texts(self, changes: Iterable[Change]) -> tuple[list[str], list[str]]:
        """All texts that are embedded: those that are stored, and those that are asked."""
        changed = list(changes)
        stored = [replace(change.fact, text=change.text) for change in changed]
        facts = [*self.wiki.facts, *self.movies[0].facts, *self.users.facts, *stored]
        asked = [*(change.query for change in changed), *(change.fact.text for change in changed)]
        for one in (self.wiki, *self.movies, self.users):
            asked += [question.text for question in (*one.questions, *one.warm_up)]
        return list(dict.fromkeys(text for fact in facts for text in _texts(fact))), list(
            dict.fromkeys(asked)
        )


def read(twowiki: Path, metaqa: Path, *, questions: int, triples: int, seed: int) -> Data:
    """Read and sample both data sets.

    Args:
        twowiki: folder of 2WikiMultihopQA.
        metaqa: folder of MetaQA.
        questions: of 2WikiMultihopQA; of each number of hops and of users, a third as many.
        triples: of MetaQA.
        seed: seed of the random numbers.
    """
    generator = np.random.default_rng(seed)
    fewer = max(1, questions // 3)
    wiki = two_wiki(twowiki)
    drawn = [wiki.questions[i] for i in generator.permutation(len(wiki.questions))]
    of_wiki = _asking(
        replace(wiki, questions=tuple(drawn)), as_facts(wiki.triples, OWNER), questions, hops=2
    )
    some = drawn[: fewer + WARM_UP]
    shared = list(dict.fromkeys(triple for question in some for triple in question.evidence))
    of_users = tuple(fact for user in USERS for fact in as_facts(shared, user))
    sets = [
        metaqa_sample(
            metaqa, hops, triples=0, questions=fewer + WARM_UP, most_gold=MOST_GOLD, seed=seed
        )
        for hops in HOPS
    ]
    facts = as_facts(_with_others(sets, metaqa, triples, generator), OWNER)
    return Data(
        of_wiki,
        tuple(_asking(one, facts, fewer, hops=hops) for hops, one in zip(HOPS, sets, strict=True)),
        _asking(QuestionSet("users", tuple(some), ()), of_users, fewer, hops=2),
    )


def as_facts(triples: Sequence[Triple], user: str) -> tuple[Fact, ...]:
    """One fact for each pair of entities; a name is written as it is first, in whatever case."""
    names: dict[str, str] = {}
    triples = [(subject.strip(), relation, thing.strip()) for subject, relation, thing in triples]
    for triple in triples:
        for name in (triple[0], triple[2]):
            names.setdefault(name.lower(), name)
    return tuple(
        Fact(
            names[same[0][0].lower()],
            names[same[0][2].lower()],
            relation_words(same),
            fact(same),
            user,
        )
        for same in by_pair(triples)
    )


def changes_of(facts: Sequence[Fact], count: int) -> list[Change]:
    """A new text for each of the first facts."""
    return [
        Change(
            one,
            f"{one.source} and {one.target} were seen together at the {_theme(number)}",
            f"who was at the {_theme(number)}?",
        )
        for number, one in enumerate(facts[:count])
    ]


def comparable(name: str) -> str:
    """A name as it is compared: without case, spaces around it, and quotes, which LlamaIndex
    removes.
    """
    return name.lower().replace('"', " ").strip()


def _theme(number: int) -> str:
    lap, theme = divmod(number, len(THEMES))
    return f"{THEMES[theme]} of {('Bergen', 'Quito', 'Kyoto', 'Dakar', 'Perth')[lap % 5]}"


def _texts(fact: Fact) -> Iterator[str]:
    yield from (fact.source, fact.target, fact.text, f"{fact.text} {fact.relation}")


def _with_others(
    sets: Sequence[QuestionSet], metaqa: Path, count: int, generator: np.random.Generator
) -> list[Triple]:
    gold = dict.fromkeys(triple for one in sets for triple in one.triples)
    every = [
        (subject, relation.replace("_", " "), thing)
        for subject, relation, thing in metaqa_triples(metaqa)
    ]
    others = [every[i] for i in generator.permutation(len(every)) if every[i] not in gold]
    return [*gold, *others[: max(0, count - len(gold))]]


def _asking(one: QuestionSet, facts: tuple[Fact, ...], count: int, *, hops: int) -> Asking:
    asked = [
        Asked(
            question.text,
            frozenset(frozenset(map(comparable, pair)) for pair in question.pairs if len(pair) > 1),
            hops,
        )
        for question in one.questions[: count + WARM_UP]
    ]
    asked = [question for question in asked if question.pairs]
    return Asking(one.name, facts, tuple(asked[:-WARM_UP]), tuple(asked[-WARM_UP:]))
