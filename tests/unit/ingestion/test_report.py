"""A report, and how a person reads it."""

import pytest

from kgagent.ingestion import CallRecord, IngestionReport, NodeChange, RelationshipChange, Tokens
from kgagent.ingestion.report import State
from kgagent.models import GraphNode, GraphRelationship, Note

NODE = GraphNode(entity_key="k1", label="Person", name="Ruth")
RELATIONSHIP = GraphRelationship(
    from_entity_key="k1", to_entity_key="k2", from_name="Ruth", to_name="Iris", neo4j_type="knows", attitude=3
)


def report(state: State = "complete", **more: object) -> IngestionReport:
    return IngestionReport.model_validate(
        {"name": "Call", "source_entity_key": "s", "fingerprint": "f", "state": state, "parts": 2, "parts_read": 1}
        | more
    )


def test_what_changed_is_told_with_before_and_after() -> None:
    old, new = Note(content="Met in 2019"), Note(content="Moves in March")
    before = RELATIONSHIP.model_copy(update={"notes": (old,), "relationship_type": "teacher"})
    after = RELATIONSHIP.model_copy(update={"notes": (old, new), "relationship_type": "mentor", "attitude": None})
    text = report(
        nodes=(NodeChange(before=None, after=NODE),), relationships=(RelationshipChange(before=before, after=after),)
    ).to_markdown()
    assert "- **new** Person Ruth\n" in text
    assert "- **changed** Ruth mentor Iris\n" in text
    assert "    - relationship_type: teacher → mentor\n" in text
    assert "    - attitude: 3 → nothing\n" in text
    assert "    - note: Moves in March\n" in text
    assert "Met in 2019" not in text


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("complete", "Read to the end."),
        ("unchanged", "nothing was done"),
        ("incomplete", "but for the parts that the warnings tell of"),
        ("stopped", "Stopped: out of tokens. Another run goes on from there."),
    ],
)
def test_the_state_is_told(state: State, said: str) -> None:
    assert said in report(state, reason="out of tokens" if state == "stopped" else "").to_markdown()


def test_estimated_tokens_are_called_so() -> None:
    assert ", 1,100 tokens" in report(tokens=Tokens(input=1_000, output=100)).to_markdown()
    assert ", about 1,100 tokens" in report(tokens=Tokens(input=1_000, output=100, estimated=True)).to_markdown()


def test_what_a_model_wrote_cannot_break_the_page() -> None:
    call = CallRecord(
        part=1, step=1, tool="a|b", arguments={"x": "`|\n# <script>"}, success=False, outcome="![x](http://x) | y"
    )
    node = NODE.model_copy(update={"name": "<img src=x>\n# Title"})
    text = report(calls=(call,), nodes=(NodeChange(before=None, after=node),), warnings=("a\n- b",)).to_markdown()
    [row] = (line for line in text.splitlines() if line.startswith("| 1 |"))
    assert row.replace("\\|", "").count("|") == 6
    assert row.count("`") == 2
    assert "<img" not in text.replace("\\<", "")
    assert "](" not in text.replace("\\]", "")
    assert "\n# Title" not in text
    assert "- a - b\n" in text


def test_a_reason_that_ends_a_sentence_gets_no_second_full_stop() -> None:
    assert "Stopped: Connection error. Another run" in report("stopped", reason="Connection error.").to_markdown()
