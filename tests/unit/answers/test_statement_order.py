import re
from datetime import UTC, datetime, timedelta

import pytest

from kgagent.answers.items import Item, NodeItem, RelationshipItem, RenderState
from kgagent.answers.page import Content, text_page
from kgagent.answers.statement_order import MIN_STATEMENTS, by_statement, page_length, with_counts
from kgagent.answers.token_budget import estimated_tokens
from kgagent.models import GraphNode, GraphRelationship, Note
from kgagent.models.note import MatchedNote

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def friends(description: float | None, *notes: float, score: float | None = None) -> RelationshipItem:
    """Two friends; the statements have these scores."""
    known = GraphRelationship(
        from_entity_key="nora",
        to_entity_key="ole",
        from_name="Nora",
        to_name="Ole",
        neo4j_type="has_relationship_with",
        relationship_type="friend of",
        attitude_word="close",
        description="" if description is None else "They grew up together.",
        description_score=description,
        notes=tuple(MatchedNote(content=f"Note {own:.3f}".removesuffix("0"), score=own) for own in notes),
    )
    return RelationshipItem(known, "relationships", score=max(notes) if score is None else score)


def lighthouse(*notes: float) -> NodeItem:
    known = tuple(MatchedNote(content=f"Light {own:.3f}".removesuffix("0"), score=own) for own in notes)
    node = GraphNode(entity_key="light", label="Entity", name="Lighthouse", notes=known)
    return NodeItem(node, "objects", score=max(notes))


def lines(items: list[Item]) -> list[str]:
    return text_page(Content(items), lambda: RenderState(NOW, relationship_hint="get_relationship"), 2_000).text.split(
        "\n"
    )


def test_statements_of_several_items_are_sorted_together_and_those_that_follow_each_other_share_a_line() -> None:
    items = by_statement([friends(0.5, 0.9, 0.85, 0.6), lighthouse(0.7)], NOW)
    assert lines(items) == [
        "Nora -[friend of]-> Ole (close) 0.90: Note 0.90 | Note 0.85",
        "Lighthouse (Entity) 0.70: Light 0.70",
        "Nora -[friend of]-> Ole 0.60: Note 0.60 | They grew up together.",
    ]
    assert [item.score for item in items] == [0.9, 0.85, 0.7, 0.6, 0.5]


def test_a_statement_never_goes_on_with_the_line_of_something_else() -> None:
    plain = NodeItem(GraphNode(entity_key="ole", label="Person", name="Ole"), "objects", score=0.7)
    assert lines(by_statement([friends(None, 0.9, 0.6), plain], NOW)) == [
        "Nora -[friend of]-> Ole (close) 0.90: Note 0.90",
        "Ole 0.70",
        "Nora -[friend of]-> Ole 0.60: Note 0.60",
    ]


def test_where_a_record_is_named_first_the_notes_that_the_page_does_not_show_are_counted() -> None:
    items = by_statement([lighthouse(0.9, 0.88, 0.4, 0.3), friends(None, 0.85, 0.2)], NOW)
    assert lines(with_counts(items, 4, NOW)[:4]) == [
        "Lighthouse (Entity) 0.90: Light 0.90 | Light 0.88 | +1 note",
        "Nora -[friend of]-> Ole (close) 0.85: Note 0.85 | +1 note: get_relationship",
        "Lighthouse 0.40: Light 0.40",
    ]


@pytest.mark.parametrize("budget", [100, 130, 333, 2_000])
def test_pages_show_every_statement_once_in_the_order_of_the_scores(budget: int) -> None:
    notes = [0.9 - n / 1_000 for n in range(120)]
    content = Content(by_statement([friends(0.95, *notes[::2], score=0.95), lighthouse(*notes[1::2])], NOW))
    offset: int | None = 0
    seen: list[str] = []
    while offset is not None:
        page = text_page(content, lambda: RenderState(NOW), budget, offset=offset, cursor=str)
        assert estimated_tokens(page.text) <= budget
        seen += re.findall(r"(?:Note|Light) 0\.\d+|grew up", page.text)
        offset = int(page.payload["next_cursor"]) if "next_cursor" in page.payload else None
    shown = [f"{('Note', 'Light')[n % 2]} {note:.3f}".removesuffix("0") for n, note in enumerate(notes)]
    assert seen == ["grew up", *shown]


def test_a_statement_is_not_cut_at_the_end_of_a_page() -> None:
    long = MatchedNote(content="Rowed and rowed. " * 20, score=0.8)
    node = GraphNode(entity_key="light", label="Entity", name="Lighthouse", notes=(long,))
    content = Content(by_statement([friends(None, *([0.9] * 9)), NodeItem(node, "objects", score=0.8)], NOW))
    first = text_page(content, lambda: RenderState(NOW), 170, cursor=str)
    assert first.payload["next_cursor"] == "9"
    assert "Rowed" not in first.text
    second = text_page(content, lambda: RenderState(NOW), 170, offset=9, cursor=str)
    assert second.text.count("Rowed and rowed.") == 20


def test_a_first_page_has_what_scores_near_the_best_and_at_least_some_statements() -> None:
    spread = [0.9, 0.86, 0.83, *(0.5 - n / 100 for n in range(30))]
    nodes = [lighthouse(score) for score in spread]
    for place, item in enumerate(nodes):
        nodes[place] = NodeItem(item.node.model_copy(update={"entity_key": str(place)}), "objects", score=item.score)
    assert page_length(by_statement(nodes, NOW)) == MIN_STATEMENTS
    near = [lighthouse(0.9 - n / 1_000) for n in range(40)]
    assert page_length(by_statement(near, NOW)) == 40


def test_an_order_that_is_not_that_of_the_scores_stays() -> None:
    items = [lighthouse(0.7, 0.6), friends(0.5, 0.9)]
    assert by_statement(items, NOW) == items


def test_what_a_reranker_ordered_and_what_has_no_scored_statement_stays_whole_and_in_order() -> None:
    reranked, plain = friends(0.5, 0.9, score=0.2), lighthouse(0.7)
    plain = NodeItem(plain.node.model_copy(update={"notes": (Note(content="Built in 1870"),)}), "objects", score=0.1)
    assert by_statement([reranked, plain], NOW) == [reranked, plain]


def test_expired_notes_and_ends_of_relationships_have_no_line() -> None:
    expired = MatchedNote(content="Old", score=0.9, expires_at=NOW - timedelta(days=1))
    node = GraphNode(entity_key="nora", label="Person", name="Nora", notes=(expired,))
    silent = NodeItem(node, "objects", score=0.9, is_named=True, is_only_named=True)
    assert lines(by_statement([silent, friends(None, 0.8)], NOW)) == ["Nora -[friend of]-> Ole (close) 0.80: Note 0.80"]


def test_a_record_is_in_the_answer_once() -> None:
    items = by_statement([friends(0.5, 0.9, 0.6), lighthouse(0.7)], NOW)
    page = text_page(Content(items, sections=("objects", "relationships")), lambda: RenderState(NOW), 2_000)
    assert [len(page.payload[name]) for name in ("objects", "relationships")] == [1, 1]
    [relationship] = page.payload["relationships"]
    assert [note["content"] for note in relationship["notes"]] == ["Note 0.90", "Note 0.60"]
