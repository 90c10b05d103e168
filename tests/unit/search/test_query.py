"""What a query says beside its meaning: words that count, levels, and names."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.graph.lucene import MAX_WORDS
from kgagent.names import plain_words
from kgagent.ontology import default_ontology
from kgagent.search.query import (
    MAX_CHARACTERS,
    OWNER_VALUE,
    EmbeddedQuery,
    Query,
    full_text_parameters,
    name_parameters,
    named_nodes,
    outermost_spans,
    read_query,
    spans_of,
    specificity,
)

ONTOLOGY = default_ontology()


def read(text: str) -> Query:
    return read_query(EmbeddedQuery((), 0.3, text), ONTOLOGY)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("who taught ADA lovelace?", "Ada Lovelace"),
        ("Where was Lukasz Wojcik born", "Łukasz Wójcik"),
        ("谁是张伟的导师", "张伟"),
    ],
)
def test_a_name_is_read_whatever_its_case_and_accents(text: str, name: str) -> None:
    assert spans_of([name], plain_words(text))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("the adamant painter", "Ada"),
        ("Ada", "Ada Lovelace"),
        ("Ada's s", "S"),
        ("anything?", "?!"),
    ],
)
def test_a_part_of_a_word_or_name_and_a_single_letter_are_no_name(text: str, name: str) -> None:
    assert not spans_of([name], plain_words(text))


def test_of_names_within_each_other_the_longer_one_is_meant() -> None:
    words = plain_words("did the king see King Lear")
    assert outermost_spans(spans_of(["King", "King Lear", "Lear"], words)) == {(2, 3), (4, 6)}


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)).map(lambda span: (span[0], sum(span))))
)
def test_every_span_lies_within_an_outermost_one(spans: list[tuple[int, int]]) -> None:
    outermost = outermost_spans(spans)
    for first, end in spans:
        assert any(start <= first and end <= last for start, last in outermost)
    assert outermost <= set(spans)


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        ("Who taught ŁUKASZ to sail?", ["taught", "lukasz", "sail"]),
        ("friend, Friend and FRIEND", ["friend"]),
        ("Ada's 3 boats", ["ada", "boats"]),
        ("the who of it", []),
        ("谁是导师", ["谁", "是", "导", "师"]),
    ],
)
def test_words_count_once_and_without_stop_words_and_single_letters(
    text: str, counted: list[str]
) -> None:
    assert list(read(text).words) == counted


def test_each_word_that_counts_is_searched_as_it_is_spelled_in_singular_and_plural() -> None:
    query = read("Łukasz's boats")
    assert query.words.keys() == {"lukasz", "boats"}
    assert '"Łukasz"' in query.words["lukasz"]
    assert '"boat"' in query.words["boats"]


def test_a_query_without_a_word_that_counts_is_not_searched_by_full_text() -> None:
    assert full_text_parameters(read("who is it?"), ["user"]) is None


def test_full_text_search_takes_all_words_of_a_query_together_and_each_alone() -> None:
    parameters = full_text_parameters(read("sail boats"), ["user"])
    assert parameters is not None
    assert [one["word"] for one in parameters["words"]] == ["sail", "boats"]
    for lucene in (parameters["text"], *(one["text"] for one in parameters["words"])):
        assert lucene.startswith('+user_id:("user")^0 ')
    assert '"sail"' in parameters["text"]
    assert '"boats"' in parameters["text"]
    assert '"sail"' not in parameters["words"][1]["text"]


def test_a_query_without_a_word_names_no_node() -> None:
    assert name_parameters(read("?!"), ["user"], ONTOLOGY) is None


@pytest.mark.parametrize(
    ("text", "speaks"), [("what did I begin?", True), ("MY mentor", True), ("Midas", False)]
)
def test_a_query_speaks_of_the_owner_by_the_words_of_the_ontology(text: str, speaks: bool) -> None:
    parameters = name_parameters(read(text), ["user"], ONTOLOGY)
    assert parameters is not None
    assert parameters["speaks_of_owner"] is speaks


def node(
    key: str, *names: str, degree: int = 1, is_owner: bool = False, parts: Sequence[str] = ()
) -> dict[str, Any]:
    """A node that a query may name."""
    return {
        "entity_key": key,
        "names": names,
        "degree": degree,
        "is_owner": is_owner,
        "parts": parts,
    }


def someone(name: str) -> dict[str, Any]:
    """A person, whom a word of the name means too."""
    return node(name, name, parts=name.split())


OWNER = node("owner", degree=50, is_owner=True)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("what about ruth?", {"ruth"}),
        ("what about Frau Petersen?", {"ruth"}),
        ("what about Ruthless?", set()),
        ("is King Lear mine?", {"lear", "owner"}),
        ("did Lear's king sail to me?", {"king", "owner"}),
        ("my King of I King", {"king of i", "king", "owner"}),
        ("King of I", {"king of i"}),
    ],
)
def test_nodes_are_named_by_whole_words_outside_of_longer_names(text: str, named: set[str]) -> None:
    rows = [
        node("ruth", "Ruth", "Frau Petersen"),
        node("king", "King"),
        node("lear", "King Lear"),
        node("king of i", "King of I"),
        OWNER,
    ]
    assert named_nodes(read(text), rows, ONTOLOGY, 100).keys() == named


def test_all_nodes_of_a_name_are_named() -> None:
    rows = [node("first", "Ruth"), node("second", "ruth")]
    assert named_nodes(read("Ruth"), rows, ONTOLOGY, 100) == {"first": 1.0, "second": 1.0}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("where does Ruth live?", {"Ruth Calder": 1.0}),
        ("where does ruth live?", {}),
        ("Calder's boat", {"Ruth Calder": 0.5, "Will Calder": 0.5}),
        ("what does Ruth Calder sail?", {"Ruth Calder": 1.0}),
        ("Ruth and Will Calder", {"Ruth Calder": 1.0, "Will Calder": 1.0}),
        ("The Ruth Elders Society", {"The Ruth Elders Society": 1.0}),
    ],
)
def test_a_word_of_a_name_means_its_people_where_it_is_written_like_it(
    text: str, named: Mapping[str, float]
) -> None:
    society = "The Ruth Elders Society"
    rows = [someone("Ruth Calder"), someone("Will Calder"), node(society, society), OWNER]
    assert named_nodes(read(text), rows, ONTOLOGY, 100) == named


def test_the_owner_alone_has_a_value_of_its_own_and_beside_another_name_that_of_any_node() -> None:
    ruth = node("ruth", "Ruth")
    assert named_nodes(read("tell me"), [OWNER], ONTOLOGY, 100) == {"owner": OWNER_VALUE}
    named = named_nodes(read("tell me of Ruth"), [ruth, OWNER], ONTOLOGY, 100)
    assert named == {"ruth": 1.0, "owner": specificity(50, 100)}


def test_a_node_says_less_the_more_relationships_it_has() -> None:
    values = [specificity(degree, 100) for degree in (0, 1, 2, 50, 100)]
    assert values == sorted(values, reverse=True)
    assert (values[0], values[1], values[-1]) == (1.0, 1.0, 0.0)


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_the_value_of_a_node_is_0_to_1(degree: int, relationships: int) -> None:
    assert 0.0 <= specificity(degree, relationships) <= 1.0


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("Who is hostile to me?", ("attitude", 1, "hostile")),
        ("people whom I have known well", ("proximity", 4, "known")),
    ],
)
def test_levels_are_read_by_the_words_of_the_ontology(
    text: str, level: tuple[str, int, str]
) -> None:
    assert read(text).levels["has_relationship_with"] == [level]


@pytest.mark.parametrize("text", ["Who likes me?", "Who is known?"])
def test_a_text_without_all_words_of_a_level_says_none(text: str) -> None:
    assert read(text).levels == {}


@pytest.mark.parametrize(
    "text",
    [" ".join(f"word{number}" for number in range(9_000)), "hostile" * 90_000, "张" * 90_000],
)
def test_of_a_text_without_end_the_first_words_are_read(text: str) -> None:
    query = read(text)
    assert 0 < len(query.words) <= len(query.tokens) <= MAX_WORDS
    assert next(iter(query.words)) == plain_words(text[:MAX_CHARACTERS])[0]


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    query = read(text)
    assert set(query.words) <= set(query.tokens)
