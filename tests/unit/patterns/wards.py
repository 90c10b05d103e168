"""What a hospital's graph holds, written down."""

from typing import Any

from kgagent.models.live_schema import (
    LabelPair,
    LiveLabel,
    LiveProperty,
    LiveRelationshipType,
    LiveSchema,
)
from kgagent.models.pattern import GraphPattern


def properties(*names: str) -> tuple[LiveProperty, ...]:
    return tuple(LiveProperty(name=name) for name in names)


def joins(
    name: str, *pairs: tuple[str, str], sampled: bool = False, has: tuple[str, ...] = ()
) -> LiveRelationshipType:
    label_pairs = tuple(LabelPair(from_label=start, to_label=end, count=9) for start, end in pairs)
    return LiveRelationshipType(
        name=name, count=9, sampled=sampled, pairs=label_pairs, properties=properties(*has)
    )


def label(name: str, *has: str, sampled: bool = False) -> LiveLabel:
    return LiveLabel(name=name, count=9, sampled=sampled, properties=properties(*has))


WARD = LiveSchema(
    labels=(
        label("Patient", "name", "age", "contact"),
        label("Doctor", "name", "specialty"),
        label("Condition", "name"),
        label("Medication", "name", "dose"),
    ),
    relationship_types=(
        joins("HAS_CONDITION", ("Patient", "Condition"), has=("since",)),
        joins("TREATED_BY", ("Patient", "Doctor")),
        joins("PRESCRIBED_MEDICATION", ("Patient", "Medication")),
    ),
)


def pattern(*steps: dict[str, Any], **more: Any) -> GraphPattern:
    return GraphPattern.model_validate({"pattern_id": "risk", "steps": steps, **more})


def step(
    source: str | None, types: str | list[str] | None, target: str | None, **more: Any
) -> dict[str, Any]:
    return {"source_label": source, "relation_type": types, "target_label": target, **more}


def equals(path: str, place: int | str = 0, **more: Any) -> dict[str, Any]:
    given = {"type": "PROPERTY_EQUALS", "property_path": path, "at_step": place, **more}
    return given if "value_from" in given else {"value": "x", **given}
