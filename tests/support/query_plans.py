"""What a query plan of Neo4j reads."""

import re
from collections.abc import Iterator
from typing import Any


def details_of(plan: dict[str, Any]) -> Iterator[str]:
    """What the seeks and scans of a plan read."""
    if re.search("Scan|Seek", plan["operatorType"]):
        yield f"{plan['operatorType']} {plan['args'].get('Details', '')}"
    for child in plan.get("children", ()):
        yield from details_of(child)
