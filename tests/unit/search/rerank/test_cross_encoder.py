import math
from collections.abc import Sequence

import pytest

from kgagent.errors import InputError, RerankingError
from kgagent.search.rerank import rerank_with

TEXTS = ["a row about money", "Ada taught Bo chess", "chess", "Cy plays the violin"]


class WordOverlap:
    """Scores a text by the share of the query's words that it holds, and notes how often it was
    asked.
    """

    def __init__(self) -> None:
        self.calls = 0

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.calls += 1
        wanted = set(query.lower().split())
        return [len(wanted & set(text.lower().split())) / len(wanted) for text in texts]


class Answers:
    """Gives the scores that it was made with."""

    def __init__(self, *scores: float) -> None:
        self.scores = scores

    async def score(self, query: str, texts: Sequence[str]) -> Sequence[float]:  # noqa: ARG002
        return self.scores


async def test_items_come_in_the_order_of_the_models_scores_from_one_call() -> None:
    model = WordOverlap()
    ranked = await rerank_with(model, "who taught Bo chess", TEXTS, text_of=str)
    assert [one.item for one in ranked] == [TEXTS[1], TEXTS[2], TEXTS[0], TEXTS[3]]
    assert [one.score for one in ranked] == [0.75, 0.25, 0.0, 0.0]
    assert model.calls == 1


async def test_the_limit_applies_after_sorting() -> None:
    [best] = await rerank_with(WordOverlap(), "violin", TEXTS, text_of=str, top_k=1)
    assert best.item == TEXTS[3]


async def test_items_may_be_of_any_kind() -> None:
    numbers = {1: "chess", 2: "violin"}
    ranked = await rerank_with(WordOverlap(), "violin", [1, 2], text_of=numbers.__getitem__)
    assert [one.item for one in ranked] == [2, 1]


@pytest.mark.parametrize("scores", [(), (0.1,) * 5])
async def test_another_count_of_scores_is_an_error(scores: tuple[float, ...]) -> None:
    with pytest.raises(RerankingError, match=f"given 4 texts and returned {len(scores)} scores"):
        await rerank_with(Answers(*scores), "chess", TEXTS, text_of=str)


async def test_a_score_that_is_not_a_number_is_an_error() -> None:
    with pytest.raises(RerankingError, match="no finite number for text 3 of 4"):
        await rerank_with(Answers(0.1, 0.2, math.nan, 0.3), "chess", TEXTS, text_of=str)


async def test_a_negative_limit_is_an_error() -> None:
    with pytest.raises(InputError, match="top_k must be 0 or more, got -1"):
        await rerank_with(WordOverlap(), "chess", TEXTS, text_of=str, top_k=-1)
