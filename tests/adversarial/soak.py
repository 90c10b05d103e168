"""Agents of several users call the tools at random, and a model in plain Python says what must be
there afterwards.

`scripts/soak.py` runs it for any length. Each agent works on records of its own, whose content the
model knows exactly; all agents of a user add notes to a shared relationship, of which none may be
lost; and mutated calls go to records whose content is not modelled, for which the invariants hold
all the same.
"""

import asyncio
import itertools
import json
import statistics
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from random import Random
from typing import Any

from kgagent import KnowledgeGraph, Settings
from kgagent.answers.token_budget import estimated_tokens
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.tools import BoundTool, Payload, Toolset
from tests.adversarial.hostile_calls import Call, hostile_calls
from tests.adversarial.soak_agent import Agent
from tests.adversarial.soak_faults import AWAY, Faults, FaultyEmbedder
from tests.adversarial.soak_model import Change, Node, Relationship, Stored, Zone, compare, settled
from tests.support.payloads import assert_nothing_hidden

DIMENSIONS = 384
BUDGET = 2_000
BUSY = ("The graph is busy", "Concurrent writes")
LATE = ("its time limit", "took longer than")
FAULTS = (
    AWAY,
    "cannot be reached",
    *LATE,
    "not known whether the write took effect",
    "cannot be used",
    "every retriever",
)
"""Parts of the errors that a call may end with while there are faults."""

SHARED = "shared"
SHARED_NOTES = 150
"""Notes on a shared relationship before the agents get another one."""

MAX_VIOLATIONS = 50


@dataclass
class Figures:
    """What a run did.

    Attributes:
        refused: calls whose answer was an error of the input.
        busy: calls that were refused because others ran, or won.
        late: calls that a time limit ended, as happens on a machine with too much work.
        failed: calls that a fault made fail.
        settled: calls of which a comparison showed what they had done, by the number of their
            changes that were found.
    """

    tools: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    succeeded: int = 0
    refused: int = 0
    busy: int = 0
    late: int = 0
    failed: int = 0
    settled: Counter[str] = field(default_factory=Counter)
    comparisons: int = 0
    compared: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    slowest: dict[str, float] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)
    violation_count: int = 0

    def violated(self, texts: Sequence[str]) -> None:
        """Keep the first violations, and count all."""
        self.violation_count += len(texts)
        self.violations += texts[: MAX_VIOLATIONS - len(self.violations)]

    def summary(self, elapsed: float) -> dict[str, Any]:
        """The figures as JSON."""
        calls, sorted_seconds = self.tools.total(), sorted(self.seconds) or [0.0]
        return {
            "calls": calls,
            "calls_per_second": round(calls / elapsed, 1),
            "succeeded": self.succeeded,
            "refused": self.refused,
            "busy": self.busy,
            "late": self.late,
            "failed": self.failed,
            "settled": dict(self.settled),
            "kinds": dict(self.kinds.most_common()),
            "tools": dict(self.tools.most_common()),
            "comparisons": self.comparisons,
            "last_comparison": dict(self.compared),
            "median_ms": round(statistics.median(sorted_seconds) * 1000, 1),
            "p99_ms": round(sorted_seconds[int(len(sorted_seconds) * 0.99)] * 1000, 1),
            "longest_ms": {name: round(self.slowest[name] * 1000) for name in sorted(self.slowest)},
            "violation_count": self.violation_count,
            "violations": self.violations,
        }


class World:
    """The users, their agents, and the graphs that they share."""

    def __init__(
        self,
        graphs: Sequence[KnowledgeGraph],
        users: Sequence[str],
        *,
        seed: int,
        has_faults: bool = False,
    ) -> None:
        self.figures = Figures()
        self.users = tuple(users)
        self.zones: dict[str, dict[str, Zone]] = {user: {SHARED: Zone()} for user in users}
        self.keys: dict[str, list[str]] = {user: [] for user in users}
        self.shared: dict[str, tuple[str, str]] = {}
        self.has_faults = has_faults
        self.doubts: dict[tuple[str, str], Sequence[Change]] = {}
        self._graphs = graphs
        self._words = {user: f"zq{Random(f'{seed} {user}').getrandbits(64):016x}" for user in users}
        self._hostile: Iterator[Call] = itertools.chain.from_iterable(
            hostile_calls(graphs[0].tools(user_id=users[0])) for _ in itertools.count()
        )

    def word(self, user: str) -> str:
        """A word that each text of a user has, and no text of another user."""
        return self._words[user]

    def tools(self, user: str, place: int) -> Toolset:
        """The tools of a user, at one of the graphs."""
        return self._graphs[place % len(self._graphs)].tools(user_id=user)

    def foreign_key(self, rng: Random, user: str) -> str | None:
        """The key of a node of another user."""
        others = [key for other, keys in self.keys.items() if other != user for key in keys[-200:]]
        return rng.choice(others) if others else None

    def next_hostile(self) -> Call:
        """The next call of the list of hostile calls."""
        return next(self._hostile)

    async def call(
        self,
        tools: Mapping[str, BoundTool],
        user: str,
        tool: str,
        arguments: Mapping[str, Any] | None,
        *,
        kind: str,
    ) -> Payload | None:
        """Call a tool and check its answer; the payload if it succeeded.

        Args:
            tools: tools of the user.
            user: the user.
            tool: name of the tool.
            arguments: its arguments.
            kind: "valid" if it must succeed, else what the call is.
        """
        self.figures.tools[tool] += 1
        self.figures.kinds[kind] += 1
        began = time.monotonic()
        try:
            answer = await tools[tool].call_text(arguments)
        except Exception:
            self.figures.violated(
                [f"{tool} raised for {_short(arguments)}: {traceback.format_exc()[-1_500:]}"]
            )
            return None
        seconds, which = time.monotonic() - began, f"{tool}, {kind}"
        self.figures.seconds.append(seconds)
        self.figures.slowest[which] = max(seconds, self.figures.slowest.get(which, 0.0))
        said = f"{answer.text}\n{json.dumps(answer.payload, default=str)}"
        for other, word in self._words.items():
            if other != user and word in said:
                self.figures.violated(
                    [f"{tool} showed {user} a text of {other} for {_short(arguments)}"]
                )
        try:
            assert_nothing_hidden(answer.payload)
        except (AssertionError, ValueError) as wrong:
            self.figures.violated(
                [f"{tool} shows what it must not for {_short(arguments)}: {wrong}"]
            )
        if tools[tool].read_only and kind == "valid" and estimated_tokens(answer.text) > BUDGET:
            self.figures.violated([f"{tool} answered with {estimated_tokens(answer.text)} tokens"])
        if not answer.is_error:
            self.figures.succeeded += 1
            return answer.payload
        self._count_error(tool, str(answer.payload["error"]), arguments, kind)
        return None

    def _count_error(self, tool: str, error: str, arguments: object, kind: str) -> None:
        """Count a call that ended with an error, which a valid call must not but for other calls,
        load and faults.

        The comparison sees whether a write that a time limit ended has left anything.
        """
        if error.startswith(BUSY):
            self.figures.busy += 1
        elif self.has_faults and any(part in error for part in FAULTS):
            self.figures.failed += 1
        elif any(part in error for part in LATE):
            self.figures.late += 1
        else:
            self.figures.refused += 1
            if kind == "valid" or "failed inside" in error:
                self.figures.violated(
                    [f"{tool} refused a {kind} call: {error[:400]}; {_short(arguments)}"]
                )

    async def renew_shared(self) -> None:
        """Give the agents of each user a relationship without notes, where the old one has many."""
        for user in self.users:
            zone = self.zones[user][SHARED]
            ends = self.shared.get(user)
            if ends is not None and len(zone.relationships[ends].notes) < SHARED_NOTES:
                continue
            number = len(zone.nodes)
            people = [
                {
                    "label": "Person",
                    "name": f"{SHARED} {number + place}",
                    "description": f"Met {self.word(user)}",
                }
                for place in range(2)
            ]
            keys = []
            for person in people:
                answer = await self.call(
                    self.tools(user, 0), user, "create_node", person, kind="valid"
                )
                assert answer is not None
                keys.append(str(answer["node"]["entity_key"]))
                zone.nodes[keys[-1]] = Node(person["name"], person["description"], "Person")
            ends = (keys[0], keys[1])
            between = {
                "from_entity_key": ends[0],
                "to_entity_key": ends[1],
                "relationship_type": "friend",
            }
            await self.call(self.tools(user, 0), user, "create_relationship", between, kind="valid")
            zone.relationships[ends] = Relationship(values=None)
            self.shared[user] = ends

    async def compare(self, *, doctor: bool) -> None:
        """Compare all that is stored with the model.

        Args:
            doctor: whether to diagnose, too, which sees the schema that other programs may change.
        """
        self.figures.comparisons += 1
        self.figures.compared.clear()
        await self._settle()
        for user in self.users:
            foreign = [word for other, word in self._words.items() if other != user]
            found = await compare(self._graphs[0], user, self.zones[user], foreign)
            self.figures.compared.update(
                nodes=found.nodes, relationships=found.relationships, notes=found.notes
            )
            self.figures.violated(found.violations)
            diagnosis = await self._graphs[0].diagnose(user_id=user) if doctor else None
            if diagnosis is not None and not diagnosis.is_healthy:
                self.figures.violated([f"doctor: {finding}" for finding in diagnosis.findings])

    async def _settle(self) -> None:
        """Find out what the calls did whose reply was lost; if nothing agrees, the comparison says
        so.
        """
        for user in {user for user, _ in self.doubts}:
            stored = await Stored.of(self._graphs[0], user)
            for prefix, zone in self.zones[user].items():
                if (changes := self.doubts.pop((user, prefix), None)) is None:
                    continue
                after = settled(prefix, zone, changes, stored)
                self.figures.settled[
                    "nothing" if after == zone else "unclear" if after is None else "done"
                ] += 1
                self.zones[user][prefix] = after or zone

    async def leave(self) -> None:
        """Forget the users; nothing of them may be left."""
        for user in self.users:
            await self._graphs[0].forget(user_id=user)
            left = await self._graphs[0].forget(user_id=user, dry_run=True)
            if left.nodes or left.relationships or left.deleted:
                self.figures.violated([f"{user} was forgotten, but {left}"])


async def soak(
    settings: Settings,
    *,
    users: Sequence[str],
    agents: int,
    calls: int | None,
    seconds: float | None,
    seed: int,
    steps: int = 40,
    doctor: bool = True,
    fuzz: bool = False,
    faults: Faults | None = None,
) -> Figures:
    """Run until so many calls were made, so much time has passed, or all faults have happened; at
    least one round.

    Args:
        settings: settings of the graph.
        users: users without records; they are forgotten at the end.
        agents: agents of each user.
        calls: end after at least so many calls.
        seconds: end after so much time.
        seed: of the random decisions.
        steps: steps of each agent between two comparisons.
        doctor: whether a comparison diagnoses the users, too.
        fuzz: whether most calls are mutated or hostile.
        faults: what goes wrong, one thing in each round; None: nothing.
    """
    began = time.monotonic()
    async with AsyncExitStack() as stack:
        if faults is not None:
            settings = settings.model_copy(update={"neo4j_uri": faults.uri})
        plain = HashingEmbedder(DIMENSIONS)
        embedder = plain if faults is None else FaultyEmbedder(plain, faults)
        graphs = [
            await stack.enter_async_context(
                KnowledgeGraph.connect(settings=settings, embedder=embedder)
            )
            for _ in range(2)
        ]
        world = World(graphs, users, seed=seed, has_faults=faults is not None)
        crew = [
            Agent(world, user, place, seed=seed, fuzz=fuzz)
            for user in users
            for place in range(agents)
        ]
        while True:
            await world.renew_shared()
            running = asyncio.gather(*(agent.run(steps) for agent in crew))
            if faults is not None:
                await faults.happen()
            await running
            if faults is not None:
                await faults.end(graphs, users[0])
            await world.compare(doctor=doctor)
            enough = calls is not None and world.figures.tools.total() >= calls
            late = seconds is not None and time.monotonic() - began >= seconds
            done = faults is not None and faults.are_done
            if enough or late or done or world.figures.violation_count >= MAX_VIOLATIONS:
                break
        await world.leave()
    return world.figures


def _short(arguments: object) -> str:
    return repr(arguments)[:600]
