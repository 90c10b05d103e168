import pytest

from kgagent.models.plain import display_name, humanize_relation_type, triplet_text


@pytest.mark.parametrize(
    ("relation_type", "words"),
    [
        ("WORKS_FOR", "works for"),
        ("located_in", "located in"),
        ("ÜBER_ALLES", "über alles"),
    ],
)
def test_a_type_is_written_in_words(relation_type: str, words: str) -> None:
    assert humanize_relation_type(relation_type) == words


@pytest.mark.parametrize(
    ("properties", "key", "element_id", "name"),
    [
        ({"name": "Ada"}, "k", "4:1", "Ada"),
        ({"name": ""}, "k", "4:1", "k"),
        ({"name": 7}, "k", "4:1", "k"),
        (None, None, "4:1", "4:1"),
    ],
)
def test_a_display_name_is_the_name_or_the_key_or_the_id(
    properties: dict[str, object] | None, key: str | None, element_id: str, name: str
) -> None:
    assert display_name(properties, key, element_id) == name


@pytest.mark.parametrize(
    ("source", "relation_type", "target", "label", "text"),
    [
        ("Elon Musk", "FOUNDED_BY", "Tesla", "", "Elon Musk founded by Tesla"),
        ("Ada", "CREATED", "a firm", "founded", "Ada founded a firm"),
        ("Ada", "connected_to", "Bo", "WORKS_FOR", "Ada works for Bo"),
    ],
)
def test_a_triplet_uses_the_relationships_own_words_or_its_type(
    source: str, relation_type: str, target: str, label: str, text: str
) -> None:
    assert triplet_text(source, relation_type, target, label=label) == text
