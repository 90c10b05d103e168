"""kgagent search: nodes and relationships for one question, best first."""

from typing import Annotated

import typer

from kgagent.cli.options import Hops, Html, Json, User


def search(
    query: Annotated[str, typer.Argument(help="What to look for, in words.")],
    *,
    limit: Annotated[int, typer.Option(help="Nodes and relationships together at the most.", min=1, max=100)] = 10,
    strategy: Annotated[
        str, typer.Option(help="rrf, weighted, interleave, graph_first or text_first.", metavar="STRATEGY")
    ] = "rrf",
    label: Annotated[list[str] | None, typer.Option(help="Keep to nodes of this label; may be repeated.")] = None,
    hops: Hops = None,
    relationships: Annotated[bool, typer.Option(help="Whether relationships are searched too.")] = True,
    context: Annotated[
        int | None, typer.Option(help="Print it as context for a model, of so many tokens at the most.", min=1)
    ] = None,
    html: Html = None,
    user: User = None,
    json: Json = False,
) -> None:
    """Find what the graph has on one question, by meaning and by words: kgagent search "who taught me to sail?"."""
    from typing import get_args

    from rich.text import Text

    from kgagent.cli.graph import user_of, with_graph
    from kgagent.cli.html_page import write_search_page
    from kgagent.cli.output import emit, say, show
    from kgagent.cli.search_view import found_table
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.models.hybrid import FusionStrategy, HybridSearchOptions, HybridSearchResult
    from kgagent.settings import load_settings

    if strategy not in get_args(FusionStrategy):
        raise typer.BadParameter(f"strategy must be one of {', '.join(get_args(FusionStrategy))}, got {strategy!r}")
    if not query.strip():
        raise typer.BadParameter("say what to look for: a QUERY")
    settings = load_settings()
    user_id = user_of(settings, user)
    options = HybridSearchOptions.model_validate(
        {
            "query": query,
            "limit": limit,
            "strategy": strategy,
            "labels": tuple(label) if label else None,
            "expand_hops": hops,
            "search_relationships": relationships,
        }
    )

    async def work(graph: KnowledgeGraph) -> HybridSearchResult:
        found = await graph.retrieval.hybrid_search(options, user_id=user_id)
        if html is not None:
            await write_search_page(html, graph, options, found, user_id=user_id)
        return found

    result = with_graph(work, settings=settings)
    if json:
        written = {} if context is None else {"context": result.to_llm_context(context)}
        emit({"user": user_id, **result.to_dict(), **written})
        return
    for warning in result.warnings:
        say(Text(warning, style="yellow"))
    if context is not None:
        typer.echo(result.to_llm_context(context))
    elif html is None:
        show(found_table(result, user_id))
