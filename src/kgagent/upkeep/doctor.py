"""The diagnosis of a whole graph: the server, its indexes, every record and owners."""

from array import array
from collections import Counter, defaultdict
from itertools import groupby

from kgagent.batches import batched
from kgagent.embedding.base import Embedder
from kgagent.errors import KgAgentError
from kgagent.formatting import beginning, counted
from kgagent.graph.passages import passages_of
from kgagent.graph.property_names import SOURCE_TEXT
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.schema_parts import OWN_LABELS
from kgagent.graph.statements import statement
from kgagent.models.free_types import type_names
from kgagent.models.when import day_number
from kgagent.names import plain_text
from kgagent.progress import Advance, Progress, SilentProgress
from kgagent.services import GraphServices
from kgagent.upkeep.diagnosis import Diagnosis, DiagnosisFacts, Finding
from kgagent.upkeep.examination import SHARED_KEY, Issue
from kgagent.upkeep.scan import KINDS, Scan

PROGRESS_INTERVAL = 500
"""Records between two reports of progress."""

MAX_NAME = 80
MAX_LISTED = 10
"""Labels or types that a finding names."""

COMPLETE = 100.0
SAMPLE = "a mentor from college"


async def diagnose(
    services: GraphServices,
    *,
    user_id: str | None = None,
    check_embedder: bool = False,
    progress: Progress | None = None,
) -> Diagnosis:
    """Examine the server, its indexes and every record, and report what is wrong and how to fix it.

    Nothing is changed and no vector is read. Records are streamed; only eight bytes a node stay in
    memory. The arguments are those of `KnowledgeGraph.diagnose`.
    """
    store, embedder = services.store, services.embedder
    findings = await _schema_findings(services)
    if check_embedder:
        findings += await _embedder_findings(embedder)
    examined = Counter[str]()
    for kind in KINDS:
        scan = Scan(services, kind, user_id)
        with (progress or SilentProgress()).task(
            f"Examining {kind}", await scan.count()
        ) as advance:
            counts, found = await _record_findings(scan, advance)
        examined += counts
        findings += found
    findings += await _conflict_findings(services, user_id)
    findings += await _unadopted_findings(services, user_id)
    facts = DiagnosisFacts(
        uri=store.uri,
        server_version=store.features.version,
        filtered_vector_indexes=store.features.filtered_vector_indexes,
        vectors_on_the_wire=store.features.vectors_on_the_wire,
        embedder=str(embedder),
        user_id=user_id,
        nodes=examined["nodes"],
        relationships=examined["relationships"],
        passages=examined["passages"],
    )
    return Diagnosis.of(findings, facts)


async def _record_findings(scan: Scan, advance: Advance) -> tuple[Counter[str], list[Finding]]:
    """Examine the records of a scan; returns their number and that of their passages, and what is
    wrong with how many.
    """
    examined, passages, counts, examples = 0, 0, Counter[Issue](), dict[Issue, str]()
    hashes = array("q")
    async with scan.records() as records:
        async for batch in batched(records, PROGRESS_INTERVAL):
            for inspected in batch:
                found = scan.examine(inspected)
                passages += len(passages_of(inspected.record.text(SOURCE_TEXT)))
                # The migration skips a record with a defect, so its other issues matter only once
                # the defect is gone.
                for issue in (found.defect,) if found.defect else found.issues:
                    counts[issue] += 1
                    examples.setdefault(issue, str(inspected))
                if isinstance(inspected.record, NodeRecord) and inspected.record.entity_key:
                    # Among a million keys, two are taken for the same with 3 in 100 million.
                    hashes.append(hash((inspected.user_id, inspected.record.entity_key)))
            examined += len(batch)
            advance(len(batch))
    equal_keys = (len(list(equal)) for _, equal in groupby(sorted(hashes)))
    counts += Counter({SHARED_KEY: sum(count for count in equal_keys if count > 1)})
    return Counter({scan.kind: examined, "passages": passages}), [
        issue.finding(f"{count:,} of {examined:,} {scan.kind}", examples.get(issue), scan.user_id)
        for issue, count in counts.items()
    ]


async def _conflict_findings(services: GraphServices, user_id: str | None) -> list[Finding]:
    """One finding for all nodes that have several present values of a type of which they can have
    one.
    """
    ontology = services.ontology
    if not ontology.single_types:
        return []
    day = day_number(services.write_context.clock())
    text = statement("find_rival_values", **services.relationships.names)
    parameters = {
        "user_id": user_id,
        "day": day,
        "types": sorted(map(plain_text, ontology.single_types)),
    }
    conflicts = []
    for row in await services.store.read(text, parameters):
        values: dict[str, list[str]] = defaultdict(list)
        for record in map(RelationshipRecord.read, row["relationships"]):
            names = type_names(record.text("relationship_type"))
            nodes = ontology.single_value_nodes(names, *record.ends_in_direction)
            for name in nodes.get(row["key"], ()):
                values[name].append(beginning(repr(record.triplet), MAX_NAME))
        conflicts += [", ".join(sorted(of_type)) for of_type in values.values() if len(of_type) > 1]
    if not conflicts:
        return []
    listed = "; ".join(conflicts[:MAX_LISTED])
    more = "; …" if len(conflicts) > MAX_LISTED else ""
    message = (
        f"{counted(len(conflicts), 'conflict')} of values of which one can hold: {listed}{more}"
    )
    fix = (
        'Repeat the one that holds with remember and "ends": ["lives in Oslo"], or, if the other '
        "never held, with correction too"
    )
    return [Finding(severity="info", message=message, fix=fix)]


async def _unadopted_findings(services: GraphServices, user_id: str | None) -> list[Finding]:
    """What the database has beside the graph: nodes without an owner, and relationships of other
    types.
    """
    store, ontology, findings = services.store, services.ontology, []
    rows = await store.read(statement("count_unadopted_nodes"), {"own_labels": sorted(OWN_LABELS)})
    outside = [row for row in rows if not ontology.labels.keys() & row["labels"]]
    if outside:
        counts = Counter(
            {":".join(row["labels"]) or "without a label": row["count"] for row in outside}
        )
        message = (
            f"{_counts(counts, 'node')} of other programs, without a label of the ontology and "
            f"without user_id"
        )
        fix = "`kgagent adopt --dry-run` shows what making them searchable in place means"
        findings.append(Finding(severity="info", message=message, fix=fix))
    parameters = {"user_id": user_id, "types": list(ontology.relationships)}
    text = statement("count_unadopted_relationships", **services.nodes.names)
    rows = await store.read(text, parameters)
    if rows:
        counts = Counter({row["type"]: row["count"] for row in rows})
        message = (
            f"{_counts(counts, 'relationship')} of types that the ontology lacks, which only "
            f"patterns find"
        )
        fix = (
            "Add the types to the ontology (KGAGENT_ONTOLOGY), or let `kgagent adopt --ontology "
            "NEW_FILE` do it"
        )
        findings.append(Finding(severity="info", message=message, fix=fix))
    return findings


def _counts(counts: Counter[str], noun: str) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_LISTED]
    listed = ", ".join(f"{beginning(name, MAX_NAME)} {count:,}" for name, count in ordered)
    more = ", …" if len(counts) > MAX_LISTED else ""
    return f"{counted(counts.total(), noun)} ({listed}{more})"


async def _schema_findings(services: GraphServices) -> list[Finding]:
    """Constraints and indexes that are missing, do not match the settings, or are still being
    populated.
    """
    schema, findings = services.schema, []
    for problem in await schema.problems():
        message = f"{', '.join(problem.names)}: {problem.what}"
        findings.append(Finding(severity="error", message=message, fix=problem.fix))
    for other in await schema.differing_options():
        message = (
            f"{', '.join(other.names)}: created with options other than those of the settings "
            f"({other.what})"
        )
        fix = f"No change is needed; {other.fix} rebuilds them"
        findings.append(Finding(severity="info", message=message, fix=fix))
    expected = {part.name for part in schema.parts}
    for row in await services.store.run_schema(statement("show_index_states")):
        state, percent = str(row["state"]), float(row["populationPercent"] or 0.0)
        is_complete = state == "ONLINE" and percent >= COMPLETE
        if row["name"] in expected and state != "FAILED" and not is_complete:
            message = (
                f"{row['name']}: {state.lower()}, {percent:.0f} % populated; searches may miss the "
                f"rest"
            )
            fix = "Wait; if the percentage does not rise, run kgagent migrate --rebuild-indexes"
            findings.append(Finding(severity="warning", message=message, fix=fix))
    return findings


async def _embedder_findings(embedder: Embedder) -> list[Finding]:
    """Make one embedding and check its length."""
    try:
        [embedding] = await embedder.embed([SAMPLE])
    except KgAgentError as error:
        message = f"{embedder} makes no embeddings: {error}"
        fix = "Fix what the message says, or set KGAGENT_EMBEDDER"
        return [Finding(severity="error", message=message, fix=fix)]
    if len(embedding) == embedder.dimensions:
        return []
    message = f"{embedder} makes embeddings of length {len(embedding)}"
    fix = f"Set KGAGENT_EMBEDDING_DIMENSIONS={len(embedding)}"
    return [Finding(severity="error", message=message, fix=fix)]
