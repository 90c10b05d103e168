"""Reranking: recency, cross-encoder and diversity, each for any kind of item, and the stage that
applies them.
"""

from kgagent.search.rerank.cross_encoder import CrossEncoder, rerank_with
from kgagent.search.rerank.diversity import maximal_marginal_relevance
from kgagent.search.rerank.recency import (
    RETENTION_HALF_LIFE_DAYS,
    decay,
    decay_by_age,
    decayed_score,
    heat,
    written_at,
)
from kgagent.search.rerank.reranked import Reranked
from kgagent.search.rerank.stage import Reranking

__all__ = [
    "RETENTION_HALF_LIFE_DAYS",
    "CrossEncoder",
    "Reranked",
    "Reranking",
    "decay",
    "decay_by_age",
    "decayed_score",
    "heat",
    "maximal_marginal_relevance",
    "rerank_with",
    "written_at",
]
