"""How queries over graph patterns are answered where they do not say it themselves."""

from dataclasses import dataclass
from typing import Self

from kgagent.models.pattern_query import RankingStrategy
from kgagent.settings import Settings


@dataclass(frozen=True)
class PatternOptions:
    """What holds where a query does not say otherwise.

    Attributes:
        enabled: whether patterns may be asked for at all.
        max_paths: paths told at the most.
        ranking: how paths are ranked.
        strict: whether finding no path is an error.
        use_all_relation_hints: whether a walk from targets follows all the types that it is given.
        explored: paths that one statement looks at, at the most.
        timeout: seconds that the server gives one statement.
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
        """Those that the settings choose."""
        return cls(
            enabled=settings.patterns_enabled,
            max_paths=settings.patterns_max_paths,
            ranking=RankingStrategy(settings.patterns_ranking),
            strict=settings.patterns_strict,
            use_all_relation_hints=settings.patterns_use_all_relation_hints,
            explored=settings.patterns_explored,
            timeout=settings.patterns_timeout,
        )
