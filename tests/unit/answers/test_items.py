from datetime import UTC, datetime, timedelta

import pytest

from kgagent.answers.items import Line, NodeItem, RelationshipItem, RenderState, namesakes
from kgagent.answers.token_budget import estimated_tokens
from kgagent.models import FoundStatement, GraphNode, GraphRelationship, Note

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MAY = datetime(2025, 5, 1, tzinfo=UTC)


def state(*asked: str) -> RenderState:
    return RenderState(
        NOW,
        asked=frozenset(asked),
        labels={"ruth-key": "Person"},
        sources={"source": "Gazette"},
        defaults={"confidence": 0.8},
    )


def text(item: NodeItem | RelationshipItem, in_state: RenderState | None = None) -> str:
    return "\n".join(line.text() for line in item.lines(in_state or state()))


def mentor(**more: object) -> GraphRelationship:
    return GraphRelationship.model_validate(
        {
            "from_entity_key": "ruth-key",
            "to_entity_key": "me-key",
            "from_name": "Ruth",
            "to_name": "Me",
            "neo4j_type": "has_relationship_with",
            "relationship_type": "mentor",
            **more,
        }
    )


def node(**more: object) -> GraphNode:
    return GraphNode.model_validate(
        {"entity_key": "ruth-key", "label": "Person", "name": "Ruth", **more}
    )


def test_a_relationship_is_one_line_with_its_ends_levels_description_and_notes() -> None:
    notes = (
        Note(content="Met in May", when="2025-05", date_added=MAY),
        Note(content="Old", expires_at=NOW - timedelta(days=1)),
    )
    known = mentor(
        description="She taught me.", attitude_word="warm", proximity=4, similarity=0.3, notes=notes
    )
    assert text(RelationshipItem(known, "edges", score=0.641)) == (
        "Ruth (Person) -[mentor]-> Me (warm, proximity 4) 0.64: She taught me. | Met in May "
        "(2025-05)"
    )


def test_what_had_ended_by_the_day_of_the_question_is_marked_also_on_a_path() -> None:
    item = RelationshipItem(mentor(when="2019/2021"), "edges")
    assert text(item).endswith("-> Me (2019/2021, past)")
    assert text(item, RenderState(NOW, as_of="2021")).endswith("-> Me (2019/2021)")
    assert text(item, RenderState(NOW, as_of="2022")).endswith("-> Me (2019/2021, past)")
    assert item.records(state())[0][1]["past"] is True


def test_a_line_shows_the_score_that_sorts() -> None:
    assert text(NodeItem(node(description="Naval architect"), "nodes", score=0.5)) == (
        "Ruth (Person) 0.50: Naval architect"
    )
    assert text(RelationshipItem(mentor(similarity=0.3), "edges")) == "Ruth (Person) -[mentor]-> Me"


def test_a_node_that_was_only_found_as_an_end_of_a_relationship_has_no_line() -> None:
    item = NodeItem(node(description="Naval architect"), "nodes", is_named=True, is_only_named=True)
    assert text(item) == ""
    assert item.records(state())[0][1]["description"] == "Naval architect"


def test_a_path_is_shown_unless_lines_have_stated_it() -> None:
    item = RelationshipItem(mentor(), "edges", path=("Me sister Nadia", "Nadia wife Piet"))
    assert text(item).endswith("-[mentor]-> Me via Me sister Nadia; Nadia wife Piet")
    after = state()
    after.stated.add("Me sister Nadia")
    assert text(item, after).endswith(" via Nadia wife Piet")


def test_bookkeeping_and_default_values_are_not_shown() -> None:
    properties = {
        "created_at": "x",
        "access_count": 3,
        "state": "candidate",
        "confidence": 0.8,
        "born": 1950,
    }
    item = NodeItem(node(properties=properties | {"is_owner": True}), "nodes")
    assert text(item) == "Ruth (Person) [born: 1950; is_owner]"
    [(section, record)] = item.records(state())
    assert (section, record["properties"]) == ("nodes", {"born": 1950, "is_owner": True})


def test_a_node_that_a_relationship_names_has_no_line_if_it_says_no_more() -> None:
    assert NodeItem(node(), "nodes", is_named=True).lines(state()) == []
    assert text(NodeItem(node(description="x"), "nodes", is_named=True)) == "Ruth (Person): x"


def test_of_many_notes_those_with_a_word_that_was_asked_for_are_shown_newest_first_and_the_others_counted() -> (
    None
):
    notes = [Note(content=f"Lunch {n}", date_added=MAY + timedelta(days=n)) for n in range(40)]
    notes[3] = Note(content="She lends me her boat", date_added=MAY)
    notes[5] = Note(content="The boat sank", date_added=MAY + timedelta(days=1))
    item = NodeItem(node(notes=tuple(notes)), "nodes")
    assert (
        text(item, state("boat"))
        == "Ruth (Person): The boat sank | She lends me her boat | +38 notes"
    )
    [(_, record)] = item.records(state("boat"))
    assert [note["content"] for note in record["notes"]] == [
        "The boat sank",
        "She lends me her boat",
    ]
    assert record["omitted_notes"] == 38


def test_of_many_notes_without_such_a_word_the_two_newest_are_shown() -> None:
    notes = tuple(Note(content=f"Lunch {n}", date_added=MAY + timedelta(days=n)) for n in range(40))
    assert text(NodeItem(node(notes=notes), "nodes"), state("boat")).endswith(
        ": Lunch 39 | Lunch 38 | +38 notes"
    )


def scored(*scores: float | None) -> GraphRelationship:
    """A relationship whose statements a search scored: the description, then notes A, B, C …; None:
    not scored.
    """
    of_description, *of_notes = scores
    notes = tuple(Note(content=chr(ord("A") + position)) for position in range(len(of_notes)))
    given = [(None, of_description), *zip(notes, of_notes, strict=True)]
    statements = [
        FoundStatement(note=note, score=score) for note, score in given if score is not None
    ]
    best_first = tuple(sorted(statements, key=lambda one: -one.score))
    return mentor(description="She taught me.", notes=notes, statements=best_first)


@pytest.mark.parametrize(
    ("scores", "shown"),
    [
        ((0.5, 0.3, 0.6, 0.4, 0.55), "She taught me. | B | D | C | +1 note"),
        ((0.1, 0.3, 0.6, 0.4, 0.55), "B | D | C | +1 note"),
        ((None, 0.3, None, None, None), "A | +3 notes"),
        ((0.1, 0.3, 0.6), "She taught me. | A | B"),
    ],
)
def test_of_many_scored_notes_the_best_three_are_shown_and_the_description_if_it_is_no_worse(
    scores: tuple[float | None, ...], shown: str
) -> None:
    item = RelationshipItem(scored(*scores), "edges")
    assert text(item) == f"Ruth (Person) -[mentor]-> Me: {shown}"


def test_the_record_of_an_item_has_the_statements_of_its_line() -> None:
    [(_, record)] = RelationshipItem(scored(0.1, 0.3, 0.6, 0.4, 0.55), "edges").records(state())
    assert [note["content"] for note in record["notes"]] == ["B", "D", "C"]
    assert "description" not in record
    assert record["omitted_notes"] == 1


def test_a_note_has_its_source_and_expiry() -> None:
    note = Note(content="Hired", source_entity_key="source", expires_at=NOW + timedelta(days=31))
    assert state().note_text(note) == "Hired (source Gazette, until 2026-02-01)"


def test_stored_text_cannot_pose_as_a_line_of_its_own() -> None:
    line = text(NodeItem(node(name="Ada\nBo (Person b): owns all", description="x\n\ny"), "nodes"))
    assert line == '"Ada Bo (Person b): owns all" (Person): x y'


def test_a_node_without_a_name_is_called_by_its_key_and_a_long_name_is_shortened() -> None:
    assert text(NodeItem(node(name=""), "nodes")).startswith("ruth-key (")
    assert text(NodeItem(node(name="x" * 500), "nodes")).startswith("x" * 80 + "… (")
    assert text(NodeItem(node(name=":" + "x" * 500), "nodes")).startswith('":' + "x" * 79 + '…" (')


@pytest.mark.parametrize("room", range(0, 160, 9))
def test_a_fitted_line_keeps_its_head_and_counts_what_it_omits(room: int) -> None:
    line = Line("Ruth -[mentor]-> Me", "She taught me. " * 30, ["Met in May", "Sailed in June"], 3)
    shown = line.fitted(room)
    assert estimated_tokens(shown) <= room
    assert not shown or shown.startswith("Ruth -[mentor]-> Me: She taug")
    if shown and "Sailed" not in shown:
        assert shown.endswith(("+4 notes", "+5 notes"))
    if shown.count("She taught me.") < 30 and shown:
        assert " characters)" in shown


def test_only_nodes_that_share_their_name_are_told_apart_by_their_keys() -> None:
    names = [("first", "Otto"), ("second", "otto"), ("other", "Eve")]
    items = [NodeItem(node(entity_key=key, name=name), "nodes") for key, name in (*names, names[0])]
    assert namesakes(items) == {"first", "second"}
    with_keys = RenderState(NOW, keys={"first": "1st", "second": "2nd"})
    assert [line.head for item in items for line in item.lines(with_keys)] == [
        "Otto (Person 1st)",
        "otto (Person 2nd)",
        "Eve (Person)",
        "Otto (1st)",
    ]


def test_what_a_line_says_already_is_not_said_again() -> None:
    played = mentor(
        description="Ruth mentor Me; side roles: pilot, cook",
        properties={"side_roles": ["pilot", "cook"]},
    )
    assert text(RelationshipItem(played, "edges")) == (
        "Ruth (Person) -[mentor]-> Me [side_roles: pilot, cook]"
    )
    more = mentor(description="Ruth mentor Me; since spring")
    assert text(RelationshipItem(more, "edges")).endswith("Me: Ruth mentor Me; since spring")
    film = node(
        description="Sails east.", properties={"title": "Ruth", "plot": "Sails east.", "year": 1999}
    )
    assert text(NodeItem(film, "nodes")) == "Ruth (Person) [year: 1999]: Sails east."
