import hashlib
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from kgagent.errors import InputError
from kgagent.ontology import default_ontology

MADE = {
    "name": "Machine Learning",
    "description": "A talk",
    "user_id": "u1",
    "created_at": "2026-01-01T00:00:00+00:00",
}


def key(label: str, **other: str) -> str:
    return default_ontology().label(label).entity_key(**{**MADE, **other})


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_person_gets_a_key_of_its_own() -> None:
    first, second = key("Person"), key("Person")
    assert first != second
    assert uuid.UUID(first).version == 4


def test_a_concept_has_the_key_of_its_name_and_user() -> None:
    assert key("Concept") == sha256("machine learning" + "concept" + "u1")


def test_an_entity_has_the_key_of_its_name_and_user() -> None:
    assert key("Entity") == sha256("machine learning" + "u1")


def test_a_source_has_the_key_of_its_description_user_and_time() -> None:
    assert key("Source") == sha256("A talk" + "u1" + MADE["created_at"])


@pytest.mark.parametrize("label", ["Concept", "Entity"])
def test_the_letter_case_of_a_name_does_not_change_the_key(label: str) -> None:
    assert key(label, name="MACHINE learning") == key(label)
    assert key(label, user_id="u2") != key(label)


def test_text_that_looks_like_a_template_stays_text() -> None:
    assert key("Entity", name="${user_id} $5") == sha256("${user_id} $5" + "u1")


def test_an_unknown_label_names_the_known_ones() -> None:
    with pytest.raises(
        InputError, match=r"^Unknown label: Dog\. Known labels: Person, Concept, Entity, Source$"
    ):
        default_ontology().label("Dog")


@pytest.mark.parametrize(("lifetime", "days"), [("week", 7), ("month", 30), ("year", 365)])
def test_a_note_expires_at_the_end_of_its_lifetime(lifetime: str, days: int) -> None:
    added = datetime(2026, 1, 1, tzinfo=UTC)
    assert default_ontology().note_expiry(lifetime, added) == added + timedelta(days=days)


@pytest.mark.parametrize("lifetime", ["forever", None])
def test_a_note_without_a_lifetime_never_expires(lifetime: str | None) -> None:
    assert default_ontology().note_expiry(lifetime, datetime(2026, 1, 1, tzinfo=UTC)) is None


def test_an_unknown_lifetime_names_the_known_ones() -> None:
    with pytest.raises(
        InputError, match="lifetime must be one of week, month, year, forever, got 'decade'"
    ):
        default_ontology().note_expiry("decade", datetime(2026, 1, 1, tzinfo=UTC))
