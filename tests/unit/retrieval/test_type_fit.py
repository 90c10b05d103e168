"""How well the types of a path fit a query, for known similarities."""

import pytest
from kgagent.retrieval.type_fit import (
    COMMON,
    LENGTH_COST,
    MAX_WORDS,
    UNNAMED_COST,
    WORD_WEIGHT,
    TypeFit,
    chains_of,
    single_types,
    words_from,
)
from kgagent.retrieval.type_means import TypeMean

from kgagent.retrieval.vector_targets import EmbeddedQuery

DIRECTED, STARRED, YEAR = "directed by", "starred actors", "RELEASE_YEAR"
UNREAD = TypeMean()


def fit_of(*query_words: str, **similarities: float) -> TypeFit:
    """The fit of the three types, as similar to the query as said or else 0.5."""
    fit = TypeFit(EmbeddedQuery([1.0], 0.3), query_words)
    for one in (DIRECTED, STARRED, YEAR):
        fit.add(one, UNREAD, similarities.get(one.split()[0].lower(), 0.5))
    return fit


@pytest.mark.parametrize(
    ("text", "names", "expected"),
    [
        ("who starred movies for the director of Critters?", ["Critters"], "director movies starred"),
        ("when did the films directed by the Tap director release", ["Tap"], "directed films director release"),
        ("When did John V's father die?", ["John V"], "father die"),
        ("the Joneses' oldest friend", ["Joneses"], "oldest friend"),
        ("who is my sister's husband?", [], "sister husband"),
        ("friends of old mentors", [], "mentors old friends"),
        ("Films by Tap with films", ["Tap"], "films films"),
        ("who wrote King Lear and Tap, the film?", ["King", "King Lear", "Tap"], "wrote tap film"),
        ("谁 directed Tap", ["tap"], "directed 谁"),
        ("", [], ""),
    ],
)
def test_words_come_in_the_order_of_a_path_from_the_name(text: str, names: list[str], expected: str) -> None:
    assert words_from(text, names) == expected.split()


def test_of_a_long_query_the_words_next_to_the_name_count() -> None:
    words = [f"word{number}" for number in range(2 * MAX_WORDS)]
    assert words_from(f"{' '.join(words)} of Ann", ["Ann"]) == words[::-1][:MAX_WORDS]


def test_a_path_whose_types_the_query_names_in_order_fits_best() -> None:
    fit = fit_of("director", "movies", "starred")
    in_order = fit.of((DIRECTED, DIRECTED, STARRED))
    assert in_order == fit.of((DIRECTED, STARRED, STARRED)) > fit.of((STARRED, STARRED, DIRECTED))
    assert in_order - fit.of((STARRED, STARRED, DIRECTED)) == pytest.approx(WORD_WEIGHT)


def test_each_type_needs_a_word_of_its_own() -> None:
    fit = fit_of("directors", "year")
    with_year = fit.of((DIRECTED, DIRECTED, YEAR))
    assert with_year - fit.of((DIRECTED, DIRECTED, DIRECTED)) == pytest.approx(WORD_WEIGHT)
    assert fit.of((DIRECTED,)) == fit.of((STARRED,))


@pytest.mark.parametrize(
    ("word", "one", "is_named"),
    [
        ("director", "directed by", True),
        ("screenwriter", "written by", True),
        ("writer", "screenwriter", True),
        ("forecast", "cast member", True),
        ("wrote", "written by", False),
        ("actor", "act", False),
        ("mother", "father", False),
    ],
)
def test_a_word_names_a_type_by_a_form_of_it_or_as_the_end_of_a_compound(word: str, one: str, is_named: bool) -> None:
    fit = TypeFit(EmbeddedQuery([1.0], 0.3), ("year", word))
    for added in ("year", one, "owns"):
        fit.add(added, UNREAD, 0.5)
    assert (fit.of(("year", one)) > fit.of(("year", "owns"))) == is_named


def test_without_common_words_the_similar_types_and_the_shorter_path_fit_best() -> None:
    fit = fit_of("born", directed=0.8)
    assert fit.of((DIRECTED,)) > fit.of((STARRED,)) > fit.of((STARRED, STARRED))
    assert fit.of((STARRED, STARRED)) == pytest.approx(0.5 - LENGTH_COST)


@pytest.mark.parametrize(
    ("words", "chains", "expected"),
    [
        (["born"], [(STARRED, STARRED), (DIRECTED,)], True),
        (["born"], [(STARRED,), (DIRECTED, DIRECTED)], False),
        (["directors"], [(STARRED, STARRED), (DIRECTED,)], False),
        (["born"], [], False),
    ],
)
def test_a_query_that_names_no_type_is_about_one_relationship_if_that_fits_best(
    words: list[str], chains: list[tuple[str, ...]], expected: bool
) -> None:
    assert fit_of(*words, directed=0.8).is_direct(chains) == expected


def test_looking_ahead_is_the_best_fit_with_one_more_type() -> None:
    fit = fit_of("directors", "release", "year")
    assert fit.ahead((DIRECTED,)) == fit.of((DIRECTED, YEAR))
    assert fit.ahead(()) == max(fit.of((one,)) for one in (DIRECTED, STARRED, YEAR))


def test_a_mean_embedding_counts_more_than_what_was_found() -> None:
    fit = TypeFit(EmbeddedQuery([1.0, 0.0], 0.3, "who", [0.0, 2.0]), ())
    fit.add("mentor", TypeMean([0.6, 0.8], 1), 0.1)
    assert fit.of(("mentor",)) == pytest.approx(0.8)
    assert fit.similarities == {"mentor": pytest.approx(0.8)}


def test_two_words_of_one_type_beside_each_other_name_it_once() -> None:
    fit = fit_of("release", "years")
    assert fit.named((YEAR, YEAR)) == 1
    assert fit_of("release", "films", "years").named((YEAR, YEAR)) == 2


def test_a_common_type_that_no_word_names_costs_if_a_word_names_another() -> None:
    fit = TypeFit(EmbeddedQuery([1.0], 0.3), ("directors",))
    for one, sampled in ((DIRECTED, COMMON), (STARRED, COMMON), ("guide", COMMON - 1)):
        fit.add(one, TypeMean([0.5], sampled), 0.0)
    assert fit.of((DIRECTED,)) - fit.of((STARRED,)) == pytest.approx(UNNAMED_COST)
    assert fit.of((DIRECTED,)) == fit.of(("guide",))


def test_nothing_costs_for_not_being_named_before_a_type_is_named() -> None:
    fit = TypeFit(EmbeddedQuery([1.0], 0.3), ("directors",))
    fit.add(STARRED, TypeMean([0.5], COMMON), 0.0)
    assert fit.of((STARRED,)) == pytest.approx(0.5)
    fit.add(DIRECTED, TypeMean([0.5], COMMON), 0.0)
    assert fit.of((STARRED,)) == pytest.approx(0.5 - UNNAMED_COST)


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["friend, colleague", "owns"], {("friend", "owns"), ("colleague", "owns")}),
        (["friend"], {("friend",)}),
        ([" , "], {(" , ",)}),
        ([""], {("",)}),
        ([], {()}),
    ],
)
def test_a_relationship_with_several_types_counts_as_each_of_them(
    types: list[str], expected: set[tuple[str, ...]]
) -> None:
    assert set(chains_of(types)) == expected


def test_the_choices_of_types_are_bounded() -> None:
    many = ", ".join(map(str, range(1_000)))
    assert single_types(many) == tuple("01234567")
    assert len(chains_of([many] * 5)) == 32
