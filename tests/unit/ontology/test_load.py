import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from kgagent.errors import ConfigurationError
from kgagent.ontology import default_ontology, load_ontology
from tests.support import facts

VALID: dict[str, Any] = {
    "labels": {"Ship": {"key": "sha256:${lower_name}${user_id}"}, "Sailor": {}},
    "relationships": {
        "sails on": {
            "from": "Sailor",
            "to": "Ship",
            "attitude": ["hates", "minds", "bears", "likes", "loves"],
            "proximity": ["passenger", "new", "used", "old hand", "part of it"],
        }
    },
    "note_lifetimes_in_days": {"voyage": 90, "forever": None},
    "default_note_lifetime": "voyage",
}


def written(tmp_path: Path, ontology: object) -> Path:
    path = tmp_path / "ontology.yaml"
    path.write_text(ontology if isinstance(ontology, str) else yaml.safe_dump(ontology), "utf-8")
    return path


def test_a_custom_ontology_is_read(tmp_path: Path) -> None:
    ontology = load_ontology(written(tmp_path, VALID))
    assert ontology.type_between("Ship", "Sailor") == ("sails on", True)
    assert ontology.level("sails on", "proximity", "Old Hand") == 4
    assert ontology.label("Ship").key_includes_name
    assert not ontology.label("Sailor").is_deterministic
    assert ontology.hidden_properties == frozenset()
    assert ontology.symmetric_types == frozenset()
    assert not ontology.single_valued_types | ontology.single_holder_types


def test_the_default_ontology_hides_the_bookkeeping_and_sets_the_defaults_of_the_documents() -> (
    None
):
    ontology = default_ontology()
    embeddings = {name for name in facts.NEVER_RETURNED if name.endswith("embedding")}
    assert ontology.hidden_properties == facts.NEVER_RETURNED - embeddings
    assert dict(ontology.relationship_defaults) == facts.RELATIONSHIP_DEFAULTS
    assert ontology.note_lifetimes_in_days == {"week": 7, "month": 30, "year": 365, "forever": None}
    assert ontology.default_note_lifetime == "forever"
    assert {"friend", "colleague of", "spouse"} <= ontology.symmetric_types
    assert all(word == word.casefold() for word in ontology.symmetric_types)
    assert "lives in" in ontology.single_valued_types
    assert "ceo of" in ontology.single_holder_types


MISTAKES: dict[str, tuple[list[str], object, str]] = {
    "no labels": (["labels"], {}, "labels: Dictionary should have at least 1 item"),
    "unknown label": (
        ["relationships", "sails on", "to"],
        "Port",
        "relationship sails on refers to label Port, which is not defined",
    ),
    "words alike": (
        ["relationships", "sails on", "attitude"],
        ["a", "b", "c", "d", "A"],
        "the words of the levels must be distinct, got a, b, c, d, A",
    ),
    "too few words": (
        ["relationships", "sails on", "attitude"],
        ["a", "b"],
        "there must be 5 words, or none, got 2",
    ),
    "a word that YAML reads as no": (
        ["relationships", "sails on", "attitude"],
        [False, "b", "c", "d", "e"],
        "relationships.sails on.attitude.0: Input should be a valid string",
    ),
    "a word that is a number": (
        ["relationships", "sails on", "proximity"],
        ["a", "b", "c", "d", "5"],
        "'5' cannot be the word of a level",
    ),
    "unknown key scheme": (
        ["labels", "Ship", "key"],
        "md5:${user_id}",
        "key must be uuid4 or sha256:<template>",
    ),
    "unknown field of a key": (
        ["labels", "Ship", "key"],
        "sha256:${name}${user_id}",
        "may contain ${lower_name}, ${description}, ${user_id}, ${created_at}; invalid: 'name'",
    ),
    "a key that two users share": (
        ["labels", "Ship", "key"],
        "sha256:${lower_name}",
        "must contain ${user_id}",
    ),
    "default lifetime missing": (
        ["default_note_lifetime"],
        "decade",
        "default_note_lifetime 'decade' is not one of note_lifetimes_in_days",
    ),
    "endless lifetime": (
        ["note_lifetimes_in_days", "voyage"],
        10**12,
        "note_lifetimes_in_days.voyage",
    ),
    "unknown field": (["colour"], "red", "colour: Extra inputs are not permitted"),
    "backtick in a label": (
        ["labels", "Sh`ip"],
        {},
        "cannot be the name of a label, type or property",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_an_error_is_named_with_its_place(tmp_path: Path, mistake: str) -> None:
    path, value, said = MISTAKES[mistake]
    ontology = copy.deepcopy(VALID)
    holder = ontology
    for part in path[:-1]:
        holder = holder[part]
    holder[path[-1]] = value
    with pytest.raises(ConfigurationError) as refused:
        load_ontology(written(tmp_path, ontology))
    assert "ontology.yaml is not an ontology: " in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize("text", ["", "- a\n- b", "just text"])
def test_a_file_without_a_mapping_is_not_an_ontology(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError, match=r"is not an ontology: file: "):
        load_ontology(written(tmp_path, text))


def test_broken_yaml_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"ontology\.yaml is not valid YAML: .*line 1"):
        load_ontology(written(tmp_path, "labels: {Ship: [}"))


def test_a_yaml_tag_runs_nothing(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="is not valid YAML"):
        load_ontology(written(tmp_path, "labels: !!python/object/apply:os.getcwd []"))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"missing\.yaml cannot be read"):
        load_ontology(tmp_path / "missing.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"labels: \xff\xfe")
    with pytest.raises(ConfigurationError, match=r"latin\.yaml cannot be read"):
        load_ontology(tmp_path / "latin.yaml")
