"""Defaults and limits of pattern queries."""

from dataclasses import dataclass
from typing import Self

from kgagent.models.pattern_query import RankingStrategy
from kgagent.settings import Settings


@dataclass(frozen=True)
class PatternOptions:
    """Defaults for what a query does not set, and its limits.

    Attributes:
        enabled: whether pattern queries are allowed.
        max_paths: maximum number of returned paths.
        ranking: how paths are ranked.
        strict: whether it is an error if no path matches.
        use_all_relation_hints: whether an expansion from targets follows all given types, or only the first.
        explored: maximum number of paths that one statement examines.
        timeout: maximum duration of a query in seconds, including all of its statements.
    """

    enabled: bool = True
    max_paths: int = 100
    ranking: RankingStrategy = RankingStrategy.HYBRID
    strict: bool = False
    use_all_relation_hints: bool = True
    explored: int = 5_000
    timeout: float = 10.0

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The options that the settings choose."""
        return cls(
            enabled=settings.patterns_enabled,
            max_paths=settings.patterns_max_paths,
            ranking=RankingStrategy(settings.patterns_ranking),
            strict=settings.patterns_strict,
            use_all_relation_hints=settings.patterns_use_all_relation_hints,
            explored=settings.patterns_explored,
            timeout=settings.patterns_timeout,
        )
