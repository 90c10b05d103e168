import json
from datetime import UTC, datetime, timedelta

from kgagent.doctor.issues import MigrationIssues
from kgagent.doctor.record_checks import MAX_EXPIRIES, TextCheck
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.graph.records import NodeRecord

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_the_text_is_built_for_the_latest_expiries_only() -> None:
    notes = [
        {"content": f"note {minute} {'x' * 60}", "expires_at": (NOW - timedelta(minutes=minute)).isoformat()}
        for minute in range(1, 1_001)
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
    assert len(times) == 1 + MAX_EXPIRIES
    assert min(times) > NOW - timedelta(minutes=MAX_EXPIRIES + 1)
    assert issue is not None
    assert issue.phrase == "have an embedding of an earlier text"
