"""What the page shows, computed from the measured figures: medians, ratios, and where another
toolkit does better.
"""

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

OURS = "kgagent"
HOP_SETS = ("metaqa, 1 hops", "metaqa, 2 hops", "metaqa, 3 hops")
WIKI, USERS = "2wiki", "users"
SEARCHED = (WIKI, *HOP_SETS)
SHOWN = {
    WIKI: "2Wiki",
    **dict(zip(HOP_SETS, ("1 hop", "2 hops", "3 hops"), strict=True)),
    USERS: "one user",
}
"""What a set is called on the page."""

WITH_DECIMAL = 10
Figures = Mapping[str, Any]


@dataclass(frozen=True)
class Asked:
    """One search of one toolkit on one set.

    Attributes:
        toolkit: its name.
        search: name of the search.
        relationships: mean recall@10; None if it returns none.
        nodes: mean recall@10; None if it returns none.
        p50: seconds.
        p95: seconds.
        foreign: share of the rows that belong to another user.
        count: number of questions.
    """

    toolkit: str
    search: str
    relationships: float | None
    nodes: float | None
    p50: float
    p95: float
    foreign: float
    count: int


@dataclass(frozen=True)
class Better:
    """A figure in which others do better than kgagent.

    Attributes:
        what: the figure.
        ours: kgagent's value, as shown.
        others: the values that are better, as shown, best first.
    """

    what: str
    ours: str
    others: Sequence[str]


@dataclass(frozen=True)
class Metric:
    """A figure that can be compared.

    Attributes:
        what: its name.
        ours: kgagent's value.
        others: the best value of each other toolkit.
        unit: "ms", "/s" or "" for a share.
    """

    what: str
    ours: float
    others: Mapping[str, float]
    unit: str

    @property
    def lower_is_better(self) -> bool:
        """Whether a lower value is better."""
        return self.unit == "ms"

    def shown(self, value: float) -> str:
        """A value with its unit; two values that are shown alike are not different."""
        if self.unit == "ms":
            return f"{milliseconds(value)} ms"
        return f"{value:,.0f}/s" if self.unit else f"{value:.3f}"

    def better(self) -> Better | None:
        """The others that do better, or None."""
        sign = 1 if self.lower_is_better else -1
        ahead = [
            name
            for name, value in self.others.items()
            if sign * value < sign * self.ours and self.shown(value) != self.shown(self.ours)
        ]
        if not ahead:
            return None
        ranked = sorted(ahead, key=lambda name: sign * self.others[name])
        shown = [
            f"{name} {self.shown(self.others[name])} ({ratio(self.others[name], self.ours)})"
            for name in ranked
        ]
        return Better(self.what, self.shown(self.ours), shown)


def ratio(value: float, base: float) -> str:
    """How many times the base a value is."""
    times = value / base
    return f"{times:.1f}x" if times >= 1 else f"{times:.2f}x"


def milliseconds(value: float) -> str:
    """Milliseconds, with a decimal if there are few."""
    return f"{value:.1f}" if value < WITH_DECIMAL else f"{value:,.0f}"


def quantile(values: Sequence[float], share: float) -> float:
    """The value that a share of the values does not exceed, interpolated."""
    ranked = sorted(values)
    place = share * (len(ranked) - 1)
    low = int(place)
    high = min(low + 1, len(ranked) - 1)
    return ranked[low] + (place - low) * (ranked[high] - ranked[low])


def asked(figures: Figures, name: str) -> list[Asked]:
    """All searches of a set, kgagent's first."""
    rows = []
    for toolkit, measured in figures["toolkits"].items():
        for search, answers in measured["answers"].get(name, {}).items():
            seconds = [answer["seconds"] for answer in answers]
            rows.append(
                Asked(
                    toolkit,
                    search,
                    _mean(answer["relationships"] for answer in answers),
                    _mean(answer["nodes"] for answer in answers),
                    quantile(seconds, 0.5),
                    quantile(seconds, 0.95),
                    sum(answer["foreign"] for answer in answers)
                    / max(1, sum(answer["rows"] for answer in answers)),
                    len(answers),
                )
            )
    return rows


def ours(rows: Sequence[Asked]) -> Asked:
    """Kgagent's search with its defaults."""
    return next(row for row in rows if row.toolkit == OURS)


def best(rows: Sequence[Asked]) -> list[Asked]:
    """The search of each toolkit that finds most relationships, the faster of equal ones; kgagent's
    default one.
    """
    chosen: dict[str, Asked] = {}
    for row in rows:
        if row.relationships is None or (row.toolkit == OURS and OURS in chosen):
            continue
        known = chosen.get(row.toolkit)
        if known is None or (-row.relationships, row.p50) < (
            -(known.relationships or 0.0),
            known.p50,
        ):
            chosen[row.toolkit] = row
    return list(chosen.values())


def inserts(figures: Figures) -> dict[str, list[float]]:
    """Milliseconds of each insertion, by toolkit."""
    return {
        name: [1e3 * value for value in one["inserts"]] for name, one in figures["toolkits"].items()
    }


def updates(figures: Figures) -> dict[str, list[float]]:
    """Milliseconds of each update, by toolkit; without those that have no function for it."""
    return {
        name: [1e3 * value for value in one["updates"]]
        for name, one in figures["toolkits"].items()
        if one["updates"]
    }


def loads(figures: Figures, name: str) -> dict[str, float]:
    """Relationships per second of the median load of a set, by toolkit."""
    return {
        toolkit: statistics.median(one["bulk"][name])
        for toolkit, one in figures["toolkits"].items()
    }


def updated(figures: Figures, toolkit: str, what: str) -> tuple[int, int] | None:
    """Updates of which something holds, and all of which it can hold; None if there are none."""
    values = [one[what] for one in figures["toolkits"][toolkit]["updated"] if one[what] is not None]
    return (sum(values), len(values)) if values else None


def is_updated(figures: Figures, toolkit: str) -> bool:
    """Whether every update changed the text."""
    done = updated(figures, toolkit, "stored")
    return done is not None and done[0] == done[1]


def repeats_nodes(figures: Figures, toolkit: str) -> bool:
    """Whether inserting one by one stored more nodes than there are names."""
    measured = figures["toolkits"][toolkit]
    return bool(sum(measured["nodes_stored"]) > sum(measured["nodes_expected"]))


def metrics(figures: Figures) -> Iterator[Metric]:
    """Everything that is compared."""
    for name in (*SEARCHED, USERS):
        rows = asked(figures, name)
        own = ours(rows)
        others = [row for row in rows if row.toolkit != OURS]
        what = SHOWN[name]
        for share in ("p50", "p95"):
            times = [(row.toolkit, 1e3 * getattr(row, share)) for row in others]
            yield Metric(
                f"{what}, {share} of a search", 1e3 * getattr(own, share), _best(times, min), "ms"
            )
        for kind in ("relationships", "nodes"):
            found = [
                (row.toolkit, getattr(row, kind))
                for row in others
                if getattr(row, kind) is not None
            ]
            yield Metric(f"{what}, recall@10 of {kind}", getattr(own, kind), _best(found, max), "")
    one_by_one = {toolkit: quantile(values, 0.5) for toolkit, values in inserts(figures).items()}
    yield _split("p50 of inserting one", one_by_one, "ms")
    for name in (WIKI, HOP_SETS[0]):
        yield _split(f"loading {'2Wiki' if name == WIKI else 'MetaQA'}", loads(figures, name), "/s")
    changed = {toolkit: quantile(values, 0.5) for toolkit, values in updates(figures).items()}
    true = {toolkit: value for toolkit, value in changed.items() if is_updated(figures, toolkit)}
    yield _split("p50 of an update that changes the text", true, "ms")


def losses(figures: Figures) -> list[Better]:
    """The figures in which others do better."""
    return [better for metric in metrics(figures) if (better := metric.better()) is not None]


def not_worse(figures: Figures) -> list[str]:
    """The figures in which no other does better."""
    return [metric.what for metric in metrics(figures) if metric.better() is None]


def _split(what: str, values: Mapping[str, float], unit: str) -> Metric:
    return Metric(
        what, values[OURS], {name: value for name, value in values.items() if name != OURS}, unit
    )


def _best(
    values: Iterable[tuple[str, float]], choose: Callable[[float, float], float]
) -> dict[str, float]:
    chosen: dict[str, float] = {}
    for toolkit, value in values:
        chosen[toolkit] = choose(chosen.get(toolkit, value), value)
    return chosen


def _mean(values: Iterator[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
