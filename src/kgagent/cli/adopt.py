"""kgagent adopt: a graph that other programs wrote becomes searchable in place."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kgagent.cli.graph_session import resolve_user_id, run_with_graph
from kgagent.cli.options import EmbeddingEngine, Json, RayAddress, User, Workers, ray_engine
from kgagent.cli.output import print_message, show
from kgagent.formatting import counted

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph
    from kgagent.upkeep.adopt import AdoptionReport

DEFAULT_FILE = Path("kgagent-ontology.yaml")


def adopt(
    *,
    user: User = None,
    ontology: Annotated[
        Path | None,
        typer.Option(
            "--ontology",
            metavar="FILE",
            help="YAML file with the ontology. It is written; if it exists, it is read, so that "
            "you can edit it and "
            f"run the command again. [dim]\\[KGAGENT_ONTOLOGY, else {DEFAULT_FILE}][/dim]",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only write the ontology and estimate the cost of embedding."
        ),
    ] = False,
    undo: Annotated[
        bool, typer.Option("--undo", help="Remove what an earlier run has added.")
    ] = False,
    batch_size: Annotated[
        int, typer.Option(help="Records per embedding call and transaction.", min=1)
    ] = 500,
    engine: EmbeddingEngine = "direct",
    workers: Workers = 2,
    ray_address: RayAddress = None,
    json: Json = False,
) -> None:
    """Make a graph that other programs wrote searchable, in place: keys, indexes and embeddings are
    added to it.

    No label, type or property of other programs is changed. Run it again to resume, or to adopt
    what was written since.
    """
    from kgagent.cli.progress import RichProgress
    from kgagent.ontology import dump_ontology
    from kgagent.settings import load_settings

    settings = load_settings()
    user_id = resolve_user_id(settings, user)
    file = ontology or settings.ontology or DEFAULT_FILE
    is_written = file.exists()
    # The file may not exist yet.
    settings = settings.model_copy(update={"ontology": None})
    if undo:
        undone = run_with_graph(
            lambda graph: graph.undo_adoption(user_id=user_id, progress=RichProgress()),
            settings=settings,
            ensure_schema=False,
        )
        show(undone.to_dict(), str(undone), json=json)
        return

    async def work(graph: "KnowledgeGraph") -> "AdoptionReport":
        if not is_written:
            # The file is there before the graph changes, so that a run that is interrupted can be
            # resumed.
            plan = await graph.adopt(user_id=user_id, dry_run=True)
            file.write_text(dump_ontology(plan.ontology), "utf-8")
            if dry_run:
                return plan
        return await graph.adopt(
            user_id=user_id,
            ontology=file,
            dry_run=dry_run,
            batch_size=batch_size,
            progress=RichProgress(),
            engine=ray_engine(engine, workers, ray_address),
        )

    report = run_with_graph(work, settings=settings, ensure_schema=False)
    lines = [
        *_plan_lines(report),
        *([] if report.migration is None else [str(report.migration)]),
    ]
    show({"file": str(file), "user": user_id, **report.to_dict()}, *lines, json=json)
    next_step = (
        f"Nothing was changed. {file} says which properties are names (name_from), texts "
        f"(text_from) and times (when_from); edit it if "
        "needed, and run the command without --dry-run."
        if dry_run
        else f"Done in {report.seconds:.0f} s. Set KGAGENT_ONTOLOGY={file}, here or in the file "
        f".env; then search, "
        "explore, view and mcp work on this graph."
    )
    print_message(Text(next_step, style="green"))


def _plan_lines(plan: "AdoptionReport") -> list[RenderableType]:
    """Labels and types with their counts, and the properties that their names, texts and times are
    made of.
    """
    table = Table.grid(padding=(0, 2))
    for label, count in plan.labels.items():
        rule = plan.ontology.labels[label]
        name = ", ".join(rule.name_from) or "name"
        table.add_row(
            label,
            f"{count:,}",
            f"name: {name}",
            f"text: {', '.join(rule.text_from) or 'description'}",
        )
    for neo4j_type, count in plan.types.items():
        kind = plan.ontology.relationships[neo4j_type]
        text = f"text: {', '.join((*kind.type_from, *kind.text_from)) or 'description'}"
        when = f"when: {kind.when_from}" if kind.when_from else ""
        table.add_row(neo4j_type, f"{count:,}", str(kind), text, when)
    cost = f"{counted(plan.texts, 'text')} to embed, about {plan.tokens:,} tokens"
    return [
        table,
        Text(cost, style="dim"),
        *(Text(f"skipped {one}", style="yellow") for one in plan.skipped),
    ]
