"""kgagent explore: what the graph contains about several queries and names."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.options import Html, Json, User
from kgagent.cli.request_options import build_request, field_of

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from kgagent.models import ExploredNode, ExploreResult, GraphRelationship, Signal

_MODEL = "ExploreRequest"

BEST_LINES = 10
"""Nodes and relationships that are printed without --all, one line each."""

_SIGNAL_LABELS = {"node_vector": "own text", "via_relationship": "relationship", "name_match": "name"}


def explore(
    queries: Annotated[
        list[str] | None, typer.Argument(metavar="QUERY...", help="Texts to search for semantically.")
    ] = None,
    *,
    text_match: Annotated[
        list[str] | None, typer.Option(help="Name of a node, or part of a name. Can be repeated.")
    ] = None,
    label: Annotated[list[str] | None, typer.Option(help=field_of(_MODEL, "labels", "Can be repeated."))] = None,
    relationship_type: Annotated[
        list[str] | None, typer.Option(help=field_of(_MODEL, "relationship_types", "Can be repeated."))
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help=field_of(
                "VectorQuery",
                "threshold",
                "With the local model, unrelated texts have a similarity of 0.4 or more; try 0.5.",
            )
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(help=field_of(_MODEL, "limit_per_label"))] = None,
    expand_hops: Annotated[int | None, typer.Option(help=field_of(_MODEL, "expand_hops"))] = None,
    relationships: Annotated[bool, typer.Option(help=field_of(_MODEL, "search_relationships"))] = True,
    show_all: Annotated[
        bool, typer.Option("--all", help="Print everything that was found, instead of the ten best lines.")
    ] = False,
    html: Html = None,
    user: User = None,
    json: Json = False,
) -> None:
    """Search nodes and relationships semantically and by name: kgagent explore "who are my mentors?"."""
    from rich.text import Text

    from kgagent.cli.graph_session import resolve_user_id, run_with_graph
    from kgagent.cli.html_page import write_explore_page
    from kgagent.cli.nothing_found import nothing_found
    from kgagent.cli.output import print_json, print_message, print_result
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.models import ExploreRequest, ExploreResult
    from kgagent.models.answer_page import NOTHING_RELEVANT
    from kgagent.settings import load_settings

    texts, names = ([item for item in given or () if item.strip()] for given in (queries, text_match))
    if not texts and not names:
        raise typer.BadParameter("give a QUERY or --text-match NAME")
    at_least = {} if threshold is None else {"threshold": threshold}
    request = build_request(
        ExploreRequest,
        queries=[{"query": text, **at_least} for text in texts],
        text_matches=names,
        search_relationships=relationships,
        labels=label,
        relationship_types=relationship_type,
        limit_per_label=limit,
        expand_hops=expand_hops,
    )
    settings = load_settings()
    user_id = resolve_user_id(settings, user)

    async def work(graph: KnowledgeGraph) -> tuple[ExploreResult, str]:
        result = await graph.explore(request, user_id=user_id)
        if html is not None:
            await write_explore_page(html, graph, request, result, user_id=user_id)
        is_empty = not result.nodes and not result.relationships
        hint = await nothing_found(graph, user_id, texts=bool(texts), names=bool(names)) if is_empty else ""
        return result, hint

    result, hint = run_with_graph(work, settings=settings)
    if json:
        print_json({"user": user_id, **result.to_dict()})
        return
    for warning in result.warnings:
        print_message(Text(warning, style="yellow"))
    if html is not None:
        return
    if hint:
        print_result(Text(hint))
    else:
        opening = [NOTHING_RELEVANT] if result.is_relevant is False else []
        print_result(*opening, *(_result_tables(result) if show_all else _best_lines(result)))


def _best_lines(result: "ExploreResult") -> "list[RenderableType]":
    """The best nodes and relationships, one line each; on a terminal cut to its width."""
    from rich.text import Text

    from kgagent.models.answer_items import RenderState
    from kgagent.tools.explore import explored_items

    items = explored_items(result)
    nodes = (*(item.node for item in result.nodes), *result.neighbors)
    labels = {node.entity_key: node.label for node in nodes}
    state = RenderState(datetime.now(UTC), labels=labels, with_properties=False)
    lines = [line.text() for item in items for line in item.lines(state)]
    shown: list[RenderableType] = [Text(line, no_wrap=True) for line in lines[:BEST_LINES]]
    if len(lines) > BEST_LINES:
        shown.append(f"[dim]{BEST_LINES} of {len(lines):,} shown; --all prints all of them[/dim]")
    return shown


def _result_tables(result: "ExploreResult") -> "list[RenderableType]":
    """Nodes, relationships and neighbors."""
    from rich.text import Text

    parts: list[RenderableType] = [_node_table(result)]
    if result.relationships:
        parts += ["", _relationship_table(result)]
    if result.neighbors:
        names = ", ".join(node.name for node in result.neighbors)
        parts += ["", Text.assemble(("Neighbors: ", "bold"), (names, "dim"))]
    return parts


def _table(title: str) -> "Table":
    from rich.table import Table

    return Table(title=title, title_justify="left", title_style="bold yellow", box=None, pad_edge=False, expand=True)


def _node_table(result: "ExploreResult") -> "Table":
    from rich.text import Text

    from kgagent.formatting import counted

    table = _table(counted(len(result.nodes), "node"))
    table.add_column("found by", style="cyan", no_wrap=True)
    table.add_column("node", ratio=2)
    table.add_column("description", ratio=4)
    for item in result.nodes:
        name = Text.assemble((item.node.name, "bold"), (f" {item.node.label}", "dim"))
        table.add_row(_best_signals(item), name, Text(item.node.description))
    return table


def _relationship_table(result: "ExploreResult") -> "Table":
    from kgagent.formatting import counted

    table = _table(counted(len(result.relationships), "relationship"))
    table.add_column("", style="cyan", no_wrap=True, width=4)
    table.add_column("relationship", ratio=3)
    table.add_column("description", ratio=5)
    for item in result.relationships:
        similarity = "" if item.similarity is None else f"{item.similarity:.2f}"
        table.add_row(similarity, _triplet(item), _relationship_details(item))
    return table


def _best_signals(item: "ExploredNode") -> str:
    """The best signal of each retriever."""
    best: dict[str, Signal] = {}
    for signal in item.signals:
        if signal.source not in best or signal.similarity > best[signal.source].similarity:
            best[signal.source] = signal
    ordered = sorted(best.values(), key=lambda signal: -signal.similarity)
    return "\n".join(f"{signal.similarity:.2f} {_SIGNAL_LABELS[signal.source]}" for signal in ordered)


def _triplet(item: "GraphRelationship") -> "Text":
    from rich.text import Text

    type_name = item.relationship_type or item.neo4j_type
    return Text.assemble((item.from_name, "bold"), " → ", (type_name, "magenta"), " → ", (item.to_name, "bold"))


def _relationship_details(item: "GraphRelationship") -> "Text":
    from rich.text import Text

    now = datetime.now(UTC)
    notes = " · ".join(note.content for note in item.notes if note.is_current(now))
    parts = [Text(item.description), Text(item.level_words, style="green"), Text(notes, style="dim")]
    return Text("\n").join(part for part in parts if part)
