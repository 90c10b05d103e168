"""The embedding text of a relationship, as the documents define it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.embedding.hashing import HashingEmbedder
from kgagent.graph.embedded_text import embedding_text
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.relationships import relationship_text
from kgagent.graph.stored_embeddings import embedding_hash
from kgagent.models import Note
from kgagent.models.note import dump_notes
from kgagent.ontology import default_ontology
from tests.support import facts

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def text(
    *,
    neo4j_type: str = "has_relationship_with",
    notes: Sequence[str | Note] = (),
    **fields: str | int | None,
) -> str:
    record = RelationshipRecord(
        element_id="",
        vector_length=None,
        neo4j_type=neo4j_type,
        from_entity_key="a",
        to_entity_key="b",
        from_name="",
        to_name="",
        properties={
            "relationship_type": "friend",
            "description": "",
            **fields,
            "notes": dump_notes(
                [note if isinstance(note, Note) else Note(content=note) for note in notes]
            ),
        },
    )
    return relationship_text(record, default_ontology(), NOW)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param(
            {
                "description": "Close friend and former colleague from Google",
                "attitude": 5,
                "proximity": 5,
                "notes": ["Helped me prepare for Google interview in 2019"],
            },
            "Close friend and former colleague from Google friend close intimate-knowledge "
            "Helped me prepare for Google interview in 2019",
            id="all parts",
        ),
        pytest.param(
            {"attitude": 5, "proximity": 5},
            "friend close intimate-knowledge",
            id="no description and no notes",
        ),
        pytest.param(
            {
                "description": "User's mentor from college who provides career guidance",
                "relationship_type": "mentor",
                "attitude": 5,
                "proximity": 4,
                "notes": ["They meet monthly for coffee", "Helped user get first job"],
            },
            "User's mentor from college who provides career guidance mentor close known-well "
            "They meet monthly for coffee Helped user get first job",
            id="two notes",
        ),
        pytest.param(
            {"description": "Met once", "relationship_type": "acquaintance"},
            "Met once acquaintance",
            id="no levels",
        ),
        pytest.param(
            {
                "neo4j_type": "engages_with",
                "description": "Learns it at night",
                "relationship_type": "studies",
                "attitude": 4,
                "notes": ["Began in 2021"],
            },
            "Learns it at night studies interested Began in 2021",
            id="no proximity",
        ),
        pytest.param({"description": None, "relationship_type": None}, "", id="nothing"),
        pytest.param({"description": " \n", "relationship_type": "a b"}, "a b", id="a blank part"),
    ],
)
def test_the_cases_of_the_documents(fields: dict[str, Any], expected: str) -> None:
    assert text(**fields) == expected


def test_notes_are_cut_at_1000_characters() -> None:
    assert text(notes=["x" * 1_001]) == "friend " + "x" * 1_000


def test_notes_of_more_than_1000_characters_are_joined_from_the_newest_to_the_oldest() -> None:
    assert text(notes=["x" * 996, "yyy"]) == "friend " + "x" * 996 + " yyy"
    assert text(notes=["x" * 997, "yyy"]) == "friend yyy " + "x" * 996
    assert text(notes=["x" * 600, "y" * 600]) == "friend " + "y" * 600 + " " + "x" * 399


def test_an_expired_note_makes_room_within_the_1000_characters() -> None:
    expired = Note(content="x" * 1_000, expires_at=NOW - timedelta(seconds=1))
    assert text(notes=[expired, "now"]) == "friend now"


parts = st.sampled_from(["", "one", "two words", None])
levels = st.none() | st.integers(-1, 7)


@given(
    st.sampled_from(sorted(facts.WORDS)),
    parts,
    parts,
    levels,
    levels,
    st.lists(st.sampled_from(["a", "b c"]), max_size=3),
)
def test_absent_parts_leave_no_space(
    kind: str,
    description: str | None,
    relationship_type: str | None,
    attitude: int | None,
    proximity: int | None,
    notes: list[str],
) -> None:
    made = text(
        neo4j_type=kind,
        description=description,
        relationship_type=relationship_type,
        attitude=attitude,
        proximity=proximity,
        notes=notes,
    )
    words = [facts.word(kind, "attitude", attitude), facts.word(kind, "proximity", proximity)]
    assert made == " ".join(filter(None, [description, relationship_type, *words, *notes]))


def test_the_text_of_a_node_is_its_name_description_and_notes() -> None:
    notes = [Note(content="Lives in Rome"), Note(content="gone", expires_at=NOW)]
    assert embedding_text("Ann", "A painter", notes=notes, now=NOW) == "Ann A painter Lives in Rome"
    assert embedding_text("Ann", None, notes=[], now=NOW) == "Ann"


def test_the_hash_depends_on_text_model_and_length() -> None:
    class Other(HashingEmbedder):
        @property
        def model(self) -> str:
            return "other"

    hashes = {
        embedding_hash(embedder, words)
        for embedder in (HashingEmbedder(8), HashingEmbedder(16), Other(8))
        for words in ("a", "b")
    }
    assert len(hashes) == 6
