"""A text that the model refuses, among others that it does not."""

from kgagent.tools import Toolset
from tests.support.embedders import WatchedEmbedder
from tests.support.people import persons


async def created(
    tools: Toolset, embedder: WatchedEmbedder, words: list[str], *, refused: str
) -> list[bool]:
    """Which of the relationships with these words are created, by a model that refuses a word."""
    first, *others = await persons(tools, *(f"P{number}" for number in range(len(words) + 1)))
    embedder.forget()
    embedder.refused = refused
    answer = await tools.remember(
        relationships=[
            {"from": first, "to": other, "relationship_type": word}
            for other, word in zip(others, words, strict=True)
        ]
    )
    failed = {failure["index"] for failure in answer["failures"]}
    return [position not in failed for position in range(len(words))]


async def test_the_other_items_of_a_batch_are_written(
    tools: Toolset, embedder: WatchedEmbedder
) -> None:
    words = ["friend", "poison", "mentor"]
    assert await created(tools, embedder, words, refused="poison") == [True, False, True]


async def test_a_model_that_refuses_everything_is_not_called_for_each_text(
    tools: Toolset, embedder: WatchedEmbedder
) -> None:
    assert not any(
        await created(tools, embedder, [f"mentee{n}" for n in range(20)], refused="mentee")
    )
    assert embedder.calls == 1 + 3
