import json
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from kgagent.answers.items import Item, NodeItem, RelationshipItem, RenderState
from kgagent.answers.page import Content, json_page, text_page
from kgagent.answers.token_budget import estimated_tokens
from kgagent.errors import InputError
from kgagent.models import GraphNode, GraphRelationship, Note

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BUDGETS = (100, 130, 333, 1_000, 4_000, 20_000)
ENOUGH_FOR_JSON = BUDGETS[2:]


def cursor(position: int) -> str:
    return f"{position}-abcdef"


def new_state() -> RenderState:
    return RenderState(NOW, keys={f"key-{n:036}": f"key-{n}" for n in range(100)})


def items() -> list[Item]:
    """Short and long items, in several scripts."""
    made: list[Item] = []
    for n in range(40):
        description = ("Naval architect. " * n * n) if n % 3 else "我的导师住在海边 🎉 " * n
        notes = tuple(Note(content=f"Note {i} " * (n + 1)) for i in range(n % 7))
        key, other = f"key-{n:036}", f"key-{n + 1:036}"
        if n % 2:
            node = GraphNode(entity_key=key, label="Person", name=f"Name {n}", notes=notes)
            made.append(NodeItem(node, "nodes", in_full=n % 3 == 0))
        made.append(
            RelationshipItem(
                GraphRelationship(
                    **{
                        "from_entity_key": key,
                        "to_entity_key": other,
                        "from_name": f"Name {n}",
                        "notes": notes,
                    },
                    **{
                        "to_name": f"Name {n + 1}",
                        "neo4j_type": "KNOWS",
                        "description": description,
                    },
                ),
                "edges",
                in_full=n % 4 == 0,
            )
        )
    return made


def noted(*lengths: int, in_full: bool = True) -> Content:
    """A node with many short notes or, if lengths are given, with notes of so many words."""
    texts = [f"Long note {n} " + "word " * length for n, length in enumerate(lengths)]
    notes = tuple(Note(content=text) for text in texts or [f"Note number {n}" for n in range(8)])
    node = GraphNode(entity_key="key", label="Person", name="Clara", notes=notes)
    other = GraphNode(entity_key="other", label="Person", name="Bo", description="The second one")
    return Content([NodeItem(node, "nodes", in_full=in_full), NodeItem(other, "nodes")])


CONTENT = Content(
    items(), "Found them", warnings=("One search was skipped: " + "x " * 500, "Another", "A third")
)


@pytest.mark.parametrize("budget", BUDGETS)
def test_text_never_exceeds_the_budget_and_pages_show_every_item_once(budget: int) -> None:
    position, pages = 0, 0
    while position < len(CONTENT.items):
        page = text_page(CONTENT, new_state, budget, offset=position, cursor=cursor)
        assert estimated_tokens(page.text) <= budget
        shown = sum(len(page.payload.get(section, ())) for section in ("nodes", "edges"))
        assert shown > 0
        position += shown
        pages += 1
        if position < len(CONTENT.items):
            assert page.text.splitlines()[-1].endswith(
                f'of 60 shown; continue with cursor "{cursor(position)}"'
            )
            assert page.payload["next_cursor"] == cursor(position)
        else:
            assert "next_cursor" not in page.payload
    assert position == len(CONTENT.items)
    assert pages > 1 or budget == 20_000


def test_a_budget_too_small_for_an_item_as_json_is_an_error() -> None:
    with pytest.raises(InputError, match="token_budget 100 is too small for this answer as JSON"):
        json_page(CONTENT, new_state, 100, cursor=cursor)


@pytest.mark.parametrize("budget", ENOUGH_FOR_JSON)
def test_json_never_exceeds_the_budget_and_pages_have_every_item_once(budget: int) -> None:
    position = 0
    while position < len(CONTENT.items):
        payload = json_page(CONTENT, new_state, budget, offset=position, cursor=cursor).payload
        assert (
            estimated_tokens(json.dumps({"success": True, **payload}, ensure_ascii=False)) <= budget
        )
        assert payload["total"] == 60
        shown = sum(len(payload.get(section, ())) for section in ("nodes", "edges"))
        assert shown > 0
        position += shown
    assert position == len(CONTENT.items)


def test_what_is_left_of_the_budget_shows_the_other_notes_of_an_item_that_is_in_full() -> None:
    in_full = text_page(noted(), new_state, 1_000).text
    assert all(f"Note number {n}" in in_full for n in range(8))
    assert in_full.splitlines()[-1] == "Bo (Person): The second one"
    assert "+6 notes" in text_page(noted(in_full=False), new_state, 1_000).text


def test_an_item_in_full_never_displaces_another_item() -> None:
    for budget in range(100, 240, 7):
        page = text_page(noted(60, 60, 60), new_state, budget, cursor=cursor)
        assert estimated_tokens(page.text) <= budget
        assert "Bo (Person): The second one" in page.text or "1 of 2 shown" in page.text


@pytest.mark.parametrize("budget", [200, 1_000, 4_000])
def test_a_long_note_is_shown_as_far_as_the_budget_allows(budget: int) -> None:
    def hinting() -> RenderState:
        return RenderState(NOW, budget_hint="raise token_budget")

    text = text_page(noted(2_400), hinting, budget).text
    assert budget // 2 < estimated_tokens(text) <= budget
    assert text.startswith("Clara (Person): Long note 0 word")
    assert (" characters: raise token_budget)" in text) is (budget < 2_400)


def test_the_first_omitted_notes_of_nodes_and_of_relationships_say_how_to_see_them() -> None:
    notes = tuple(Note(content=f"Note {n}") for n in range(5))
    node = GraphNode(entity_key="a", label="Person", name="Ada", notes=notes)
    edge = GraphRelationship(
        from_entity_key="a", to_entity_key="b", to_name="Bo", neo4j_type="KNOWS", notes=notes
    )
    found = [
        NodeItem(node, "nodes"),
        RelationshipItem(edge, "edges"),
        NodeItem(node.model_copy(update={"entity_key": "c"}), "nodes"),
    ]
    state = partial(
        RenderState,
        NOW,
        node_hint="get_relationship of it alone",
        relationship_hint="get_relationship",
    )
    text = text_page(Content(found), state, 1_000).text
    assert [line.partition("+")[2] for line in text.splitlines()] == [
        "3 notes: get_relationship of it alone",
        "3 notes: get_relationship",
        "3 notes",
    ]


def test_a_text_may_have_fewer_items_than_the_budget_allows() -> None:
    few = Content(items()[:10], opening="Nothing clearly relevant found. The nearest:", at_most=5)
    lines = text_page(few, new_state, 2_000, cursor=cursor).text.splitlines()
    assert lines[0] == "Nothing clearly relevant found. The nearest:"
    assert lines[-1] == '5 of 10 shown; continue with cursor "5-abcdef"'


def test_items_without_a_line_belong_to_the_page_of_the_item_before() -> None:
    silent = NodeItem(
        GraphNode(entity_key="end", label="Person", name="End"), "nodes", is_only_named=True
    )
    content = Content([*items()[:2], silent, silent], at_most=2)
    assert "shown" not in text_page(content, new_state, 2_000, cursor=cursor).text


def test_without_items_a_text_says_so() -> None:
    nothing = Content((), "Found 0 nodes", warnings=("Skipped names",))
    assert text_page(nothing, new_state, 100, cursor=cursor).text == "Skipped names\nNothing found"


def test_omitted_warnings_are_counted() -> None:
    assert "+3 warnings" in text_page(CONTENT, new_state, 100, cursor=cursor).text.splitlines()
    all_of_them = text_page(CONTENT, new_state, 20_000, cursor=cursor)
    assert "A third" in all_of_them.text.splitlines()


def test_a_text_that_shows_the_last_item_does_not_say_how_to_continue() -> None:
    """If the line that says so took its room, a note would be omitted, and all items would fit."""
    notes = (Note(content="word " * 25),)
    people = [
        GraphNode(entity_key=f"key-{n}", label="Person", name=f"Name {n}", notes=notes)
        for n in range(4)
    ]
    short = GraphNode(entity_key="key", label="Person", name="Bo")
    content = Content([NodeItem(node, "nodes") for node in (*people, short)])
    for budget in range(100, 300):
        page = text_page(content, new_state, budget, cursor=cursor)
        assert estimated_tokens(page.text) <= budget
        assert ("continue with cursor" in page.text) is ("next_cursor" in page.payload)


@pytest.mark.parametrize("page", [text_page, json_page])
def test_a_cursor_beyond_the_end_is_an_error(page: Any) -> None:
    with pytest.raises(
        InputError, match="cursor is beyond the end: the result has only 60 items now"
    ):
        page(CONTENT, new_state, 2_000, offset=60, cursor=cursor)
