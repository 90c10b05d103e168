"""Measures how well searches answer questions about a graph: where in the text that a model reads
the answers stand, beside plain dense search.
"""

import random
import re
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from typing import Annotated, NamedTuple, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator

from kgagent.answers.page import NOTHING_ABOUT
from kgagent.answers.token_budget import estimated_tokens
from kgagent.errors import InputError
from kgagent.files.json_lines import read_lines
from kgagent.graph.records import RelationshipRecord
from kgagent.knowledge_graph import KnowledgeGraph, services_of
from kgagent.models.fields import FilledText
from kgagent.models.graph import GraphModel
from kgagent.models.when import day_number, is_past
from kgagent.names import contains_words, plain_sentence
from kgagent.progress import Progress, SilentProgress
from kgagent.upkeep.scan import Scan
from kgagent.validation import explain_validation_error

CUTS = (250, 500, 1_000)
"""Tokens of what a model reads within which answers are looked for."""

HIDDEN = "who or what"
"""Stands in a made question for the node that is asked for."""

MOST_ANSWERS = 5
"""Relationships that answer a made question at most."""

FIRST_WORDS = 8
"""Words of a note by which it is recognized; an answer may cut a long one."""

MEDIANS = frozenset({"line", "ms", "tokens"})
"""The figures that are no shares."""

Figures = Mapping[str, float | None]
"""A figure is None if nothing has it."""

_STATEMENT_END = re.compile(r" \| |$")
_ABOUT_OTHERS = NOTHING_ABOUT.partition("{")[0]
"""Begins a line that repeats names of the question."""

Texts = Annotated[
    tuple[FilledText, ...],
    BeforeValidator(lambda given: [given] if isinstance(given, str) else given),
]


class Question(BaseModel):
    """A question, and what its answer must contain.

    Attributes:
        question: the text.
        names: names of nodes.
        contains: texts; all words of one stand on one line.
        answer: a text that stands on one line as it is.
        stale: like `contains`: what held formerly, and must not come first.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: FilledText
    names: Texts = ()
    contains: Texts = ()
    answer: Texts = ()
    stale: Texts = ()

    @property
    def wanted(self) -> list[list[str]]:
        """What the answer must contain: each time some phrases on one line."""
        whole = [[text] for text in (*self.names, *self.answer)]
        return [*whole, *(text.split() for text in self.contains)]

    @model_validator(mode="after")
    def _check_wanted(self) -> Self:
        if not self.wanted:
            raise ValueError("give names, contains or answer: what the answer must contain")
        return self


class Evaluation(GraphModel):
    """Figures of `hybrid_search` with its defaults, and of plain dense search.

    found@250: mean share of what the questions want within the first 250 tokens. nothing relevant:
    share of the answers that say so, wrongly. stale first: share of the questions with something
    stale in which it comes first. Medians: the line with the last part of what is wanted, the
    tokens of the first page, and the time until it without that of embedding the question.

    Attributes:
        questions: what was asked.
        missed: those of which kgagent does not show all that is wanted.
    """

    questions: tuple[str, ...]
    kgagent: Figures
    dense: Figures
    missed: tuple[str, ...] = ()

    def worse_than(self, before: "Evaluation", tolerance: float) -> set[str]:
        """The shares of kgagent that are worse than they were by more than `tolerance`.

        Raises:
            InputError: other questions were asked before.
        """
        if before.questions != self.questions:
            raise InputError("The earlier run asked other questions; ask those of one file twice")
        both = {name: (before.kgagent.get(name), new) for name, new in self.kgagent.items()}
        return {
            name
            for name, (old, new) in both.items()
            if old is not None and new is not None and name not in MEDIANS
            if (old - new if name.startswith("found") else new - old) > tolerance
        }


class Place(NamedTuple):
    """Where a text has something: the line, from 1, and the tokens up to the statement's end."""

    line: int
    tokens: float


def place_of(
    text: str, phrases: Sequence[str], tokens: Callable[[str], float] = estimated_tokens
) -> Place | None:
    """Where a line first has all of some phrases; None if none has. `tokens` counts them."""
    plain_phrases = map(plain_sentence, phrases)
    wanted, begin = [phrase for phrase in plain_phrases if phrase], 0

    def has_all(part: str) -> bool:
        plain = plain_sentence(part)
        return bool(wanted) and all(contains_words(plain, phrase) for phrase in wanted)

    for number, line in enumerate(text.split("\n"), start=1):
        if not line.startswith(_ABOUT_OTHERS) and has_all(line):
            ends = (match.start() for match in _STATEMENT_END.finditer(line))
            end = next(end for end in ends if has_all(line[:end]))
            return Place(number, tokens(text[: begin + end]))
        begin += len(line) + 1
    return None


def shares(places: Sequence[Place | None], cuts: Sequence[int] = CUTS) -> list[float]:
    """The share of what is wanted within the first tokens, for each number of them."""
    return [fmean(place is not None and place.tokens <= cut for place in places) for cut in cuts]


def read_questions(path: Path) -> list[Question]:
    """Read a file of JSON Lines, an object with the fields of `Question` on each.

    Raises:
        InputError: the file cannot be read, has no question, or a line is invalid.
    """
    questions = []
    for line in read_lines(path):
        try:
            questions.append(Question.model_validate_json(line.content))
        except ValidationError as error:
            problem = explain_validation_error(error, Question)
            raise InputError(f"{path}, line {line.number}: {problem}") from None
    if not questions:
        raise InputError(f"{path} has no question")
    return questions


async def make_questions(
    graph: KnowledgeGraph, count: int, *, user_id: str, seed: int = 0
) -> list[Question]:
    """Hide relationships and notes behind questions; a graph and a seed always give the same ones.

    A relationship is asked for without one of its nodes: "Ruth Calder mentor who or what?". The
    answer is all present ones with the other node and the type; what has ended is stale. The only
    note between two nodes is asked for by their names.

    Raises:
        InputError: there is nothing to ask about.
    """
    services = services_of(graph)
    now = services.write_context.clock()
    async with Scan(services, "nodes", user_id).records() as nodes:
        names = {one.ends[0].entity_key: one.record.text("name") async for one in nodes}
    present, past = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    notes = defaultdict[str, list[str]](list)
    async with Scan(services, "relationships", user_id).records() as found:
        async for one in found:
            first, second = (names.get(end.entity_key, "") for end in one.ends)
            if not isinstance(one.record, RelationshipRecord) or not first or not second:
                continue
            record = replace(one.record, from_name=first, to_name=second)
            facts = past if is_past(record.text("when"), day_number(now)) else present
            for hidden in (replace(record, from_name=HIDDEN), replace(record, to_name=HIDDEN)):
                facts[f"{hidden.triplet}?"].add(record.triplet)
            about = "What is known of {} and {}?".format(*sorted((first, second)))
            notes[about] += [note.content for note in record.notes if note.is_current(now)]
    questions = [
        Question(question=asked, contains=tuple(sorted(facts)), stale=tuple(past[asked] - facts))
        for asked, facts in present.items()
        if len(facts) <= MOST_ANSWERS
    ]
    questions += [
        Question(question=asked, answer=(" ".join(own[0].split()[:FIRST_WORDS]),))
        for asked, own in notes.items()
        if len(own) == 1
    ]
    if not questions:
        raise InputError(
            f"User {user_id} has no relationships to ask about; give a file with questions of your "
            "own, as docs/quality.md describes"
        )
    questions.sort(key=lambda one: one.question)
    return random.Random(seed).sample(questions, min(count, len(questions)))  # noqa: S311


async def evaluate(
    graph: KnowledgeGraph,
    questions: Sequence[Question],
    *,
    user_id: str,
    progress: Progress | None = None,
) -> Evaluation:
    """Ask questions, at least one; nothing is written to the graph.

    Raises:
        KgAgentError: a search failed.
    """
    own, dense = list[dict[str, float | None]](), list[dict[str, float | None]]()
    with (progress or SilentProgress()).task("Asking", len(questions)) as advance:
        for one in questions:
            # The embedding is cached, so that it is no part of either time.
            await graph.retrieval.embed_queries([one.question])
            own.append(await _ask(graph, one, user_id))
            began = time.perf_counter()
            nearest = await graph.retrieval.nearest_statements(one.question, user_id=user_id)
            ms = 1e3 * (time.perf_counter() - began)
            dense.append(_answered(one, "\n".join(nearest)) | {"ms": ms})
            advance(1)
    return Evaluation(
        questions=tuple(one.question for one in questions),
        kgagent=_figures(own),
        dense=_figures(dense),
        missed=tuple(
            one.question for one, row in zip(questions, own, strict=True) if row["line"] is None
        ),
    )


async def _ask(graph: KnowledgeGraph, question: Question, user_id: str) -> dict[str, float | None]:
    """Ask as a model does, page after page until it has read enough."""
    tool, asked = graph.tools(user_id=user_id)["hybrid_search"], {"query": question.question}
    began = time.perf_counter()
    page = await tool.call_text(asked)
    ms, first, text = 1e3 * (time.perf_counter() - began), page, page.text
    while "next_cursor" in page.payload and estimated_tokens(text) < CUTS[-1]:
        page = await tool.call_text({**asked, "cursor": page.payload["next_cursor"]})
        text += f"\n{page.text}"
    if page.is_error:
        raise InputError(f"{question.question!r}: {page.payload['error']}")
    return _answered(question, text) | {
        "nothing relevant": first.payload.get("is_relevant") is False,
        "ms": ms,
        "tokens": estimated_tokens(first.text),
    }


def _answered(question: Question, text: str) -> dict[str, float | None]:
    places = [place_of(text, one) for one in question.wanted]
    last = None if None in places else max(filter(None, places))
    stale = filter(None, (place_of(text, one.split()) for one in question.stale))
    is_first = any(last is None or place < last for place in stale)
    return {
        **{f"found@{cut}": share for cut, share in zip(CUTS, shares(places), strict=True)},
        "line": last and last.line,
        "stale first": is_first if question.stale else None,
    }


def _figures(rows: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    figures = dict[str, float | None]()
    for name in rows[0]:
        known = [value for row in rows if (value := row[name]) is not None]
        average = median if name in MEDIANS else fmean
        figures[name] = average(known) if known else None
    return figures
