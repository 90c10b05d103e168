"""Answers of searches: statements in the order of their scores, those of a record on one line of a
page.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kgagent.answers.found import FALL, FEW_STATEMENTS, by_statement, first_page, lines_of
from kgagent.answers.items import Item, NodeItem, PlainItem, RelationshipItem, RenderState
from kgagent.answers.page import Content, text_page
from kgagent.answers.token_budget import estimated_tokens
from kgagent.models import FoundStatement, GraphNode, GraphRelationship, Note
from kgagent.models.passage import Passage

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NOBODY = GraphNode(entity_key="nobody", label="Person", name="Otto")


def statements(
    scores: dict[str, float], description: float | None = None
) -> tuple[FoundStatement, ...]:
    """Notes with their scores, and the description with its score, best first."""
    each = [FoundStatement(note=Note(content=text), score=score) for text, score in scores.items()]
    each += [] if description is None else [FoundStatement(score=description)]
    return tuple(sorted(each, key=lambda one: -one.score))


def friends(scores: dict[str, float], description: float | None = None) -> RelationshipItem:
    """Two friends with such notes and a description."""
    own = statements(scores, description)
    known = GraphRelationship(
        from_entity_key="nora",
        to_entity_key="ole",
        from_name="Nora",
        to_name="Ole",
        neo4j_type="has_relationship_with",
        relationship_type="friend of",
        attitude_word="close",
        description="They grew up together.",
        notes=tuple(Note(content=text) for text in scores),
        statements=own,
    )
    return RelationshipItem(known, "relationships", score=own[0].score)


def lighthouse(
    scores: dict[str, float], description: float | None = None, key: str = "light"
) -> NodeItem:
    """A lighthouse with such notes and a description."""
    own = statements(scores, description)
    notes = tuple(Note(content=text) for text in scores)
    node = GraphNode(
        entity_key=key,
        label="Entity",
        name="Lighthouse",
        description="White.",
        notes=notes,
        statements=own,
    )
    return NodeItem(node, "objects", score=own[0].score)


def state() -> RenderState:
    return RenderState(NOW)


def lines(items: Sequence[Item]) -> list[str]:
    return text_page(Content(items), state, 2_000).text.split("\n")


def test_a_page_has_one_line_a_record_with_its_statements_best_first() -> None:
    items = by_statement(
        [friends({"Sails": 0.9, "Rows": 0.6}, 0.5), lighthouse({"Shines": 0.7}, 0.2)], NOW
    )
    assert lines(items) == [
        "Nora -[friend of]-> Ole (close) 0.90: Sails | Rows | They grew up together.",
        "Lighthouse (Entity) 0.70: Shines | White.",
    ]


def test_statements_of_several_records_are_sorted_together() -> None:
    items = by_statement(
        [friends({"Sails": 0.9, "Rows": 0.6}, 0.5), lighthouse({"Shines": 0.7}, 0.2)], NOW
    )
    assert [item.score for item in items] == [0.9, 0.7, 0.6, 0.5, 0.2]


def test_a_record_whose_statements_are_on_several_pages_has_a_line_on_each() -> None:
    items = by_statement(
        [friends({"Sails": 0.9, "Rows": 0.6}, 0.5), lighthouse({"Shines": 0.7})], NOW
    )
    content = Content(items, at_most=2)
    first = text_page(content, state, 2_000, cursor=str)
    second = text_page(content, state, 2_000, offset=2, cursor=str)
    assert first.text.splitlines()[:-1] == [
        "Nora -[friend of]-> Ole (close) 0.90: Sails",
        "Lighthouse (Entity) 0.70: Shines",
    ]
    assert (
        second.text.splitlines()[0]
        == "Nora -[friend of]-> Ole (close) 0.60: Rows | They grew up together."
    )


def test_a_record_without_a_text_is_a_line_without_one() -> None:
    bare = NodeItem(
        NOBODY.model_copy(update={"statements": (FoundStatement(score=0.8),)}), "objects", score=0.8
    )
    assert lines(by_statement([bare, lighthouse({"Shines": 0.7})], NOW)) == [
        "Otto (Person) 0.80",
        "Lighthouse (Entity) 0.70: Shines",
    ]


def test_a_statement_that_two_records_made_is_shown_for_both_and_once_for_each() -> None:
    known = [
        friends({"Painted it": 0.9, "painted  it": 0.6}),
        lighthouse({"Painted it": 0.8, "Shines": 0.7}),
    ]
    assert lines(by_statement(known, NOW)) == [
        "Nora -[friend of]-> Ole (close) 0.90: Painted it",
        "Lighthouse (Entity) 0.80: Painted it | Shines",
    ]


@pytest.mark.parametrize("budget", [100, 130, 333, 2_000])
def test_pages_show_every_statement_once_in_the_order_of_the_scores(budget: int) -> None:
    scores = {f"{('Note', 'Light')[n % 2]} {n:03}.": 0.9 - n / 1_000 for n in range(120)}
    of_friends, of_light = ({text: scores[text] for text in list(scores)[n::2]} for n in (0, 1))
    content = Content(by_statement([friends(of_friends, 0.95), lighthouse(of_light)], NOW))
    offset: int | None = 0
    pages: list[list[str]] = []
    while offset is not None:
        page = text_page(content, state, budget, offset=offset, cursor=str)
        assert estimated_tokens(page.text) <= budget
        pages.append(re.findall(r"(?:Note|Light) \d+\.|They grew up together\.", page.text))
        offset = int(page.payload["next_cursor"]) if "next_cursor" in page.payload else None
    ranks = {text: rank for rank, text in enumerate(["They grew up together.", *scores])}
    assert [sorted(map(ranks.__getitem__, page)) for page in pages] == _split(
        range(121), map(len, pages)
    )
    assert len(pages) > 1 or budget == 2_000


def test_a_statement_is_not_cut_at_the_end_of_a_page() -> None:
    notes = {f"Note {n}": 0.9 for n in range(9)}
    content = Content(
        by_statement([friends(notes), lighthouse({"Rowed and rowed. " * 20: 0.8})], NOW)
    )
    first = text_page(content, state, 170, cursor=str)
    assert first.payload["next_cursor"] == "9"
    assert "Rowed" not in first.text
    second = text_page(content, state, 170, offset=9, cursor=str)
    assert second.text.count("Rowed and rowed.") == 20


def test_a_record_is_in_the_payload_once() -> None:
    items = by_statement(
        [friends({"Sails": 0.9, "Rows": 0.6}, 0.5), lighthouse({"Shines": 0.7})], NOW
    )
    payload = text_page(Content(items, sections=("objects", "relationships")), state, 2_000).payload
    assert [len(payload[name]) for name in ("objects", "relationships")] == [1, 1]
    [relationship] = payload["relationships"]
    assert [note["content"] for note in relationship["notes"]] == ["Sails", "Rows"]


def test_an_expired_note_is_not_shown() -> None:
    expired = Note(content="Old", expires_at=NOW - timedelta(days=1))
    own = (
        FoundStatement(note=expired, score=0.9),
        FoundStatement(note=Note(content="New"), score=0.8),
    )
    node = NOBODY.model_copy(update={"notes": tuple(one.note for one in own), "statements": own})
    assert lines(by_statement([NodeItem(node, "objects", score=0.9)], NOW)) == [
        "Otto (Person) 0.80: New"
    ]


def test_an_end_of_a_relationship_that_was_not_found_by_itself_has_no_line() -> None:
    end = NodeItem(NOBODY, "objects", score=0.9, is_named=True, is_only_named=True)
    assert lines(by_statement([end, friends({"Sails": 0.8})], NOW)) == [
        "Nora -[friend of]-> Ole (close) 0.80: Sails"
    ]


def test_without_scored_statements_the_order_stays() -> None:
    items = [NodeItem(NOBODY, "objects", score=score) for score in (0.2, 0.7)]
    assert by_statement(items, NOW) == items


def test_what_has_no_score_comes_last() -> None:
    plain = PlainItem(None, "sources", "Gazette")
    unscored = NodeItem(NOBODY, "objects")
    items = by_statement([plain, unscored, lighthouse({"Shines": 0.7})], NOW)
    assert [item.score for item in items] == [0.7, None, None]
    assert items[1:] == [plain, unscored]


def test_an_item_of_a_statement_has_the_contributions_of_this_statement() -> None:
    own = (
        FoundStatement(note=Note(content="A"), score=0.9, contributions={"similarity": 0.9}),
        FoundStatement(score=0.4, contributions={"words": 0.4}),
    )
    item = NodeItem(NOBODY.model_copy(update={"statements": own}), "objects", score=0.9)
    assert [one.contributions for one in by_statement([item], NOW)] == [
        {"similarity": 0.9},
        {"words": 0.4},
    ]


def lighthouses(*scores: float) -> list[Item]:
    return by_statement(
        [lighthouse({f"Shines {n}": score}, key=str(n)) for n, score in enumerate(scores)], NOW
    )


def test_a_first_page_ends_where_the_score_falls() -> None:
    near, far = 1.01 * FALL, 0.99 * FALL
    assert first_page(lighthouses(1.0, 0.9, 0.9, 0.8, 0.8, 0.8, near, far, far)) == 7


def test_a_first_page_has_a_few_statements_even_if_the_score_falls_at_once() -> None:
    assert first_page(lighthouses(0.9, *([0.1] * 20))) == FEW_STATEMENTS
    assert first_page(lighthouses(0.9, 0.1)) == 2


def test_a_first_page_without_scores_has_all_items() -> None:
    assert first_page([NodeItem(NOBODY, "objects")] * 9) == 9
    assert first_page([]) == 0


def test_a_number_of_lines_is_a_number_of_records_each_with_the_statements_before_the_next_one() -> (
    None
):
    items = [
        friends({"Sails": 0.9, "Rows": 0.6}),
        lighthouse({"Shines": 0.7}),
        lighthouse({"Far": 0.1}, key="far"),
    ]
    texts, first = lines_of(items, state(), 2)
    assert texts == [
        "Nora -[friend of]-> Ole (close) 0.90: Sails | Rows",
        "Lighthouse (Entity) 0.70: Shines",
    ]
    assert [item.score for item in first] == [0.9, 0.7]


def test_an_item_that_is_shown_in_full_stays_whole() -> None:
    whole = replace(lighthouse({"Shines": 0.7, "Old": 0.2}), in_full=True)
    assert by_statement([whole], NOW) == [whole]


def _split(ranks: Sequence[int], lengths: Iterable[int]) -> list[list[int]]:
    """Numbers in order, split into lists of such lengths."""
    rest = iter(ranks)
    return [[next(rest) for _ in range(length)] for length in lengths]


QUOTED = "Ole: The lamp broke in March. It rained."


def quoting(score: float, of_passage: float, quote: str = "the lamp broke") -> list[Item]:
    """A note of a friendship, and a passage of the source that it quotes, with such scores."""
    note = Note(content="The lamp broke.", source_entity_key="call", quote=quote)
    friendship = friends({"Sails": 0.6})
    noted = friendship.relationship.model_copy(
        update={
            "notes": (*friendship.relationship.notes, note),
            "statements": (
                *friendship.relationship.statements,
                FoundStatement(note=note, score=score),
            ),
        }
    )
    passage = Passage(content=QUOTED, when="2023-04")
    call = GraphNode(
        entity_key="call",
        label="Source",
        name="Call",
        notes=(passage,),
        statements=(
            FoundStatement(note=passage, score=of_passage, contributions={"words": of_passage}),
        ),
    )
    found = [
        RelationshipItem(noted, "relationships", score=max(score, 0.6)),
        NodeItem(call, "objects", score=of_passage),
    ]
    return by_statement(found, NOW)


@pytest.mark.parametrize(("score", "of_passage"), [(0.5, 0.9), (0.9, 0.5)])
def test_a_note_and_the_passage_that_it_quotes_are_one_line_in_the_better_place(
    score: float, of_passage: float
) -> None:
    items = quoting(score, of_passage)
    assert [item.score for item in items] == [0.9, 0.6]
    assert items[0].contributions == ({"words": 0.9} if of_passage > score else {})
    cited = f"(source Call, 2023-04: “{QUOTED}”)"
    assert lines(items) == [
        f"Nora -[friend of]-> Ole (close) 0.90: The lamp broke. {cited} | Sails"
    ]


def test_a_note_that_quotes_another_passage_has_a_line_of_its_own() -> None:
    items = quoting(0.5, 0.9, quote="the lamp was new")
    assert [item.score for item in items] == [0.9, 0.6, 0.5]
    assert lines(items)[0] == f"Call (Source), 2023-04 0.90: “{QUOTED}”"
