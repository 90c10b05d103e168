"""Expansion by beam search: from the relationships that match best to those that share a node with them.

The search follows the most probable path of someone who reads the graph to answer the query. A start scores its
similarity. At each node one relationship is chosen: the more siblings it has, and the more similar these are to the
query, the more the choice costs in plain cosine (the logarithm of a softmax over them), so a hub is expensive. Unless
the number of hops is given, the search stops when even a certain choice would not be among the leading relationships.

If the query mentions a node by name, paths start there: matches at mentioned nodes come before others, first those that
join two of them, and paths leave through the other end. The second hop also leaves nodes whose names or aliases match
those of the nodes that the first hop left ("Henry King (director)"), since one thing may be stored as two nodes.

Finally, the types of a path are compared with the query, see `type_fit`; a relationship counts as the best path that
its types begin, if it continues so itself. The search continues with what one more type would make fit best, while that
would beat all it found. If no word names a type and one alone fits best ("describe Ann"), paths follow all at the node.
"""

import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from statistics import fmean

from kgagent.concurrency import task_group
from kgagent.errors import StatementTimeoutError, StoreError
from kgagent.graph.lucene import must_be, quoted, words
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.schema_parts import NODE_TEXT_INDEX
from kgagent.graph.statements import statement
from kgagent.retrieval.anchors import Anchors, consists_of_names, named_anchors
from kgagent.retrieval.candidates import Candidate, first_of_each, key_of, read_relationship
from kgagent.retrieval.mentions import capitalized_phrases, mentioned_names
from kgagent.retrieval.path_fits import OpenEnd, PathFits, continuing_types
from kgagent.retrieval.same_names import may_name_the_same
from kgagent.retrieval.scope import RelationshipFilter, SearchScope
from kgagent.retrieval.type_fit import Chain, TypeFit, chains_of, single_types, words_from
from kgagent.retrieval.type_means import MAX_READ, TypeMean, TypeMeans, read_type_means
from kgagent.retrieval.vector_targets import EmbeddedQuery, VectorTarget

START_POOL = 50
"""Minimum number of matches that expansion starts from: a missed start loses everything behind it."""

BEAM_WIDTH, KEPT_PER_HOP = 12, 50
"""Relationships of a hop that the next hop expands, and that are kept."""

NAMES_READ, LONGEST_NAME, MAX_PHRASES = 50, 5, 8
"""Nodes that are read to find other names of a thing; names of at most so many words may lack two of them, else one;
and capitalized phrases of a query that are looked up."""

HUB_LIMIT, DEGREE_LIMIT = 200, 10_000
"""Relationships that are read, and that are counted, at one node in one hop; bounds memory and time at a hub."""

HUB_MATCHES = START_POOL // 2
"""A mentioned node with more matches does not count beside other mentioned nodes: a hub's name says little."""

UNMENTIONED_COST, JOINED_WEIGHT = 0.09, 0.2
"""Cost of a match at no mentioned node; and weight of the similarity of one that joins two, which ranks first."""

HOP_COST, LATER_HOP_COST = 0.01, 0.05
"""Cost of a hop, and additional cost after the first: most questions need one, and siblings two hops away are many."""

DEFAULT_HOPS, LEADING = 3, 20
"""Maximum number of hops of a search that expands as far as its query needs; it stops earlier if the next hop cannot
change so many of the best relationships, and no other type would make a path fit better."""

CHOICE_TEMPERATURE, CHOICE_WEIGHT = 0.05, 0.6
"""Cost of a choice in cosine: weight * temperature * -ln(its probability), or 0.02 for one of two equal ones."""

OVERLAP_WEIGHT, LOOK_AHEAD_WEIGHT = 0.5, 1.2
"""Share of a relationship's overlap with its predecessor that is subtracted from its own similarity; and how much the
best fit with one more type counts beside the score, for what is expanded next."""


@dataclass
class _Step:
    """A relationship that was reached, and the keys of the nodes to leave by; `others`: ids of nodes elsewhere."""

    candidate: Candidate
    score: float
    record: RelationshipRecord
    exits: frozenset[str]
    others: tuple[str, ...] = ()

    @cached_property
    def path(self) -> tuple[RelationshipRecord, ...]:
        return (*self.candidate.path, self.record)

    @cached_property
    def visited(self) -> frozenset[str]:
        return frozenset(key for record in self.path for key in _ends(record))

    @cached_property
    def chains(self) -> tuple[Chain, ...]:
        return chains_of(record.text("relationship_type") for record in self.path)


@dataclass(frozen=True)
class BeamSearch:
    """Expands the matches of one query, over stored embeddings and inside the database.

    Attributes:
        scope: whose graph.
        target: the relationships that were searched, and the fields that are read of them.
        types: the filter of the search.
        query: its vector, and its text for the names it mentions.
        type_means: cached mean embeddings of relationship types, completed by the search.
        hops: hops to expand; None expands as far as a hop can add to the leading relationships.
        limit: maximum number of relationships.
        threshold: minimum plain cosine of expanded relationships; -1 keeps all.
        deadline: time at which expansion stops, on the clock of `time.monotonic`.
    """

    scope: SearchScope
    target: VectorTarget
    types: RelationshipFilter
    query: EmbeddedQuery
    type_means: TypeMeans
    hops: int | None
    limit: int
    threshold: float
    deadline: float

    async def expand(
        self, matches: Sequence[Candidate], owner: Collection[str] = (), of_owner: Sequence[Candidate] = ()
    ) -> list[Candidate]:
        """Expand matches, with one round trip for each hop, until the deadline; gives them and what was reached.

        `owner`: keys of the nodes that "my" means in the query, `of_owner`: the best matches there. All best first.
        """
        known = [*matches, *of_owner]
        anchors: Anchors = frozenset(), ()
        ends, phrases = _names(known), capitalized_phrases(self.query.text)[:MAX_PHRASES]
        parts = (part for one in phrases for part in (one, *re.split(" (?:and|to|with) (?=[^a-z])", one)))
        phrases = [one for one in dict.fromkeys(parts) if not consists_of_names(one, ends.values())]
        if self.deadline > time.monotonic() and (phrases or len(known) >= START_POOL):
            search, hubs, by_part = (self.scope, self.target, self.types, self.query), _hubs(known), not owner
            anchors = await named_anchors(
                *search, phrases=phrases, ends=ends, hubs=hubs, by_part=by_part, deadline=self.deadline
            )
        named, of_named = anchors
        found = list(first_of_each((*of_named, *of_owner, *matches)).values())
        names = _names(found)
        said = mentioned_names(self.query.text, set(names.values()))
        mentioned = {key for key, name in names.items() if name in said or key in owner or key in named}
        starts = _starts(found, mentioned, {*owner, *named})
        fit = TypeFit(self.query, words_from(self.query.text, said))
        await self._add_types(fit, starts)
        best = {step.record.element_id: step for step in starts}
        better, renamed = starts, list[_Step]()
        for hop in range(DEFAULT_HOPS if self.hops is None else self.hops):
            if hop:
                better.sort(key=lambda step: -step.score - LOOK_AHEAD_WEIGHT * _best(fit.ahead, step))
            cost = HOP_COST + (LATER_HOP_COST if hop else 0.0)
            worst = self._worst_leading(best.values()) + cost
            fits = max((_best(fit.of, step) for step in best.values()), default=0.0)
            frontier = [*better[:BEAM_WIDTH], *renamed]
            frontier = [step for step in frontier if step.score > worst or _best(fit.ahead, step) > fits]
            if not frontier or (left := self.deadline - time.monotonic()) <= 0:
                break
            try:
                async with task_group() as group:
                    hop_read = group.create_task(self._hop(frontier, cost, left))
                    names_read = group.create_task(self._renamed([] if hop or self.hops == 1 else frontier, left))
            except StatementTimeoutError:
                break
            reached = ((step, best.get(step.record.element_id, step)) for step in hop_read.result())
            better = [step for step, old in reached if old is step or step.score > old.score]
            best.update((step.record.element_id, step) for step in better)
            await self._add_types(fit, better)
            renamed = names_read.result()
        steps = [*best.values()]
        if any(step.candidate.path for step in steps):
            below = {one.record.element_id for one in starts if one.score < (one.candidate.similarity or 0.0)}
            _rank_behind_rivals(steps, starts)
            await self._subtract_costs(steps, below, fit)
            if fit.is_direct(chain for step in steps for chain in step.chains):
                _rank_after_direct(steps, starts, below, {*owner})
        return [replace(step.candidate, score=step.score) for step in self._ranked(steps)[: self.limit]]

    async def _subtract_costs(self, steps: Sequence[_Step], below: Set[str], fit: TypeFit) -> None:
        """Subtract how much less than the best path a relationship's best path fits; those from `below` lose most."""
        rooted = {step.record.element_id: step for step in steps if step.path[0].element_id not in below}
        fits = PathFits(fit, (([one.element_id for one in step.path], step.chains) for step in rooted.values()))
        longest, left = DEFAULT_HOPS if self.hops is None else self.hops, self.deadline - time.monotonic()
        best_first = sorted(rooted.items(), key=lambda one: -one[1].score)
        open_ends = [one for one, step in best_first if step.exits and len(step.path) <= longest]
        examined = [rooted[one] for one in fits.undecided(open_ends)] if left > 0 else []
        ends = [OpenEnd(step.record.element_id, step.exits, step.visited) for step in examined]
        costs = fits.costs(await continuing_types(self.scope, self.target, self.types, ends, timeout=left))
        most = max(costs.values(), default=0.0)
        for step in steps:
            step.score -= costs.get(step.record.element_id, most)

    async def _add_types(self, fit: TypeFit, steps: Iterable[_Step]) -> None:
        """Add the types of steps: the mean of a sample of each type, or else of the steps themselves."""
        found: dict[str, list[float]] = defaultdict(list)
        for step in steps:
            for one in single_types(step.record.text("relationship_type")):
                if one not in fit.similarities:
                    found[one].append(step.candidate.similarity or 0.0)
        keys = {one: (self.scope.user_id, one) for one in found}
        unread = [one for one, key in keys.items() if key not in self.type_means]
        if unread and (left := self.deadline - time.monotonic()) > 0 and len(fit.similarities) < MAX_READ:
            await read_type_means(self.scope, unread, self.type_means, timeout=left)
        for one, key in keys.items():
            fit.add(one, self.type_means.get(key, TypeMean()), fmean(found[one]))

    def _worst_leading(self, steps: Iterable[_Step]) -> float:
        """Score that a relationship must exceed to be among the leading ones."""
        leading = self._ranked(steps)[:LEADING] if self.hops is None else []
        return leading[-1].score if len(leading) == LEADING else -math.inf

    def _ranked(self, steps: Iterable[_Step]) -> list[_Step]:
        kept = (one for one in steps if not one.candidate.path or (one.candidate.similarity or 0.0) >= self.threshold)
        return sorted(kept, key=lambda step: -step.score)

    async def _hop(self, frontier: Sequence[_Step], cost: float, timeout: float) -> list[_Step]:
        [row] = await self.scope.read(
            statement("expand_beam", **self.target.places),
            {
                **self.types.parameters,
                "vector": self.scope.store.vector(self.query.vector),
                "frontier": [
                    {
                        "position": position,
                        "element_id": step.record.element_id,
                        "score": step.score,
                        "path": [record.element_id for record in step.candidate.path],
                        "through": sorted(step.exits),
                        "others": list(step.others),
                    }
                    for position, step in enumerate(frontier)
                ],
                "hub_limit": HUB_LIMIT,
                "degree_limit": DEGREE_LIMIT,
                "limit": max(KEPT_PER_HOP, self.limit),
                "step_cost": cost,
                "choice_weight": CHOICE_WEIGHT,
                "choice_temperature": CHOICE_TEMPERATURE,
                "overlap_weight": OVERLAP_WEIGHT,
            },
            timeout=timeout,
        )
        return [
            _reached(read_relationship(one["relationship"]), one["similarity"], one["score"], frontier[one["lead"]])
            for one in row["reached"]
            if one["relationship"]
        ]

    async def _renamed(self, frontier: Sequence[_Step], timeout: float) -> list[_Step]:
        """Steps of the frontier that continue at other nodes, whose names suggest that they are the same things."""
        places = [(step, *end) for step in frontier for end in _ends(step.record).items() if end[0] in step.exits]
        names = sorted({name for *_, name in places if words(name)})
        if not names:
            return []
        own, parts = must_be("user_id", [self.scope.user_id]), " ".join(part for name in names for part in _parts(name))
        parameters: dict[str, object] = {"index": NODE_TEXT_INDEX, "limit": NAMES_READ, "of_user": own}
        parameters |= {"keys": [key for _, key, _ in places], "by_name": [f"{own} +({parts})"] if parts else []}
        parameters["by_alias"] = f"{own} +notes_text:({' '.join(map(quoted, names))})"
        try:
            rows = await self.scope.read(self.scope.statement("find_same_things"), parameters, timeout=timeout)
        except StoreError:  # expansion works without the full-text index
            return []
        return [
            replace(step, exits=frozenset([row["entity_key"]]), others=(row["element_id"],))
            for row in rows
            for step, key, name in places
            if key in row["aliases_of"] or may_name_the_same(name, row["name"] or "", row["aliases"])
        ][:BEAM_WIDTH]


def _parts(name: str) -> list[str]:
    """Full-text clauses for names of the same thing: each clause requires all words of the name but one or two."""
    found = words(name)
    size = max(2, len(found) - (2 if len(found) <= LONGEST_NAME else 1))
    return [f"name:({' '.join('+' + quoted(word) for word in part)})" for part in combinations(found, size)]


def _starts(matches: Sequence[Candidate], mentioned: Set[str], owner: Set[str]) -> list[_Step]:
    """Matches as starts, best first: a mentioned node counts more than a small difference in similarity."""
    records = [(match, match.record) for match in matches if isinstance(match.record, RelationshipRecord)]
    rare = mentioned - (_hubs(matches) - owner) or mentioned
    nearest = {key: max(match.score for match, record in records if key in _ends(record)) for key in rare}
    top = max((match.score for match in matches), default=0.0)
    starts = []
    for match, record in records:
        keys, start = _ends(record).keys(), match
        if len(keys) > 1 and keys <= mentioned:
            start, score = replace(match, text_score=1.0), top + JOINED_WEIGHT * match.score
        elif at := keys & rare:
            # A query may mention several nodes. The best match at each of them starts nearly as high as the best match
            # of all; at the owner it starts as high, because texts in the first person do not name the owner.
            share = 1.0 if at & owner else 0.5
            score = match.score + share * (top - min(nearest[key] for key in at))
        else:
            score = match.score - (UNMENTIONED_COST if mentioned else 0.0)
        starts.append(_Step(start, score, record, frozenset(keys - mentioned)))
    return sorted(starts, key=lambda step: -step.score)


def _best(fit: Callable[[Chain], float], step: _Step) -> float:
    return max(map(fit, step.chains))


def _rank_behind_rivals(steps: Iterable[_Step], starts: Sequence[_Step]) -> None:
    """Rank paths below the matches at the same mentioned node that are about as similar as the start of the path."""
    known = {start.record.element_id: start for start in starts}
    matches = [(one.score, _ends(one.record)) for one in starts]
    for step in steps:
        if not step.candidate.path:
            continue
        start = known[step.path[0].element_id]
        least, at = start.score - CHOICE_TEMPERATURE, _ends(start.record).keys() - start.exits
        rivals = [score - HOP_COST for score, ends in matches if score > least and not at.isdisjoint(ends)]
        own = known.get(step.record.element_id)
        step.score = max(min([step.score, *rivals]), own.score if own else -math.inf)


def _rank_after_direct(steps: Sequence[_Step], starts: Sequence[_Step], below: Set[str], owner: Set[str]) -> None:
    """Rank paths below the matches at the same mentioned node, except the owner, but not below those elsewhere."""
    ordered = sorted(steps, key=lambda step: -step.score)
    places = {one.record.element_id: _ends(one.record).keys() - one.exits - owner for one in starts}
    floor = next((one.score + 2 * HOP_COST for one in ordered if one.record.element_id in below), -1.0)
    scores = [(max(one.score, floor), places.get(one.record.element_id, ())) for one in ordered]
    lowest, highest = {key: score for score, keys in scores for key in keys}, dict[str, float]()
    for step in ordered:
        score, keys = step.score, places[step.path[0].element_id]
        excess = (highest.setdefault(key, score) - lowest[key] + HOP_COST for key in keys)
        step.score -= 0.0 if step.record.element_id in places else max([0.0, *excess])


def _reached(record: RelationshipRecord, similarity: float, score: float, lead: _Step) -> _Step:
    visited = lead.visited | lead.exits
    candidate = Candidate(key_of(record), score, record, similarity, path=lead.path)
    return _Step(candidate, score, record, frozenset(_ends(record).keys() - visited))


def _names(matches: Iterable[Candidate]) -> dict[str, str]:
    """Keys and names of the nodes that relationships join."""
    records = (one.record for one in matches)
    return {key: name for one in records if isinstance(one, RelationshipRecord) for key, name in _ends(one).items()}


def _hubs(matches: Iterable[Candidate]) -> set[str]:
    matches_at = Counter(key for one in matches for key in _names([one]))
    return {key for key, count in matches_at.items() if count > HUB_MATCHES}


def _ends(record: RelationshipRecord) -> Mapping[str, str]:
    return {record.from_entity_key: record.from_name, record.to_entity_key: record.to_name}
