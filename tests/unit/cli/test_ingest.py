"""What `kgagent ingest` prints."""

from kgagent.cli.ingest import summary_lines
from kgagent.cli.source_files import SourceFile
from kgagent.ingestion import IngestionReport, NodeChange, RelationshipChange
from kgagent.models import GraphNode, GraphRelationship

NODE = GraphNode(entity_key="k1", label="Person", name="Ruth")
KNOWS = GraphRelationship(
    from_entity_key="k1",
    to_entity_key="k2",
    from_name="Ruth",
    to_name="Iris",
    neo4j_type="knows",
    attitude=3,
)


def lines(**facts: object) -> list[str]:
    report = IngestionReport.model_validate(
        {
            "name": "Call [1]",
            "source_entity_key": "s",
            "fingerprint": "f",
            "parts": 2,
            "parts_read": 1,
        }
        | facts
    )
    return [line.plain for line in summary_lines([SourceFile("a.txt", None, report=report)])]


def test_new_and_changed_records_are_counted() -> None:
    said = lines(
        state="complete",
        nodes=(NodeChange(before=None, after=NODE), NodeChange(before=None, after=NODE)),
        relationships=(
            RelationshipChange(before=None, after=KNOWS),
            RelationshipChange(before=KNOWS, after=KNOWS),
        ),
    )
    assert said[0] == "Call [1]: read completely"
    assert (
        said[1]
        == "1 of 2 parts read; 0 tool calls; 2 nodes and 1 relationship new, 1 relationship changed"
    )


def test_unchanged_run_is_reported() -> None:
    assert lines(state="complete")[1].endswith("; no changes")
    assert lines(state="complete", updated=True)[0].endswith(
        " (a newer version of a source that was read before)"
    )


def test_stopped_run_reports_reason_and_remedy() -> None:
    said = lines(
        state="stopped", reason="the model failed: OpenAIConnectionError: Connection error."
    )
    assert said[0] == (
        "Call [1]: stopped: the model failed: OpenAIConnectionError: Connection error. Run it "
        "again to resume."
    )
