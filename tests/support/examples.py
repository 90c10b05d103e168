"""How many examples the property tests draw."""

import os

from hypothesis import HealthCheck, settings

FACTOR = float(os.environ.get("KGAGENT_TEST_EXAMPLES", "1"))
"""Each run draws other examples, so a short run every time finds what a long run finds, only
later.
"""


def examples(usual: int) -> settings:
    """Settings of a property test on the tests' Neo4j.

    Args:
        usual: examples of a usual run; KGAGENT_TEST_EXAMPLES multiplies them.
    """
    return settings(
        max_examples=max(1, round(usual * FACTOR)),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
