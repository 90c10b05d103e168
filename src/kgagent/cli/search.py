"""kgagent search: a hybrid search for one question."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from kgagent.cli.options import Html, Json, User
from kgagent.cli.request_options import build_request, field_of

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from kgagent.models.hybrid import HybridObject, HybridRelationship, HybridSearchResult

_MODEL = "HybridSearchRequest"

_METHODS = {"vector": "semantic", "fulltext": "full text", "relationship": "relationship", "expansion": "expansion"}
"""What the last word of a retriever's name says of it."""


def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    *,
    limit: Annotated[int | None, typer.Option(help=field_of(_MODEL, "limit"))] = None,
    strategy: Annotated[str | None, typer.Option(help=field_of(_MODEL, "strategy"), metavar="STRATEGY")] = None,
    label: Annotated[list[str] | None, typer.Option(help=field_of(_MODEL, "labels", "Can be repeated."))] = None,
    relationship_type: Annotated[
        list[str] | None, typer.Option(help=field_of(_MODEL, "relationship_types", "Can be repeated."))
    ] = None,
    threshold: Annotated[float | None, typer.Option(help=field_of(_MODEL, "threshold"))] = None,
    expand_hops: Annotated[int | None, typer.Option(help=field_of(_MODEL, "expand_hops"))] = None,
    relationships: Annotated[bool, typer.Option(help=field_of(_MODEL, "search_relationships"))] = True,
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
    from rich.text import Text

    from kgagent.cli.graph_session import resolve_user_id, run_with_graph
    from kgagent.cli.html_page import write_search_page
    from kgagent.cli.nothing_found import nothing_found
    from kgagent.cli.output import print_json, print_message, print_result, without_controls
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.models.answer_page import NOTHING_RELEVANT
    from kgagent.models.hybrid import HybridSearchRequest, HybridSearchResult
    from kgagent.settings import load_settings

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
    settings = load_settings()
    user_id = resolve_user_id(settings, user)

    async def work(graph: KnowledgeGraph) -> tuple[HybridSearchResult, str]:
        result = await graph.search(request, user_id=user_id)
        if html is not None:
            await write_search_page(html, graph, request, result, user_id=user_id)
        return result, "" if result.items else await nothing_found(graph, user_id, texts=True, names=False)

    result, hint = run_with_graph(work, settings=settings)
    if json:
        context = {} if token_budget is None else {"context": result.to_llm_context(token_budget)}
        print_json({"user": user_id, **result.to_dict(), **context})
        return
    for warning in result.warnings:
        print_message(Text(warning, style="yellow"))
    if token_budget is not None:
        typer.echo(without_controls(result.to_llm_context(token_budget)))
    elif html is None:
        opening = [NOTHING_RELEVANT] if result.is_relevant is False and result.items else []
        print_result(*opening, Text(hint) if hint else _result_table(result, explain=explain))


def _result_table(result: "HybridSearchResult", *, explain: bool) -> "Table":
    """Nodes and relationships in one ranking."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, expand=True)
    table.add_column("", justify="right", style="dim", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("found by", style="cyan", no_wrap=True)
    table.add_column("", ratio=1)
    table.add_column("description", ratio=1)
    for item in result.items:
        retrievers = ", ".join(dict.fromkeys(_METHODS[name.rpartition("_")[2]] for name in item.found_by))
        details = Text("\n").join([_details(item), *([_features(item)] if explain else [])])
        table.add_row(str(item.rank), f"{item.score:.3f}", retrievers, _title(item), details)
    return table


def _features(item: "HybridObject | HybridRelationship") -> "Text":
    """The features of the score that are not 0."""
    from rich.text import Text

    shown = (f"{name} {value:.2f}" for name, value in item.features.items() if value)
    return Text(", ".join(shown), style="cyan")


def _title(item: "HybridObject | HybridRelationship") -> "Text":
    from rich.text import Text

    from kgagent.models.hybrid import HybridObject

    if isinstance(item, HybridObject):
        return Text.assemble((item.name or item.entity_key, "bold"), (f" {item.label}", "dim"))
    triplet = Text(item.triplet_text, style="magenta")
    return Text("\n").join([triplet, *(Text(f"via {step}", style="dim") for step in item.path[-1:])])


def _details(item: "HybridObject | HybridRelationship") -> "Text":
    from rich.text import Text

    from kgagent.models.note import notes_text_at

    notes = notes_text_at(item.notes, datetime.now(UTC))
    return Text("\n").join(part for part in (Text(item.description), Text(notes, style="dim")) if part)
