import json
import time
from datetime import UTC, datetime, timedelta

from kgagent.doctor.issues import MigrationIssues
from kgagent.doctor.record_checks import TextCheck
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.graph.records import NodeRecord

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECONDS = 20.0
"""Far above what one node takes, far below what one pass for each of its notes takes."""


def test_megabytes_of_expired_notes_are_checked_in_seconds() -> None:
    notes = [
        {"content": f"note {minute} {'x' * 60}", "expires_at": (NOW - timedelta(minutes=minute)).isoformat()}
        for minute in range(1, 40_001)
    ]
    record = NodeRecord(
        element_id="1",
        label="Person",
        vector_length=8,
        properties={"name": "Ada", "notes": json.dumps(notes), "embedding_model": "blake2b-words"},
    )
    check: TextCheck[NodeRecord] = TextCheck(
        lambda node, now: f"Ada {node.notes_text(now)}", HashingEmbedder(8), lambda: NOW, MigrationIssues(None)
    )
    started = time.perf_counter()
    issue = check.issue(record, has_vector=True)
    assert time.perf_counter() - started < SECONDS
    assert issue is not None
    assert issue.phrase == "have an embedding of an earlier text"
