"""How paths rank, for known similarities."""

import time
from typing import Any, ClassVar, cast

import pytest

from kgagent.graph.identifiers import Identifier
from kgagent.graph.records import RelationshipRecord
from kgagent.retrieval import beam
from kgagent.retrieval.beam import BeamSearch
from kgagent.retrieval.candidates import Candidate, key_of, read_relationship
from kgagent.retrieval.scope import RelationshipFilter, SearchScope
from kgagent.retrieval.type_means import TypeMeans
from kgagent.retrieval.vector_search import VectorQuery
from kgagent.retrieval.vector_targets import RANKING_FIELDS, VectorTarget

FILM, BOOK, BEYOND = ("Ann", "Film"), ("Ann", "Book"), ("Film", "Bo")


def stored(ends: tuple[str, str], kind: str) -> list[Any]:
    """A relationship as a statement returns it."""
    first, last = ends
    fields = [["relationship_type", kind], ["is_reversed", None]]
    return [f"{first} {last}", "connected_to", *ends, *ends, ["Entity"], ["Entity"], fields]


class Place:
    """A database with one relationship beyond the film."""

    places: ClassVar = {"types": Identifier.any_of(["connected_to"]), "relationship": RANKING_FIELDS}
    user_id = "someone"
    vector = list

    def __init__(self, kind: str, score: float) -> None:
        self.store = self
        self._beyond = {"lead": 0, "score": score, "similarity": 0.69, "relationship": stored(BEYOND, kind)}

    def statement(self, name: str) -> str:
        return name

    async def read(self, _text: str, parameters: dict[str, Any], **_: object) -> list[dict[str, Any]]:
        leads = [step["position"] for step in parameters.get("frontier", ()) if step["element_id"] == "Ann Film"]
        return [{"reached": [self._beyond | {"lead": lead} for lead in leads]}] if "frontier" in parameters else []


async def ranked(
    beyond: str,
    *,
    score: float = 0.65,
    book: str = "wrote",
    film: float = 0.7,
    query: VectorQuery | None = None,
    means: TypeMeans | None = None,
) -> list[tuple[str, str]]:
    """The order of relationships, if one of a type follows the film, which is about as similar as the book."""
    place = Place(beyond, score)
    records = {0.702: read_relationship(stored(BOOK, book)), film: read_relationship(stored(FILM, "starred"))}
    matches = [Candidate(key_of(record), score, record, score) for score, record in records.items()]
    search = BeamSearch(
        cast("SearchScope", place),
        cast("VectorTarget", place),
        RelationshipFilter(),
        query or VectorQuery([1.0], 0.3),
        means or TypeMeans(),
        1,
        9,
        -1.0,
        time.monotonic() + 60,
    )
    found = [one.record for one in await search.expand(matches)]
    return [(one.from_name, one.to_name) for one in found if isinstance(one, RelationshipRecord)]


@pytest.mark.parametrize(
    ("beyond", "expected"),
    [
        ("directed by", [FILM, BOOK, BEYOND]),
        # A type that is already on the path explains nothing more of the query.
        ("starred", [BOOK, FILM, BEYOND]),
    ],
)
async def test_the_start_of_a_path_that_fits_the_query_comes_first(
    beyond: str, expected: list[tuple[str, str]]
) -> None:
    assert await ranked(beyond) == expected


@pytest.mark.parametrize(("width", "expected"), [(1, [FILM, BOOK, BEYOND]), (2, [FILM, BEYOND, BOOK])])
async def test_a_relationship_counts_as_others_of_its_type_if_it_is_not_known_as_a_dead_end(
    width: int, expected: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beam, "BEAM_WIDTH", width)
    assert await ranked("directed by", score=0.698, book="starred", film=0.703) == expected


@pytest.mark.parametrize(("without_names", "first"), [(None, BOOK), ([0.0, 1.0], FILM)])
async def test_types_are_compared_with_the_query_without_its_names(
    without_names: list[float] | None, first: tuple[str, str]
) -> None:
    means = TypeMeans({("someone", "wrote"): [1.0, 0.0], ("someone", "starred"): [0.0, 1.0]})
    query = VectorQuery([1.0, 0.0], 0.3, "", without_names)
    assert (await ranked("starred", query=query, means=means))[0] == first
