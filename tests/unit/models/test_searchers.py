import pytest
from pydantic import ValidationError

from kgagent import SearchOptions
from kgagent.models import GraphNode, SearchHit


def test_the_defaults_are_ten_hits_and_one_hop() -> None:
    assert (SearchOptions().top_k, SearchOptions().graph_depth, SearchOptions().seed_node_ids) == (
        10,
        1,
        (),
    )


@pytest.mark.parametrize("count", [0, -1])
def test_counts_that_are_not_above_0_mean_the_default(count: int) -> None:
    options = SearchOptions(top_k=count, graph_depth=count)
    assert (options.top_k, options.graph_depth) == (10, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"top_k": 1_001},
        {"graph_depth": 6},
        {"threshold": 1.5},
        {"seed_node_ids": ("key",) * 1_001},
        {"user_id": "somebody"},
    ],
)
def test_options_out_of_range_are_rejected(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        SearchOptions.model_validate(wrong)


def test_a_hit_has_the_key_of_its_node() -> None:
    hit = SearchHit(
        node=GraphNode(entity_key="key", label="Person", name="Ada"),
        score=0.5,
        source="graph",
        depth=1,
    )
    assert hit.entity_key == "key"
