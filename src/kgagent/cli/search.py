"""kgagent search and explore: what the graph contains about a question, or about several queries and names."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kgagent.cli.graph_session import run_for_user
from kgagent.cli.options import Html, Json, User
from kgagent.cli.output import print_json, print_message, print_result, without_controls
from kgagent.cli.request_options import build_request, field_of

if TYPE_CHECKING:
    from kgagent.adapters.view import ViewGraph
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.models import ExploreResult
    from kgagent.models.hybrid import HybridObject, HybridRelationship, HybridSearchResult

BEST_LINES = 10
"""Lines that `explore` prints without --all."""

_SEARCH = "HybridSearchRequest"
_EXPLORE = "ExploreRequest"
_REPEATED = "Can be repeated."

_METHODS = {"vector": "semantic", "fulltext": "full text", "relationship": "relationship", "expansion": "expansion"}
"""What the last word of a retriever's name says of it."""


def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    *,
    limit: Annotated[int | None, typer.Option(help=field_of(_SEARCH, "limit"))] = None,
    strategy: Annotated[str | None, typer.Option(help=field_of(_SEARCH, "strategy"), metavar="STRATEGY")] = None,
    label: Annotated[list[str] | None, typer.Option(help=field_of(_SEARCH, "labels", _REPEATED))] = None,
    relationship_type: Annotated[
        list[str] | None, typer.Option(help=field_of(_SEARCH, "relationship_types", _REPEATED))
    ] = None,
    threshold: Annotated[float | None, typer.Option(help=field_of(_SEARCH, "threshold"))] = None,
    expand_hops: Annotated[int | None, typer.Option(help=field_of(_SEARCH, "expand_hops"))] = None,
    relationships: Annotated[bool, typer.Option(help=field_of(_SEARCH, "search_relationships"))] = True,
    token_budget: Annotated[
        int | None,
        typer.Option(help="Print the result as context for a model, with at most this many tokens.", min=1),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Print what the score of each result is made of.")] = False,
    html: Html = None,
    user: User = None,
    json: Json = False,
) -> None:
    """Search nodes and relationships, semantically and by full text: kgagent search "who taught me to sail?"."""
    from kgagent.adapters.view import build_search_view
    from kgagent.models.hybrid import HybridSearchRequest

    if not query.strip():
        raise typer.BadParameter("QUERY must not be empty")
    request = build_request(
        HybridSearchRequest,
        query=query,
        limit=limit,
        strategy=strategy,
        labels=label,
        relationship_types=relationship_type,
        threshold=threshold,
        expand_hops=expand_hops,
        search_relationships=relationships,
    )

    async def work(graph: "KnowledgeGraph", user_id: str) -> "tuple[HybridSearchResult, str]":
        result = await graph.search(request, user_id=user_id)
        if html is not None:
            _write_page(
                html, graph, await build_search_view(graph.retrieval, request, result, user_id=user_id), user_id
            )
        return result, "" if result.items else await _nothing_found(graph, user_id, texts=True, names=False)

    user_id, (result, hint) = run_for_user(work, user)
    context = None if token_budget is None else result.to_llm_context(token_budget)
    if json:
        print_json({"user": user_id, **result.to_dict(), **({} if context is None else {"context": context})})
        return
    _print_warnings(result.warnings)
    if context is not None:
        typer.echo(without_controls(context))
    elif html is None:
        _print_found(hint, result.is_relevant, [_table(result, explain=explain)])


def explore(
    queries: Annotated[
        list[str] | None, typer.Argument(metavar="QUERY...", help="Texts to search for semantically.")
    ] = None,
    *,
    text_match: Annotated[
        list[str] | None, typer.Option(help="Name of a node, or part of a name. Can be repeated.")
    ] = None,
    label: Annotated[list[str] | None, typer.Option(help=field_of(_EXPLORE, "labels", _REPEATED))] = None,
    relationship_type: Annotated[
        list[str] | None, typer.Option(help=field_of(_EXPLORE, "relationship_types", _REPEATED))
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
    limit: Annotated[int | None, typer.Option(help=field_of(_EXPLORE, "limit_per_label"))] = None,
    expand_hops: Annotated[int | None, typer.Option(help=field_of(_EXPLORE, "expand_hops"))] = None,
    relationships: Annotated[bool, typer.Option(help=field_of(_EXPLORE, "search_relationships"))] = True,
    show_all: Annotated[bool, typer.Option("--all", help="Print all lines instead of the ten best.")] = False,
    html: Html = None,
    user: User = None,
    json: Json = False,
) -> None:
    """Search nodes and relationships semantically and by name: kgagent explore "who are my mentors?"."""
    from kgagent.adapters.view import build_explore_view
    from kgagent.models import ExploreRequest

    texts, names = ([item for item in given or () if item.strip()] for given in (queries, text_match))
    if not texts and not names:
        raise typer.BadParameter("give a QUERY or --text-match NAME")
    minimum = {} if threshold is None else {"threshold": threshold}
    request = build_request(
        ExploreRequest,
        queries=[{"query": text, **minimum} for text in texts],
        text_matches=names,
        search_relationships=relationships,
        labels=label,
        relationship_types=relationship_type,
        limit_per_label=limit,
        expand_hops=expand_hops,
    )

    async def work(graph: "KnowledgeGraph", user_id: str) -> "tuple[ExploreResult, str]":
        result = await graph.explore(request, user_id=user_id)
        if html is not None:
            view = await build_explore_view(graph.retrieval, request, result, user_id=user_id)
            _write_page(html, graph, view, user_id)
        is_empty = not result.nodes and not result.relationships
        hint = await _nothing_found(graph, user_id, texts=bool(texts), names=bool(names)) if is_empty else ""
        return result, hint

    user_id, (result, hint) = run_for_user(work, user)
    if json:
        print_json({"user": user_id, **result.to_dict()})
        return
    _print_warnings(result.warnings)
    if html is None:
        _print_found(hint, result.is_relevant, _lines(result, show_all=show_all))


def _write_page(file: Path, graph: "KnowledgeGraph", view: "ViewGraph", user_id: str) -> None:
    """Write a result as a page in one file."""
    from kgagent.adapters.view import Vocabulary, file_page, write_page

    write_page(file, file_page(view, Vocabulary.of(graph.ontology), user_id))
    print_message(Text(f"Wrote {file}: open it in a browser", style="green"))


async def _nothing_found(graph: "KnowledgeGraph", user_id: str, *, texts: bool, names: bool) -> str:
    """Say that nothing was found, and what helps.

    Args:
        graph: the graph that was searched.
        user_id: owner of the graph.
        texts: whether the search has texts that are compared by meaning.
        names: whether it has names.
    """
    if not await graph.retrieval.best_connected_nodes(user_id=user_id, limit=1):
        return (
            f"Nothing found in the graph of user {user_id}, which is empty. Load data with kgagent load, or choose "
            "another user with --user."
        )
    advice = ["another spelling or a part of a name"] * names + ["a lower --threshold"] * texts
    return (
        f"Nothing found in the graph of user {user_id}. Try {' or '.join(advice)}. kgagent doctor --user {user_id} "
        f"says whether its records can be searched, and kgagent migrate --user {user_id} makes those of an old graph "
        "searchable."
    )


def _print_warnings(warnings: Sequence[str]) -> None:
    for warning in warnings:
        print_message(Text(warning, style="yellow"))


def _print_found(hint: str, is_relevant: bool | None, renderables: Sequence[RenderableType]) -> None:
    from kgagent.models.answer_page import NOTHING_RELEVANT

    if hint:
        print_result(Text(hint))
    else:
        print_result(*([NOTHING_RELEVANT] if is_relevant is False else []), *renderables)


def _lines(result: "ExploreResult", *, show_all: bool) -> list[RenderableType]:
    """Nodes and relationships, best first, one line each; on a terminal cut to its width."""
    from kgagent.models.answer_items import RenderState
    from kgagent.tools.explore import explored_items

    nodes = (*(item.node for item in result.nodes), *result.neighbors)
    labels = {node.entity_key: node.label for node in nodes}
    state = RenderState(datetime.now(UTC), labels=labels, with_properties=False)
    lines = [line.text() for item in explored_items(result) for line in item.lines(state)]
    printed = lines if show_all else lines[:BEST_LINES]
    more = [f"[dim]{len(printed)} of {len(lines):,} shown; --all prints all of them[/dim]"]
    return [*(Text(line, no_wrap=True) for line in printed), *(more if len(printed) < len(lines) else [])]


def _table(result: "HybridSearchResult", *, explain: bool) -> Table:
    """Nodes and relationships in one ranking."""
    table = Table(box=None, pad_edge=False, expand=True)
    table.add_column("", justify="right", style="dim", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("found by", style="cyan", no_wrap=True)
    table.add_column("", ratio=1)
    table.add_column("description", ratio=1)
    for item in result.items:
        retrievers = ", ".join(dict.fromkeys(_METHODS[name.rpartition("_")[2]] for name in item.found_by))
        table.add_row(str(item.rank), f"{item.score:.3f}", retrievers, _title(item), _details(item, explain=explain))
    return table


def _title(item: "HybridObject | HybridRelationship") -> Text:
    from kgagent.models.hybrid import HybridObject

    if isinstance(item, HybridObject):
        return Text.assemble((item.name or item.entity_key, "bold"), (f" {item.label}", "dim"))
    triplet = Text(item.triplet_text, style="magenta")
    return Text("\n").join([triplet, *(Text(f"via {step}", style="dim") for step in item.path[-1:])])


def _details(item: "HybridObject | HybridRelationship", *, explain: bool) -> Text:
    """Description and notes; with `explain`, also the features of the score that are not 0."""
    from kgagent.models.note import notes_text_at

    parts = [Text(item.description), Text(notes_text_at(item.notes, datetime.now(UTC)), style="dim")]
    if explain:
        features = (f"{name} {value:.2f}" for name, value in item.features.items() if value)
        parts.append(Text(", ".join(features), style="cyan"))
    return Text("\n").join(part for part in parts if part)
