"""The report and its Markdown form."""

import pytest

from kgagent.ingestion import (
    CallRecord,
    IngestionReport,
    NodeChange,
    RelationshipChange,
    TokenUsage,
)
from kgagent.ingestion.report import State
from kgagent.models import GraphNode, GraphRelationship, Note

NODE = GraphNode(entity_key="k1", label="Person", name="Ruth")
RELATIONSHIP = GraphRelationship(
    from_entity_key="k1",
    to_entity_key="k2",
    from_name="Ruth",
    to_name="Iris",
    neo4j_type="knows",
    attitude=3,
)


def report(state: State = "complete", **more: object) -> IngestionReport:
    return IngestionReport.model_validate(
        {
            "name": "Call",
            "source_entity_key": "s",
            "fingerprint": "f",
            "state": state,
            "parts": 2,
            "parts_read": 1,
        }
        | more
    )


def test_report_shows_values_before_and_after() -> None:
    old, new = Note(content="Met in 2019"), Note(content="Moves in March")
    before = RELATIONSHIP.model_copy(update={"notes": (old,), "relationship_type": "teacher"})
    after = RELATIONSHIP.model_copy(
        update={"notes": (old, new), "relationship_type": "mentor", "attitude": None}
    )
    text = report(
        nodes=(NodeChange(before=None, after=NODE),),
        relationships=(RelationshipChange(before=before, after=after),),
    ).to_markdown()
    assert "- **new** Person Ruth\n" in text
    assert "- **changed** Ruth mentor Iris\n" in text
    assert "    - relationship_type: teacher → mentor\n" in text
    assert "    - attitude: 3 → none\n" in text
    assert "    - note: Moves in March\n" in text
    assert "Met in 2019" not in text


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("complete", "Read completely."),
        ("unchanged", "nothing was done"),
        ("incomplete", "Some parts were not read, see the warnings."),
        ("stopped", "Stopped: out of tokens. Another run resumes here."),
    ],
)
def test_report_shows_state(state: State, said: str) -> None:
    assert said in report(state, reason="out of tokens" if state == "stopped" else "").to_markdown()


def test_estimated_tokens_are_marked() -> None:
    assert ", 1,100 tokens" in report(tokens=TokenUsage(input=1_000, output=100)).to_markdown()
    assert (
        ", about 1,100 tokens"
        in report(tokens=TokenUsage(input=1_000, output=100, estimated=True)).to_markdown()
    )


def test_model_output_cannot_break_the_markdown() -> None:
    call = CallRecord(
        part=1,
        step=1,
        tool="a|b",
        arguments={"x": "`|\n# <script>"},
        success=False,
        outcome="![x](http://x) | y",
    )
    node = NODE.model_copy(update={"name": "<img src=x>\n# Title"})
    text = report(
        calls=(call,), nodes=(NodeChange(before=None, after=node),), warnings=("a\n- b",)
    ).to_markdown()
    [row] = (line for line in text.splitlines() if line.startswith("| 1 |"))
    assert row.replace("\\|", "").count("|") == 6
    assert row.count("`") == 2
    assert "<img" not in text.replace("\\<", "")
    assert "](" not in text.replace("\\]", "")
    assert "\n# Title" not in text
    assert "- a - b\n" in text
