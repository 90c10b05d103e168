"""The page of the documentation: text, tables and charts, all computed from the measured
figures.
"""

import html
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from side.charts import Chart, Panel, draw
from side.figures import (
    HOP_SETS,
    OURS,
    SEARCHED,
    SHOWN,
    USERS,
    WIKI,
    Asked,
    Figures,
    asked,
    best,
    inserts,
    is_updated,
    loads,
    losses,
    milliseconds,
    not_worse,
    ours,
    quantile,
    ratio,
    repeats_nodes,
    updated,
    updates,
)

COMMAND = "python benchmarks/side_by_side.py --twowiki path/to/2wiki --metaqa path/to/metaqa --markdown docs/benchmarks.md"
NONE = "-"
IDLE = 0.5
"""Load average of a machine on which little else runs."""


PAGE = """# Five toolkits side by side

kgagent, graphiti-core, neo4j-graphrag, langchain-neo4j and LlamaIndex's property graph: the same triples, embeddings
({embedder}) and questions, written and searched by each toolkit's own public
functions, without an LLM. All figures are of one run, made by

```sh
{command}
```

{versions}

One Neo4j {neo4j} with one database, started by the run, holds one toolkit's data at a time: each toolkit begins with an
empty database, in {rounds} rounds whose order rotates. {machine} Compare ratios rather than times.

{charts}

The charts show of each toolkit the search that finds most of the set, even one that is told the number of hops; of
kgagent the one with its defaults.

## Where kgagent does worse

Computed from the figures below: where the best search of another toolkit does better, and how many times kgagent's
value that is. The search that is fastest is not always the one that finds most.

{losses}

No other toolkit does better in: {wins}.

## Search

Questions of 2WikiMultihopQA over all its triples ({wiki_facts:,} pairs of entities). recall@10 is the share of the
relationships, and of their nodes, among the first ten, relative to at most ten. (…x) is the time divided by kgagent's.

{search}

## One, two and three hops

Questions of MetaQA whose answers are one, two or three relationships away from the entity that they name, with at most
{most_gold} relationships on the paths to the answers; {movie_facts:,} pairs of entities. recall@10 of the relationships
on these paths. A search that is named after hops gets the number of hops of each question; the others do not know it.
Besides these paths, the graph is a random sample of MetaQA, so following all relationships for several hops reaches far
fewer than in the whole graph.

{hops}

## Writing

One by one: one relationship with its two nodes, each in the calls that the toolkit has for it. Loading: all at once,
until the indexes contain it; the median of {rounds} loads.

{writing}

## Updating

The text of a relationship is replaced by one of another meaning. Then a question that only the new text answers should
find it among the first three, and no search should return the old text.

{updating}

## Search of one user

{users_count} users have the same {of_each:,} relationships each; one of them asks. Foreign rows belong to another user.

{users}

## What each toolkit was given

{notes}
"""

NOTES = """\
- **All**: one relationship for each pair of entities, with the text of all its triples; names are embedded as they are,
  facts as sentences. Searches get the question, and are asked for {wanted} results where they return only as many as
  they are asked for; other arguments have their defaults. Embeddings are looked up: no time contains a model.
- **kgagent**: `graph.search` returns at most 32 results by default. One by one: a call of the tool `remember`, which
  looks for existing nodes of these names. Its ranking was tuned on halves of 2WikiMultihopQA and MetaQA, so its
  recall here is not that of unseen data.
- **graphiti-core**: `search_` with `COMBINED_HYBRID_SEARCH_RRF`; its default reranker is a cross-encoder, which is a
  model. One by one: `save` of both nodes and the edge, because `add_triplet` asks an LLM whether the fact is known. The
  caller chooses the uuid by which nodes and edges are found again, and embeds a new fact before saving it.
- **neo4j-graphrag**: `Neo4jWriter` creates both nodes anew in every call; a resolver can merge them afterwards. No
  retriever searches relationships, so the statement around the nodes found is ours. No function changes the text of a
  relationship. Questions are given without punctuation, which its full-text search reads as query syntax. Hybrid
  retrievers take no filters; a condition in the statement removes other users' nodes from the ten that were found.
- **langchain-neo4j**: `add_graph_documents` does not change the properties of an existing relationship; Cypher of one's
  own can. The relationship index was created by a statement; it is searched without full text and takes no filter, and
  neither does hybrid search. The statement around the nodes found is ours, the same as for neo4j-graphrag.
- **LlamaIndex**: `VectorContextRetriever`; the other default retriever needs an LLM, and there is no full-text search.
  A node is identified by its name, so the names of several users' nodes begin with the user. Relationships have no
  embedding, and `upsert_relations` does not change an existing one. Its store requires version 5 of the Neo4j
  driver, so it runs in an environment of its own (`benchmarks/side/llama-index.txt`).
- langchain-neo4j, neo4j-graphrag and LlamaIndex write with APOC procedures. APOC {apoc} is the newest on Maven
  Central; this server loads it with a warning about the version. Nothing else uses it."""


def as_markdown(figures: Figures, *, apoc: str, wanted: int, most_gold: int) -> str:
    """The page.

    Args:
        figures: what the run measured.
        apoc: version of APOC.
        wanted: number of results that searches were asked for.
        most_gold: maximum number of relationships that answer a question of MetaQA.
    """
    sets = figures["sets"]
    others = len({name for name in figures["toolkits"] if name != OURS})
    return PAGE.format(
        embedder=figures["embedder"],
        command=COMMAND,
        versions=_versions(figures),
        neo4j=figures["neo4j"],
        rounds=figures["rounds"],
        machine=_machine(figures),
        charts="\n\n".join(picture(chart) for chart in charts(figures)),
        losses="\n".join(
            f"- **{one.what}**: kgagent {one.ours}; {', '.join(one.others)}"
            for one in losses(figures)
        )
        or f"- none of the {others} does",
        wins="; ".join(not_worse(figures)) or "nothing",
        wiki_facts=sets[WIKI]["facts"],
        movie_facts=sets[HOP_SETS[0]]["facts"],
        most_gold=most_gold,
        search=_search_table(figures),
        hops=_hops_table(figures),
        writing=_writing_table(figures),
        updating=_updating_table(figures),
        users_count=figures["users"],
        of_each=sets[USERS]["facts"] // figures["users"],
        users=_users_table(figures),
        notes=NOTES.format(apoc=apoc, wanted=wanted),
    )


def write(figures: Figures, file: Path, page: str) -> None:
    """Write the page, and its charts to the folder `images` beside it."""
    folder = file.parent / "images"
    folder.mkdir(exist_ok=True)
    for chart in charts(figures):
        draw(chart, folder)
    file.write_text(page, "utf-8")


def picture(chart: Chart) -> str:
    """The chart in the theme of the reader, with its figures as alternative text."""
    return (
        f'<picture>\n  <source media="(prefers-color-scheme: dark)" '
        f'srcset="images/{chart.file("dark")}">\n'
        f'  <img alt="{html.escape(chart.in_words())}" '
        f'src="images/{chart.file("light")}">\n</picture>'
    )


def charts(figures: Figures) -> list[Chart]:
    """Quality and speed of the best search of each toolkit, and writing."""
    of = {name: {row.toolkit: row for row in best(asked(figures, name))} for name in SEARCHED}
    toolkits = list(figures["toolkits"])
    changed = updates(figures)
    return [
        Chart(
            "quality",
            "Recall@10 of relationships, by the search that finds most (more is better)",
            [
                Panel(SHOWN[name], {kit: rows[kit].relationships for kit in toolkits}, "", {})
                for name, rows in of.items()
            ],
        ),
        Chart(
            "speed",
            "Median time of the same searches (less is better)",
            [
                Panel(SHOWN[name], {kit: 1e3 * rows[kit].p50 for kit in toolkits}, "ms", {})
                for name, rows in of.items()
            ],
        ),
        Chart(
            "writing",
            "Writing",
            [
                Panel(
                    "one by one (less is better)",
                    {kit: quantile(values, 0.5) for kit, values in inserts(figures).items()},
                    "ms",
                    {kit: "nodes twice" for kit in toolkits if repeats_nodes(figures, kit)},
                ),
                Panel("loading 2Wiki (more is better)", loads(figures, WIKI), "/s", {}),
                Panel(
                    "updating (less is better)",
                    {
                        kit: quantile(changed[kit], 0.5) if kit in changed else None
                        for kit in toolkits
                    },
                    "ms",
                    {kit: "text unchanged" for kit in changed if not is_updated(figures, kit)},
                ),
            ],
        ),
    ]


def _search_table(figures: Figures) -> str:
    rows = asked(figures, WIKI)
    return _table(
        ("toolkit", "search", "relationships", "nodes", "p50 ms", "p95 ms", "questions"),
        [
            (
                row.toolkit,
                row.search,
                _share(row.relationships),
                _share(row.nodes),
                *_times(row, rows),
                str(row.count),
            )
            for row in rows
        ],
    )


def _hops_table(figures: Figures) -> str:
    of = {name: asked(figures, name) for name in HOP_SETS}
    columns = ["toolkit", "search"]
    for number, rows in enumerate(of.values(), 1):
        columns += [f"{number} hop{'s' * (number > 1)} ({rows[0].count})", "p50 ms"]
    lines = []
    for position, first in enumerate(of[HOP_SETS[0]]):
        cells = [first.toolkit, first.search]
        for rows in of.values():
            cells += [_share(rows[position].relationships), _times(rows[position], rows)[0]]
        lines.append(cells)
    return _table(columns, lines)


def _writing_table(figures: Figures) -> str:
    one_by_one = inserts(figures)
    base = quantile(one_by_one[OURS], 0.5)
    wiki, movies = (loads(figures, name) for name in (WIKI, HOP_SETS[0]))
    lines = []
    for name, values in one_by_one.items():
        measured = figures["toolkits"][name]
        lines.append(
            (
                name,
                f"{milliseconds(quantile(values, 0.5))} ({ratio(quantile(values, 0.5), base)})",
                milliseconds(quantile(values, 0.95)),
                f"{1e3 / statistics.fmean(values):,.0f}",
                f"{sum(measured['nodes_stored']):,} of {sum(measured['nodes_expected']):,}",
                f"{wiki[name]:,.0f} ({ratio(wiki[name], wiki[OURS])})",
                f"{movies[name]:,.0f} ({ratio(movies[name], movies[OURS])})",
                str(len(values)),
            )
        )
    columns = ["toolkit", "one by one: p50 ms", "p95 ms", "per second", "nodes stored of names"]
    return _table(
        [*columns, "2Wiki, per second", "MetaQA, per second", "one by one"], lines, texts=1
    )


def _updating_table(figures: Figures) -> str:
    times = updates(figures)
    base = quantile(times[OURS], 0.5)
    lines = []
    for name in figures["toolkits"]:
        shown: list[str] = [NONE] * 2
        if name in times:
            middle = quantile(times[name], 0.5)
            shown = [
                f"{milliseconds(middle)} ({ratio(middle, base)})",
                milliseconds(quantile(times[name], 0.95)),
            ]
        done = [updated(figures, name, what) for what in ("stored", "embedding", "found", "stale")]
        lines.append(
            (name, *shown, *(NONE if one is None else f"{one[0]} of {one[1]}" for one in done))
        )
    columns = [
        "toolkit",
        "p50 ms",
        "p95 ms",
        "text changed",
        "embedding is of the new text",
        "found by the new text",
    ]
    return _table([*columns, "old text still returned"], lines, texts=1)


def _users_table(figures: Figures) -> str:
    rows = asked(figures, USERS)
    return _table(
        (
            "toolkit",
            "search",
            "relationships",
            "nodes",
            "foreign rows",
            "p50 ms",
            "p95 ms",
            "questions",
        ),
        [
            (
                row.toolkit,
                row.search,
                _share(row.relationships),
                _share(row.nodes),
                f"{row.foreign:.1%}" if row.foreign else "0",
                *_times(row, rows),
                str(row.count),
            )
            for row in rows
        ],
    )


def _times(row: Asked, rows: Sequence[Asked]) -> tuple[str, str]:
    base = ours(rows)
    return (
        f"{milliseconds(1e3 * row.p50)} ({ratio(row.p50, base.p50)})",
        f"{milliseconds(1e3 * row.p95)} ({ratio(row.p95, base.p95)})",
    )


def _share(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def _versions(figures: Figures) -> str:
    toolkits: Mapping[str, Mapping[str, str]] = {
        name: measured["versions"] for name, measured in figures["toolkits"].items()
    }
    rows = [
        (
            name,
            ", ".join(
                f"{package} {number}" for package, number in versions.items() if package != "neo4j"
            ),
            versions["neo4j"],
        )
        for name, versions in toolkits.items()
    ]
    return _table(("toolkit", "packages", "Neo4j driver"), rows, texts=3)


def _machine(figures: Figures) -> str:
    machine = f"The machine has {figures['cores']} cores."
    before, after = figures["load_before"], figures["load_after"]
    if before is None or after is None or before < IDLE:
        return machine
    return (
        f"{machine} It was not idle: other programs ran too\n(load average {before:.1f} at the "
        f"beginning, {after:.1f} "
        "at the end), so times are higher than on an idle one."
    )


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, texts: int = 2) -> str:
    return "\n".join(
        [
            f"| {' | '.join(columns)} |",
            f"|{' --- |' * texts}{' ---: |' * (len(columns) - texts)}",
            *(f"| {' | '.join(row)} |" for row in rows),
        ]
    )
