import pytest
from pydantic import ValidationError

from kgagent.answers.found import llm_context
from kgagent.models import FoundStatement, Note
from kgagent.models.hybrid import (
    HybridObject,
    HybridRelationship,
    HybridSearchRequest,
    HybridSearchResult,
)


def found(**more: object) -> HybridObject:
    return HybridObject(
        **{"entity_key": "a", "label": "Person", "name": "Ada", "rank": 1, "score": 0.1, **more}
    )


def related(**more: object) -> HybridRelationship:
    given = {
        "from_entity_key": "a",
        "to_entity_key": "b",
        "neo4j_type": "has_relationship_with",
        "triplet_text": "Ada friend Bo",
        "found_by": ("relationship_vector",),
        "rank": 2,
        "score": 0.05,
    }
    return HybridRelationship(**{**given, **more})


def test_objects_are_always_present_and_relationships_only_on_request() -> None:
    assert HybridSearchResult().to_dict() == {"objects": []}
    assert HybridSearchResult(relationships=()).to_dict() == {"objects": [], "relationships": []}


def test_each_item_says_what_it_is() -> None:
    result = HybridSearchResult(
        objects=(found(found_by=("node_vector",)),), relationships=(related(),)
    )
    payload = result.to_dict()
    assert payload["objects"][0]["type"] == "object"
    assert payload["relationships"][0]["type"] == "relationship"
    assert payload["relationships"][0]["triplet_text"] == "Ada friend Bo"
    assert "warnings" not in payload


def test_context_says_that_nothing_is_relevant_only_above_the_nearest() -> None:
    nearest = HybridSearchResult(objects=(found(found_by=()),), is_relevant=False, relevance=0.1)
    assert llm_context(nearest).splitlines() == [
        "Nothing clearly relevant found. The nearest:",
        "Ada (Person) 0.10",
    ]
    assert llm_context(HybridSearchResult(is_relevant=False, relevance=0.1)) == "Nothing found"


def test_context_names_the_ends_of_relationships_only_there() -> None:
    ada = found(rank=3, found_by=("via_relationship",))
    other = found(entity_key="c", name="Cy", rank=4, found_by=("via_relationship",))
    result = HybridSearchResult(
        objects=(ada, other),
        relationships=(related(from_name="Ada", to_name="Bo"),),
        labels={"a": "Person"},
    )
    assert llm_context(result).splitlines() == [
        "Ada (Person) -[has_relationship_with]-> Bo 0.05",
        "Cy (Person) 0.10",
    ]


def test_context_has_one_line_a_record_with_its_statements_best_first() -> None:
    notes = (Note(content="Sails"), Note(content="Met in May"))
    scores = {"Met in May": 0.9, "Sails": 0.4}
    statements = [FoundStatement(note=note, score=scores[note.content]) for note in reversed(notes)]
    of_ada = {
        "notes": notes,
        "description": "A pilot",
        "statements": (*statements, FoundStatement(score=0.3)),
    }
    ada = found(found_by=("statement_vector",), score=0.9, **of_ada)
    assert (
        llm_context(HybridSearchResult(objects=(ada,)))
        == "Ada (Person) 0.90: Met in May | Sails | A pilot"
    )


def test_context_says_that_the_results_are_not_about_the_nodes_that_the_query_names() -> None:
    result = HybridSearchResult(objects=(found(found_by=()),), named=("Bo", "Cy"))
    assert (
        llm_context(result).splitlines()[0]
        == "Nothing clearly relevant about Bo or Cy. About others:"
    )


def test_statements_and_labels_are_not_part_of_a_payload() -> None:
    result = HybridSearchResult(
        objects=(found(found_by=(), statements=(FoundStatement(score=0.3),)),),
        labels={"a": "Person"},
        named=("Bo",),
    )
    assert result.to_dict().keys() == {"objects"}
    assert "statements" not in result.to_dict()["objects"][0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"strategy": "best"},
        {"relationship_limit": 0},
        {"weights": {"graph": 0.0}, "strategy": "weighted"},
        {"weights": {"graph": 1.0}, "strategy": "rrf"},
        {"weights": {"nodes": 1.0}, "strategy": "weighted"},
        {"timeout": 0},
        {"user_id": "someone"},
    ],
)
def test_invalid_options_are_rejected(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        HybridSearchRequest.model_validate(wrong)


def test_the_defaults_are_those_of_the_documents() -> None:
    options = HybridSearchRequest()
    assert (options.relationship_limit, options.search_relationships) == (50, True)


def test_the_limits_are_those_of_the_documents() -> None:
    options = HybridSearchRequest()
    assert (options.object_limit, options.text_limit, options.relationship_limit) == (20, 20, 50)
    assert HybridSearchRequest(object_limit=200, text_limit=100, relationship_limit=100, limit=100)
    for above in (
        {"object_limit": 201},
        {"text_limit": 101},
        {"relationship_limit": 101},
        {"limit": 101},
    ):
        with pytest.raises(ValidationError, match=next(iter(above))):
            HybridSearchRequest.model_validate(above)
