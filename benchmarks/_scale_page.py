"""The page of the documentation about cost by size."""

import math
from collections.abc import Sequence

from _page_table import section
from _scale_model import FIGURES, Check, Law, Point, checks

PREDICTED = (1_000_000, 10_000_000, 100_000_000, 1_000_000_000)
MEMORY_OF_A_MACHINE = 64 * 1024**3
SHARE_FOR_VECTORS = 0.75
GIB = 1024**3
NEAR = 0.25
"""Relative error up to which a prediction counts as right."""

PAGE = """# Cost by size

What a graph costs by the number of its relationships, from {smallest:,} to {largest:,}. Made by

```sh
{command}
```

One user has half of the relationships, four have most of the rest and up to 300 have 10 each. The embeddings are
synthetic, dense clusters of {dimensions} dimensions. The questions are those of the user who has half. Data are
loaded by Neo4j's offline import into an empty local server; then constraints and indexes are created. Times depend on
the machine and on what else it does: this one has {cores} cores. Seconds of the processor (CPU) are summed over the
cores; other work changes them less.{note}

{measured}

Together, loading and indexing {largest:,} relationships took {minutes:.0f} minutes.

- **load**: writing CSV files and importing them. The embeddings exist already: an embedding model needs far longer
  than all of this.
- **range, text, vector**: creating constraints and range indexes, full-text indexes, and the vector index of
  relationships.
- **memory**: resident memory of the server after the questions. Its heap and page cache have fixed limits; the files
  of the vector index are mapped and count as far as they were read.
- **search CPU, p50**: a search with default settings for 20 results: time of the server's processor, and time of the
  clock from the call in Python to its records, which is longer the busier the machine is.
- **recall@20**: share of the true 20 nearest that were found; in parentheses the worst of {questions} questions.

## Before loading much

- A vector index that is created over existing data becomes one HNSW graph on the local server, which all cores merge.
  An index that grows by writes consists of several graphs; after loading 100,000 relationships or more, run
  `kgagent migrate --rebuild-indexes` to make one of them. On a server of your own, set
  `internal.dbms.index.vector.post_population_compaction=FULL` and `internal.dbms.index.vector.intra_merge_workers` to
  the number of cores in `neo4j.conf` (Neo4j 2026.08).
- A search compares `KGAGENT_OVERSAMPLING` candidates for each result in an index of up to 100,000 vectors, and up
  to six times as many at a million and more.
- Java computes similarities with vector instructions if it has the module `jdk.incubator.vector`. The Java of the
  extra `local` lacks it; set `JAVA_HOME` to a full JDK, 21 or newer. These figures were measured with{without} it.

## Model

Each figure is fitted by a law with two constants that are not negative, by least squares of the relative errors over
all points. N is the number of relationships.

{laws}

The check fits the same laws to all points but the largest, and predicts that one:

{checks}

{verdict}
The law of a search does not contain that more candidates are compared from 100,000 on.

## Beyond {largest:,}

{predictions}

Predictions are extrapolations: nothing above {largest:,} was measured. Recall is not predicted; in the measured
points it is {recalls}.

- **Search** keeps its time only while the files of the vector index are in memory. With {share:.0%} of a machine of
  {memory:.0f} GiB for them, one machine holds about {fits:,} million relationships of this length; vectors of 1,536
  dimensions are four times as long.
- **More** relationships need more machines. A user's search never leaves the user's own records, so graphs are
  divided by user: each place of a [graph directory](hosting.md) is a server with its own index. The number of
  machines in the table is that of the vector index divided by what one machine holds.
- **Building** one index uses at most as many cores as the server has merge threads; several indexes, and servers, are
  built in parallel.
"""


def as_markdown(
    points: Sequence[Point],
    command: str,
    *,
    dimensions: int,
    cores: int,
    vector_instructions: bool,
    note: str = "",
) -> str:
    """The points and what follows from them as a page of the documentation.

    Args:
        points: at least three, of different sizes.
        command: makes the page.
        dimensions: of the embeddings.
        cores: of the machine.
        vector_instructions: whether Java could use them.
        note: a sentence about this run.
    """
    ordered = sorted(points, key=lambda point: point.relationships)
    laws = {figure.name: figure.law(ordered) for figure in FIGURES}
    vectors = laws["vector index, bytes"]
    room = MEMORY_OF_A_MACHINE * SHARE_FOR_VECTORS
    checked = checks(ordered)
    return PAGE.format(
        smallest=ordered[0].relationships,
        largest=ordered[-1].relationships,
        minutes=ordered[-1].build_seconds / 60,
        command=command,
        dimensions=dimensions,
        cores=cores,
        note=f" {note}" if note else "",
        without="" if vector_instructions else "out",
        measured=_table("Measured", [_measured(point) for point in ordered]),
        questions=ordered[-1].questions,
        laws=_table(
            "Laws",
            [_law(figure.name, figure.formula, laws[figure.name]) for figure in FIGURES],
            texts=2,
        ),
        checks=_table("Check", [_check(check) for check in checked]),
        verdict=_verdict(checked),
        predictions=_table(
            "Predicted",
            [
                _prediction(size, laws, room)
                for size in PREDICTED
                if size > ordered[-1].relationships
            ],
        ),
        recalls=", ".join(f"{point.recall:.3f}" for point in ordered),
        share=SHARE_FOR_VECTORS,
        memory=MEMORY_OF_A_MACHINE / GIB,
        fits=math.floor((room - vectors.fixed) / vectors.rate / 1e6),
    )


def machines(vector_bytes: float, room: float) -> int:
    """Number of machines whose memory holds the vector index."""
    return math.ceil(vector_bytes / room)


def _table(heading: str, rows: Sequence[dict[str, str]], *, texts: int = 1) -> str:
    """A table without the heading of its section."""
    return section(heading, rows, lambda _column, value: str(value), texts=texts).split("\n", 2)[2]


def _measured(point: Point) -> dict[str, str]:
    return {
        "relationships": f"{point.relationships:,}",
        "load s (CPU)": f"{point.load_seconds:,.0f} ({point.load_cpu:,.0f})",
        "range s": f"{point.range_seconds:,.0f}",
        "text s": f"{point.text_seconds:,.0f}",
        "vector s (CPU)": f"{point.vector_seconds:,.0f} ({point.vector_cpu:,.0f})",
        "disk, bytes each": f"{point.disk_bytes / point.relationships:,.0f}",
        "of these vector index": f"{point.vector_bytes / point.relationships:,.0f}",
        "memory, MiB": f"{point.server_bytes / 1024**2:,.0f}",
        "search CPU ms": f"{point.search_cpu_ms:.1f}",
        "p50 ms (p95)": f"{point.p50_ms:.0f} ({point.p95_ms:.0f})",
        "recall@20": f"{point.recall:.3f} ({point.min_recall:.2f})",
        "foreign": f"{point.foreign_rows}",
    }


def _law(name: str, formula: str, law: Law) -> dict[str, str]:
    return {"figure": name, "law": formula, "a": f"{law.fixed:.3g}", "b": f"{law.rate:.3g}"}


def _check(check: Check) -> dict[str, str]:
    return {
        "figure": check.figure.name,
        "predicted": f"{check.predicted:,.4g}",
        "measured": f"{check.measured:,.4g}",
        "error": f"{check.error:+.0%}",
    }


def _verdict(checked: Sequence[Check]) -> str:
    worst = max(checked, key=lambda check: abs(check.error))
    within = sum(abs(check.error) <= NEAR for check in checked)
    return (
        f"{within} of {len(checked)} predictions are within {NEAR:.0%}; the worst is that of "
        f"{worst.figure.name}: "
        f"{worst.error:+.0%}.\nEach further factor of ten may add an error of this size."
    )


def _prediction(size: int, laws: dict[str, Law], room: float) -> dict[str, str]:
    vectors = laws["vector index, bytes"](size)
    return {
        "relationships": f"{size:,}",
        "disk, GiB": f"{laws['disk, bytes'](size) / GIB:,.0f}",
        "vector index, GiB": f"{vectors / GIB:,.0f}",
        "machines": f"{machines(vectors, room):,}",
        "loading, CPU hours": f"{laws['loading, CPU seconds'](size) / 3_600:,.1f}",
        "vector index, CPU hours": f"{laws['vector index, CPU seconds'](size) / 3_600:,.1f}",
        "a search, CPU ms": f"{laws['a search, CPU ms'](size):,.0f}",
    }
