"""Sources in files, whose key includes a time that a file may omit."""

import json
from pathlib import Path

from kgagent import KnowledgeGraph


async def test_sources_without_a_time_stay_apart_and_load_once(
    graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "talks.jsonl"
    lines = [{"kind": "node", "label": "Source", "name": name} for name in ("Talk one", "Talk two")]
    file.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    for created in (2, 0):
        report = await graph.load(
            file,
            user_id=user_id,
        )
        assert report.nodes.created == created
    found = await graph.retrieval.text_match("talk", user_id=user_id)
    assert {hit.node.name for hit in found} == {"Talk one", "Talk two"}
