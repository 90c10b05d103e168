"""Measures all toolkits on one server, in rounds whose order rotates."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from side.data import Asked, Asking, Change, Data, changes_of, comparable
from side.process import Worker
from side.server import Cleaner
from side.toolkit import HOPS, SEARCH, UPDATE, USERS, WANTED, Address, Fact

FIRST = 3
"""A new text must be among so many first results."""

TRUE_EMBEDDING = 0.999
FEW = 100


@dataclass(frozen=True)
class Answer:
    """One answer of a search.

    Attributes:
        seconds: its time.
        relationships: recall of the relationships among the first ten; None if it returns none.
        nodes: recall of the nodes among the first ten; None if it returns none.
        rows: number of rows.
        foreign: rows of another user.
    """

    seconds: float
    relationships: float | None
    nodes: float | None
    rows: int
    foreign: int


@dataclass(frozen=True)
class Updated:
    """What became of one new text.

    Attributes:
        stored: whether the server has the new text.
        embedding: whether its embedding is that of the new text; None if relationships have none.
        found: whether a question about the new text finds it.
        stale: whether the old text is still returned.
    """

    stored: bool
    embedding: bool | None
    found: bool
    stale: bool


@dataclass
class Measured:
    """What was measured of one toolkit.

    Attributes:
        versions: of its packages.
        inserts: seconds of each insertion.
        nodes_stored: named nodes after the insertions, for each round.
        nodes_expected: distinct names that were inserted, for each round.
        bulk: relationships per second of each load, by set.
        updates: seconds of each update; None if it has no function for it.
        updated: their results.
        answers: by set, then by search.
    """

    versions: dict[str, str] = field(default_factory=dict)
    inserts: list[float] = field(default_factory=list)
    nodes_stored: list[int] = field(default_factory=list)
    nodes_expected: list[int] = field(default_factory=list)
    bulk: dict[str, list[float]] = field(default_factory=dict)
    updates: list[float] | None = field(default_factory=list)
    updated: list[Updated] = field(default_factory=list)
    answers: dict[str, dict[str, list[Answer]]] = field(default_factory=dict)


def recall(right: frozenset[Any], found: Sequence[Any]) -> float:
    """Share of the relevant items among the first ten distinct ones, relative to at most ten."""
    first = list(dict.fromkeys(found))[:WANTED]
    return len(right & set(first)) / min(len(right), WANTED)


class Measurement:
    """Runs the rounds."""

    def __init__(self, workers: Sequence[Worker], where: Address, data: Data) -> None:
        self._workers = workers
        self._where = where
        self._data = data
        self._cleaner = Cleaner(where)
        self.results = {worker.name: Measured() for worker in workers}

    def run(self, rounds: int, inserts: int, updates: int) -> None:
        """Warm up, then measure.

        Args:
            rounds: every round loads the graphs anew and asks its share of the questions.
            inserts: relationships that are inserted one by one in each round.
            updates: relationships that are updated in each round.
        """
        changes = changes_of(self._data.wiki.facts, rounds * updates)
        for number in range(-1, rounds):
            print(f"\nround {number + 1} of {rounds}" if number >= 0 else "warming up", flush=True)
            shift = number % len(self._workers)
            order = [*self._workers[shift:], *self._workers[:shift]]
            if number < 0:
                self._warm_up(order, changes[:2])
                continue
            for worker in order:
                self._insert(
                    worker, self._data.wiki.facts[number * inserts : (number + 1) * inserts]
                )
            for worker in order:
                self._wiki(
                    worker, number, rounds, changes[number * updates : (number + 1) * updates]
                )
            for worker in order:
                self._movies(worker, number, rounds)
            for worker in order:
                self._users(worker, number, rounds)
        self._cleaner.close()

    @contextmanager
    def _opened(self, worker: Worker) -> Iterator[Mapping[str, Any]]:
        print(".", end="", flush=True)
        self._cleaner.empty()
        opened = worker.call("open", where=asdict(self._where))
        self.results[worker.name].versions = opened["versions"]
        yield opened["searches"]
        worker.call("close")

    def _warm_up(self, order: Sequence[Worker], changes: Sequence[Change]) -> None:
        data = self._data
        for worker in order:
            with self._opened(worker) as searches:
                worker.call("insert", facts=[asdict(fact) for fact in data.wiki.facts[:FEW]])
            with self._opened(worker) as searches:
                worker.call("bulk", facts=[asdict(fact) for fact in data.wiki.facts])
                worker.call("update", changes=[asdict(change) for change in changes])
                for search in searches:
                    for question in data.wiki.questions[-10:]:
                        _ask(worker, search, question, data.wiki.facts[0].user)

    def _insert(self, worker: Worker, facts: Sequence[Fact]) -> None:
        result = self.results[worker.name]
        with self._opened(worker):
            # The first call of each statement is planned.
            worker.call("insert", facts=[asdict(fact) for fact in self._data.wiki.facts[-2:]])
            before = self._cleaner.named_nodes()
            result.inserts += worker.call("insert", facts=[asdict(fact) for fact in facts])[
                "seconds"
            ]
            known = {
                name for fact in self._data.wiki.facts[-2:] for name in (fact.source, fact.target)
            }
            names = {name for fact in facts for name in (fact.source, fact.target)}
            result.nodes_stored.append(self._cleaner.named_nodes() - before)
            result.nodes_expected.append(len(names - known))

    def _load(self, worker: Worker, asking: Asking) -> None:
        seconds = worker.call("bulk", facts=[asdict(fact) for fact in asking.facts])["seconds"]
        self.results[worker.name].bulk.setdefault(asking.name, []).append(
            len(asking.facts) / seconds
        )

    def _wiki(self, worker: Worker, number: int, rounds: int, changes: Sequence[Change]) -> None:
        with self._opened(worker) as searches:
            self._load(worker, self._data.wiki)
            self._ask_all(worker, _of(searches, SEARCH), self._data.wiki, number, rounds)
            self._update(worker, _of(searches, UPDATE), changes)

    def _movies(self, worker: Worker, number: int, rounds: int) -> None:
        with self._opened(worker) as searches:
            self._load(worker, self._data.movies[0])
            for asking in self._data.movies:
                self._ask_all(worker, _of(searches, HOPS), asking, number, rounds)

    def _users(self, worker: Worker, number: int, rounds: int) -> None:
        with self._opened(worker) as searches:
            self._load(worker, self._data.users)
            self._ask_all(worker, _of(searches, USERS), self._data.users, number, rounds)

    def _ask_all(
        self, worker: Worker, names: Sequence[str], asking: Asking, number: int, rounds: int
    ) -> None:
        owners = list(dict.fromkeys(fact.user for fact in asking.facts))
        answers = self.results[worker.name].answers.setdefault(
            asking.name, {name: [] for name in names}
        )
        for question in asking.warm_up:
            for name in names:
                _ask(worker, name, question, asking.facts[0].user)
        for position, question in enumerate(asking.questions):
            if position % rounds != number:
                continue
            user = owners[position % len(owners)]
            shift = position % len(names)
            for name in (*names[shift:], *names[:shift]):
                answers[name].append(_answer(_ask(worker, name, question, user), question, user))

    def _update(self, worker: Worker, searches: Sequence[str], changes: Sequence[Change]) -> None:
        result = self.results[worker.name]
        done = worker.call("update", changes=[asdict(change) for change in changes])
        if done["seconds"] is None or result.updates is None:
            result.updates = None
            return
        result.updates += done["seconds"]
        for change, text, cosine in zip(changes, done["texts"], done["cosines"], strict=True):
            user = change.fact.user
            new = [
                _ask_text(worker, name, change.query, user)["texts"][:FIRST] for name in searches
            ]
            old = [_ask_text(worker, name, change.fact.text, user)["texts"] for name in searches]
            result.updated.append(
                Updated(
                    stored=text == change.text,
                    embedding=None if cosine is None else cosine > TRUE_EMBEDDING,
                    found=any(change.text in shown for texts in new for shown in texts),
                    stale=text != change.text
                    or any(change.fact.text in shown for texts in old for shown in texts),
                )
            )


def _of(searches: Mapping[str, Sequence[str]], part: str) -> list[str]:
    return [name for name, parts in searches.items() if part in parts]


def _ask(worker: Worker, search: str, question: Asked, user: str) -> Mapping[str, Any]:
    return worker.call(
        "ask", search=search, question={"text": question.text, "user": user, "hops": question.hops}
    )


def _ask_text(worker: Worker, search: str, text: str, user: str) -> Mapping[str, Any]:
    return worker.call("ask", search=search, question={"text": text, "user": user})


def _answer(found: Mapping[str, Any], question: Asked, user: str) -> Answer:
    pairs, names = found["pairs"], found["names"]
    return Answer(
        seconds=found["seconds"],
        relationships=None
        if pairs is None
        else recall(question.pairs, [frozenset(map(comparable, pair)) for pair in pairs]),
        nodes=None
        if names is None
        else recall(question.names, [comparable(name) for name in names]),
        rows=len(found["owners"]),
        foreign=sum(owner != user for owner in found["owners"]),
    )
