import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from _made_graph import Content, Owner
from _offline_import import NODE_HEADER, RELATIONSHIP_HEADER, write_csv
from _scale_model import FIGURES, Point, checks, inserting, searching
from _scale_page import as_markdown

SIZES = (1_000, 10_000, 100_000, 1_000_000)


def point(relationships: int) -> Point:
    """A point whose figures follow the laws exactly."""
    return Point(
        relationships=relationships,
        load_seconds=2.0,
        load_cpu=3.0 + 0.001 * relationships,
        range_seconds=1.0,
        text_seconds=1.0,
        vector_seconds=1.0,
        vector_cpu=1e-5 * inserting(relationships),
        disk_bytes=1_000_000 + 4_000 * relationships,
        vector_bytes=2_000 * relationships,
        server_bytes=1024**3,
        search_cpu_ms=5.0 + searching(relationships),
        p50_ms=20.0,
        p95_ms=40.0,
        recall=0.995,
        min_recall=0.9,
        foreign_rows=0,
        questions=100,
    )


def test_the_largest_point_is_predicted_from_the_others_alone() -> None:
    exact = [point(size) for size in SIZES]
    assert [check.error for check in checks(exact)] == pytest.approx([0.0] * len(FIGURES), abs=1e-9)

    dearer = [*exact[:-1], replace(exact[-1], vector_cpu=2 * exact[-1].vector_cpu)]
    errors = {check.figure.name: check.error for check in checks(dearer[::-1])}
    assert errors["vector index, CPU seconds"] == pytest.approx(-0.5)
    assert errors["disk, bytes"] == pytest.approx(0.0, abs=1e-9)


def test_the_page_has_the_points_and_what_the_laws_say_of_larger_graphs() -> None:
    page = as_markdown(
        [point(size) for size in SIZES],
        "python benchmarks/scale.py",
        dimensions=384,
        cores=2,
        vector_instructions=True,
    )

    assert "from 1,000 to 1,000,000" in page
    assert "| 1,000,000 | 2 (1,003) |" in page
    assert "5 of 5 predictions are within 25%" in page
    # 2,000 bytes each: 1.86 GiB for a million, in 48 GiB 25 million.
    assert "about 25 million relationships" in page
    assert "| 1,000,000,000 | 3,725 | 1,863 | 39 | 277.8 |" in page


def test_csv_files_have_a_row_for_each_record_with_its_vector(tmp_path: Path) -> None:
    owner = Owner("u", 0, 40)
    vectors = np.random.default_rng(7).standard_normal((40, 3)).astype(np.float32)

    write_csv(Content([owner], vectors), "model", tmp_path)

    nodes, rows = (
        list(csv.reader((tmp_path / name).read_text("utf-8").splitlines()))
        for name in ("nodes.csv", "relationships.csv")
    )
    assert [",".join(nodes[0]), ",".join(rows[0])] == [
        NODE_HEADER.strip(),
        RELATIONSHIP_HEADER.strip(),
    ]
    assert len(nodes) == owner.nodes + 1
    assert {len(row) for row in rows} == {len(rows[0])}
    assert [tuple(row[:2]) for row in rows[1:]] == [owner.ends(position) for position in range(40)]
    read = np.array([row[-1].split(";") for row in rows[1:]], np.float32)
    assert np.array_equal(read, vectors)
