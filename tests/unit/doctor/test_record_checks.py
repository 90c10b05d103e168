import json
from datetime import UTC, datetime, timedelta

import pytest

from kgagent.doctor.issues import MigrationIssues
from kgagent.doctor.record_checks import MAX_EXPIRIES, MAX_NOTES_REREAD, TextCheck
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.graph.records import NodeRecord

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("count", "passes"), [(1_000, MAX_EXPIRIES), (MAX_NOTES_REREAD // 3, 3), (MAX_NOTES_REREAD + 1, 1)]
)
def test_the_text_is_built_for_the_latest_expiries_only_and_for_fewer_of_a_record_with_many_notes(
    count: int, passes: int
) -> None:
    notes = [
        {"content": f"note {minute} {'x' * 60}", "expires_at": (NOW - timedelta(minutes=minute)).isoformat()}
        for minute in range(1, count + 1)
    ]
    record = NodeRecord(
        element_id="1",
        label="Person",
        vector_length=8,
        properties={"name": "Ada", "notes": json.dumps(notes), "embedding_model": "blake2b-words"},
    )
    times: list[datetime] = []

    def text(node: NodeRecord, now: datetime) -> str:
        times.append(now)
        return f"Ada {node.notes_text(now)}"

    issue = TextCheck(text, HashingEmbedder(8), lambda: NOW, MigrationIssues(None)).issue(record, has_vector=True)
    assert len(times) == 1 + passes
    assert min(times) > NOW - timedelta(minutes=passes + 1)
    assert issue is not None
    assert issue.phrase == "have an embedding of an earlier text"
