"""The Cypher files: each says what it takes and gives, and has no place that nobody fills."""

import re
from importlib.resources.abc import Traversable

import pytest

from kgagent.graph.deleted_records import DELETED_NAMES
from kgagent.graph.identifiers import Identifier
from kgagent.graph.property_names import (
    DAYS,
    FIRST_SAID,
    HEARD_ON,
    INTERNAL_PROPERTIES,
    OLD_EMBEDDINGS,
    PERIODS,
    RECORD_OWNER,
    TRUST,
)
from kgagent.graph.shared_reads import over_owners
from kgagent.graph.statements import Fragment, statement, statement_files

FILES = statement_files()
STATEMENTS = {name: path for name, path in FILES.items() if not name.startswith("_")}
KNOWN_PLACES = {
    "labels",
    "owner",
    "label",
    "types",
    "index",
    "relationship",
    "property",
    "own_labels",
    "lock",
    "row",
    "which",
    "node_embedding",
    "within_types",
    "within_days",
    "within_trust",
    *DELETED_NAMES,
}
OF_NO_USER = {"live_labels", "show_index_config", "show_index_states"}
"""What reads no node and no relationship."""

OF_ALL_USERS = {
    "list_users": "n.user_id AS user_id",
    "count_kgagent_records": "count(n) AS found",
    "count_unadopted_nodes": "labels(n) AS labels, count(*) AS count",
    "total_adopted_nodes": "count(n) AS found",
    "total_nodes": "count(n) AS found",
    "total_relationships": "count(r) AS found",
}
"""What reads the ids of users, for an export of all of them, counts, and the sizes of indexes."""

OF_THE_OTHER = {
    "_found_node": {
        "relationship_embedding",
        *DAYS,
        PERIODS,
        HEARD_ON,
        *OLD_EMBEDDINGS,
    },
    "_found_relationship": {
        *(
            "embedding",
            "source_text",
            "kgagent_embedding",
            "ingestion_run",
            "ingestion_progress",
        )
    },
}
"""Bookkeeping that this kind of record has none of."""

NAMES = {
    **{place: Identifier(f"the {place}") for place in KNOWN_PLACES},
    "relationship": Fragment("_found_relationship"),
    "lock": Fragment("_no_lock"),
    "row": Fragment("_node_id"),
    "which": Fragment("_node_of_ids"),
    "within_types": Fragment("_within_types"),
    "within_days": Fragment("_within_days"),
    "within_trust": Fragment("_within_trust"),
}


def comment(path: Traversable) -> str:
    lines = path.read_text("utf-8").splitlines()
    head = next((i for i, line in enumerate(lines) if not line.startswith("//")), len(lines))
    return "\n".join(lines[:head])


def test_there_are_statements() -> None:
    assert len(STATEMENTS) > 10


@pytest.mark.parametrize("name", FILES)
def test_a_file_begins_with_what_it_does(name: str) -> None:
    assert re.fullmatch(r"// \S.*\.", comment(FILES[name]), re.DOTALL)


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_says_its_parameters_and_rows(name: str) -> None:
    head = comment(STATEMENTS[name])
    assert ("// Parameters: " in head) == ("$" in statement(name, **NAMES).replace("$(", ""))
    assert "// Rows: " in head


@pytest.mark.parametrize("name", STATEMENTS)
def test_each_parameter_of_a_statement_is_in_its_comment(name: str) -> None:
    used = set(re.findall(r"\$(\w+)", statement(name, **NAMES)))
    head = comment(STATEMENTS[name])
    assert {parameter for parameter in used if not re.search(rf"\b{parameter}\b", head)} == set()


@pytest.mark.parametrize("name", FILES)
def test_each_place_is_a_name_or_a_fragment_that_exists(name: str) -> None:
    places = set(re.findall(r"«([^»]*)»", FILES[name].read_text("utf-8")))
    assert {place for place in places if place not in KNOWN_PLACES and place not in FILES} == set()
    assert "«" not in statement(name, **NAMES).replace("«node_embedding»", "")
    assert "//" not in statement(name, **NAMES)


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_node_that_is_found_by_its_key_is_the_users(name: str) -> None:
    text = statement(name, **NAMES)
    by_key = re.findall(r"\((\w*):[^()]*\{entity_key:", text)
    by_key += re.findall(r"(\w+)\.entity_key (?:STARTS WITH|IN \$|= \$)", text)
    assert [
        variable
        for variable in by_key
        if not re.search(rf"\b{variable}\.user_id = \$user_id", text)
    ] == []


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_keeps_to_one_user_unless_it_is_for_the_keeper_of_the_graph(name: str) -> None:
    if name in OF_NO_USER:
        assert "MATCH" not in statement(name, **NAMES)
    elif name in OF_ALL_USERS:
        assert statement(name, **NAMES).endswith(OF_ALL_USERS[name])
    else:
        assert "$user_id" in statement(name, **NAMES)


@pytest.mark.parametrize(
    "name", sorted(name for name in FILES if re.match("_(node|relationship)_(of|that)_", name))
)
def test_a_fragment_that_chooses_records_keeps_to_the_user_who_is_given(name: str) -> None:
    assert re.search(r"\b[na]\.user_id = \$user_id", statement(name, **NAMES))


@pytest.mark.parametrize(
    "name",
    [
        *(
            name
            for name, path in STATEMENTS.items()
            if re.search("/(search|walk|patterns)/", str(path))
        ),
        *("resolve_references", "read_nodes", "read_pairs", "find_similar_names"),
    ],
)
def test_a_read_of_several_owners_compares_each_record_with_all_of_them(name: str) -> None:
    text = over_owners(statement(name, **NAMES))
    assert text.name == name
    compared = re.findall(r"\S+ (?:=|<>) \$user_id.*", text)
    # What belongs to the user alone, and whose each record is.
    assert [one for one in compared if "is_owner" not in one and " THEN " not in one] == []
    records = len(re.findall(r"IN keys\(|{\.\*", text))
    assert text.count("kgagent_owner") == records


@pytest.mark.parametrize("name", ["_found_node", "_found_relationship"])
def test_properties_that_searches_do_not_read_are_never_returned(name: str) -> None:
    left_out = re.search(r"WHERE NOT key IN \[([^\]]*)\]", statement(name))
    assert left_out is not None
    assert (
        set(re.findall(r"'(\w+)'", left_out[1]))
        == INTERNAL_PROPERTIES
        - {"is_reversed", "history", "relationship_key", RECORD_OWNER, TRUST, *FIRST_SAID}
        - OF_THE_OTHER[name]
    )


def test_a_place_takes_a_fragment_that_is_chosen() -> None:
    text = statement("search_relationships_text", relationship=Fragment("_ranked_relationship"))
    assert statement("_ranked_relationship") in text


def test_a_place_without_a_name_is_an_error() -> None:
    with pytest.raises(KeyError, match="labels"):
        statement("read_nodes")


def test_a_name_that_looks_like_a_place_is_not_filled_again() -> None:
    text = statement("count_nodes", label=Identifier("«labels»"))
    assert "MATCH (n:`«labels»`)" in text
