"""How paths rank, for known similarities."""

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, cast

import pytest
from kgagent.retrieval.beam import BeamSearch
from kgagent.retrieval.type_means import TypeMean, TypeMeans

from kgagent.graph.identifiers import Identifier
from kgagent.graph.records import RelationshipRecord
from kgagent.retrieval import beam
from kgagent.retrieval.candidates import Candidate, key_of, read_relationship
from kgagent.retrieval.scope import RelationshipFilter, SearchScope
from kgagent.retrieval.vector_targets import RANKING_FIELDS, EmbeddedQuery, VectorTarget

FILM, BOOK, BEYOND, FURTHER = ("Ann", "Film"), ("Ann", "Book"), ("Film", "Bo"), ("Film", "Cy")
ELSEWHERE = ("Zoe", "Tea")


def stored(ends: tuple[str, str], kind: str) -> list[Any]:
    """A relationship as a statement returns it."""
    first, last = ends
    fields = [["relationship_type", kind], ["is_reversed", None]]
    return [f"{first} {last}", "connected_to", *ends, *ends, ["Entity"], ["Entity"], fields]


class Place:
    """A database with relationships beyond the film, and some types of relationships beyond the book."""

    places: ClassVar = {"types": Identifier.any_of(["connected_to"]), "relationship": RANKING_FIELDS}
    user_id = "someone"
    vector = list

    def __init__(self, kind: str, scores: Mapping[tuple[str, str], float], beyond_book: Sequence[str]) -> None:
        self.store = self
        self._beyond_book = beyond_book
        self._beyond = [
            {"score": score, "similarity": 0.69, "relationship": stored(ends, kind)} for ends, score in scores.items()
        ]

    def statement(self, name: str) -> str:
        return name

    async def read(self, _text: str, parameters: dict[str, Any], **_: object) -> list[dict[str, Any]]:
        if "steps" in parameters:
            assert [step["element_id"] for step in parameters["steps"]] == ["Ann Book"]
            return [{"element_id": "Ann Book", "types": self._beyond_book}]
        if "frontier" not in parameters:
            return []
        leads = [step["position"] for step in parameters["frontier"] if step["element_id"] == "Ann Film"]
        return [{"reached": [one | {"lead": lead} for lead in leads for one in self._beyond]}]


async def ranked(
    beyond: str,
    *,
    score: float = 0.65,
    further: float | None = None,
    book: str = "wrote",
    film: float = 0.7,
    query: EmbeddedQuery | None = None,
    means: TypeMeans | None = None,
    beyond_book: Sequence[str] = (),
    owner: Collection[str] = (),
    elsewhere: float | None = None,
) -> list[tuple[str, str]]:
    """The order of relationships, if one of a type follows the film, which is about as similar as the book."""
    place = Place(beyond, {BEYOND: score} | ({} if further is None else {FURTHER: further}), beyond_book)
    records = {0.702: read_relationship(stored(BOOK, book)), film: read_relationship(stored(FILM, "starred"))}
    if elsewhere is not None:
        records[elsewhere] = read_relationship(stored(ELSEWHERE, "drinks"))
    matches = [Candidate(key_of(record), score, record, score) for score, record in records.items()]
    search = BeamSearch(
        cast("SearchScope", place),
        cast("VectorTarget", place),
        RelationshipFilter(),
        query or EmbeddedQuery([1.0], 0.3),
        means or TypeMeans(),
        1,
        9,
        -1.0,
        time.monotonic() + 60,
    )
    found = [one.record for one in await search.expand(matches, owner)]
    return [(one.from_name, one.to_name) for one in found if isinstance(one, RelationshipRecord)]


NAMED = EmbeddedQuery([1.0], 0.3, "who directed what starred")
"""Names the types of a path from starred to directed, in this order."""


@pytest.mark.parametrize(
    ("beyond", "expected"),
    [
        ("directed by", [FILM, BEYOND, BOOK]),
        # A type that is already on the path explains nothing more of the query.
        ("starred", [BOOK, FILM, BEYOND]),
    ],
)
async def test_the_start_of_a_path_that_fits_the_query_comes_first(
    beyond: str, expected: list[tuple[str, str]]
) -> None:
    assert await ranked(beyond, query=NAMED) == expected


@pytest.mark.parametrize(
    ("beyond_book", "expected"),
    [
        (["directed by"], [FILM, BOOK, BEYOND]),
        (["has genre, directed by"], [FILM, BOOK, BEYOND]),
        (["has genre"], [FILM, BEYOND, BOOK]),
        ([], [FILM, BEYOND, BOOK]),
    ],
)
async def test_a_relationship_that_was_not_expanded_counts_as_others_of_its_type_if_it_continues_so(
    beyond_book: list[str], expected: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beam, "BEAM_WIDTH", 1)
    options: dict[str, Any] = {"query": NAMED, "score": 0.698, "book": "starred", "film": 0.703}
    assert await ranked("directed by", beyond_book=beyond_book, **options) == expected


@pytest.mark.parametrize(("without_names", "first"), [(None, BOOK), ([0.0, 1.0], FILM)])
async def test_types_are_compared_with_the_query_without_its_names(
    without_names: list[float] | None, first: tuple[str, str]
) -> None:
    means = TypeMeans({("someone", "wrote"): TypeMean([1.0, 0.0], 9), ("someone", "starred"): TypeMean([0.0, 1.0], 9)})
    query = EmbeddedQuery([1.0, 0.0], 0.3, "", without_names)
    assert (await ranked("starred", query=query, means=means))[0] == first


@pytest.mark.parametrize(
    ("text", "owner", "expected"),
    [
        ("Describe Ann", (), [FILM, BOOK, BEYOND]),
        ("Describe them", (), [FILM, BEYOND, BOOK]),
        ("Describe the starred Ann", (), [FILM, BEYOND, BOOK]),
        ("Describe my things", ("Ann",), [FILM, BEYOND, BOOK]),
    ],
)
async def test_paths_follow_what_is_at_a_mentioned_node_if_no_word_names_a_type(
    text: str, owner: Collection[str], expected: list[tuple[str, str]]
) -> None:
    query = EmbeddedQuery([1.0], 0.3, text)
    assert await ranked("directed by", score=0.85, film=0.9, query=query, owner=owner) == expected


async def test_a_path_that_fits_best_precedes_other_relationships_of_the_mentioned_node() -> None:
    means = TypeMeans({("someone", "directed by"): TypeMean([0.0, 1.0], 9)})
    query = EmbeddedQuery([1.0, 0.0], 0.3, "Where was the husband of Ann born?", [0.0, 1.0])
    expected = [FILM, BEYOND, BOOK]
    assert await ranked("directed by", score=0.85, film=0.9, query=query, means=means) == expected


async def test_paths_that_come_last_keep_their_order() -> None:
    found = await ranked(
        "directed by", score=0.8, further=0.85, film=0.9, query=EmbeddedQuery([1.0], 0.3, "Describe Ann")
    )
    assert found == [FILM, BOOK, FURTHER, BEYOND]


async def test_paths_do_not_follow_matches_at_nodes_that_the_query_does_not_mention() -> None:
    query = EmbeddedQuery([1.0], 0.3, "Where is Ann's wife from?")
    found = await ranked("directed by", score=0.85, film=0.9, elsewhere=0.8, query=query)
    assert found == [FILM, BEYOND, ELSEWHERE, BOOK]
