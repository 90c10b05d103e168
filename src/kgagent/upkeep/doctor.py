"""The diagnosis of a whole graph: the server, its indexes, every record and owners."""

from array import array
from collections import Counter, defaultdict
from hashlib import blake2b
from itertools import groupby

from kgagent.embedding.base import Embedder
from kgagent.errors import KgAgentError
from kgagent.formatting import beginning, counted
from kgagent.graph.identifiers import Identifier
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.schema import Schema
from kgagent.graph.schema_parts import OWN_LABELS
from kgagent.graph.statements import statement
from kgagent.graph.store import Store
from kgagent.models.free_types import type_names
from kgagent.models.when import day_number
from kgagent.names import plain_text
from kgagent.progress import Progress, SilentProgress
from kgagent.services import GraphServices
from kgagent.upkeep.diagnosis import Diagnosis, DiagnosisFacts, Finding
from kgagent.upkeep.examination import SHARED_KEY, Inspected, Issue, Kind
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
    store, schema, embedder = services.store, services.schema, services.embedder
    findings = await schema_findings(store, schema)
    if check_embedder:
        findings += await embedder_findings(embedder)
    checks = RecordChecks(services, user_id)
    await checks.run(progress or SilentProgress())
    findings += checks.findings
    findings += await owner_findings(services.nodes, user_id)
    findings += await conflict_findings(services, user_id)
    findings += await unadopted_findings(services.nodes, user_id)
    facts = DiagnosisFacts(
        uri=store.uri,
        server_version=store.features.version,
        filtered_vector_indexes=store.features.filtered_vector_indexes,
        vectors_on_the_wire=store.features.vectors_on_the_wire,
        embedder=str(embedder),
        user_id=user_id,
        nodes=checks.examined["nodes"],
        relationships=checks.examined["relationships"],
    )
    return Diagnosis.of(findings, facts)


class RecordChecks:
    """Checks whether records are stored as the tools would store them, and collects the
    findings.
    """

    def __init__(self, services: GraphServices, user_id: str | None) -> None:
        self._services = services
        self._user_id = user_id
        self._key_hashes = array("Q")
        self.examined = Counter[Kind]()
        self.findings: list[Finding] = []

    async def run(self, progress: Progress) -> None:
        """Check all records of the user, or of all users.

        Raises:
            StoreError: the database failed.
        """
        for kind in KINDS:
            issues: dict[Issue, tuple[int, str]] = {}
            scan = Scan.of(self._services, kind, self._user_id)
            with progress.task(f"Examining {kind}", await scan.count()) as advance:
                async with scan.records() as records:
                    async for inspected in records:
                        self._check(scan, inspected, issues)
                        if self.examined[kind] % PROGRESS_INTERVAL == 0:
                            advance(PROGRESS_INTERVAL)
                advance(self.examined[kind] % PROGRESS_INTERVAL)
            for issue, (count, example) in issues.items():
                self._add(issue, count, kind, example)
            if kind == "nodes":
                equal_keys = (len(list(equal)) for _, equal in groupby(sorted(self._key_hashes)))
                if shared := sum(count for count in equal_keys if count > 1):
                    self._add(SHARED_KEY, shared, kind)

    def _add(self, issue: Issue, count: int, kind: Kind, example: str | None = None) -> None:
        self.findings.append(
            issue.finding(f"{count:,} of {self.examined[kind]:,} {kind}", example, self._user_id)
        )

    def _check(
        self, scan: Scan, inspected: Inspected, issues: dict[Issue, tuple[int, str]]
    ) -> None:
        """Count the issues of a record, each with its first record as an example."""
        self.examined[scan.kind] += 1
        if isinstance(inspected.record, NodeRecord) and inspected.record.entity_key:
            self._key_hashes.append(_hash(inspected.user_id, inspected.record.entity_key))
        examined = scan.examine(inspected, self._services.write_context)
        # The migration skips a record with a defect, so its other issues matter only once the
        # defect is gone.
        for issue in (examined.defect,) if examined.defect else examined.issues:
            count, example = issues.get(issue) or (0, str(inspected))
            issues[issue] = (count + 1, example)


async def owner_findings(nodes: NodeRepository, user_id: str | None) -> list[Finding]:
    """One finding for each user who has several owners: nodes that stand for the user, "me".

    Args:
        nodes: repository of the nodes.
        user_id: the user; None for all.

    Raises:
        StoreError: the database failed.
    """
    label = nodes.ontology.owner_label
    owner = nodes.names["labels"] if label is None else Identifier(label)
    rows = await nodes.store.read(
        statement("find_users_with_owners", owner=owner), {"user_id": user_id}
    )
    fix = (
        "Make them one with merge_nodes if they are the same person; else set is_owner to false "
        "with update_node on "
        'those that are not the user. Until then tools ask which of them "me" means'
    )
    findings = []
    for row in rows:
        owners = (
            f"{beginning(repr(node['name']), MAX_NAME)} ({node['entity_key']})"
            for node in row["first"]
        )
        message = (
            f"User {row['user_id']!r} has {counted(row['owners'], 'owner')}: {', '.join(owners)}"
        )
        findings.append(Finding("warning", message, fix))
    return findings


async def conflict_findings(services: GraphServices, user_id: str | None) -> list[Finding]:
    """One finding for all nodes that have several present values of a type of which they can have
    one.

    Args:
        services: the parts of the graph.
        user_id: owner of the nodes; None for all.

    Raises:
        StoreError: the database failed.
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
    return [Finding("info", message, fix)]


async def unadopted_findings(nodes: NodeRepository, user_id: str | None) -> list[Finding]:
    """What the database has beside the graph: nodes without an owner, and relationships of other
    types.

    Args:
        nodes: repository of the nodes.
        user_id: owner of the nodes whose relationships are counted; None for all.

    Raises:
        StoreError: the database failed.
    """
    ontology, findings = nodes.ontology, []
    rows = await nodes.store.read(
        statement("count_unadopted_nodes"), {"own_labels": sorted(OWN_LABELS)}
    )
    outside = [row for row in rows if not ontology.labels.keys() & row["labels"]]
    if outside:
        counts = Counter(
            {":".join(row["labels"]) or "without a label": row["count"] for row in outside}
        )
        message = (
            f"{_counts(counts, 'node')} of other programs, without a label of the ontology and "
            f"without user_id"
        )
        findings.append(
            Finding(
                "info",
                message,
                "`kgagent adopt --dry-run` shows what making them searchable in place means",
            )
        )
    parameters = {"user_id": user_id, "types": list(ontology.relationships)}
    rows = await nodes.store.read(
        statement("count_unadopted_relationships", **nodes.names), parameters
    )
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
        findings.append(Finding("info", message, fix))
    return findings


def _counts(counts: Counter[str], noun: str) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_LISTED]
    listed = ", ".join(f"{beginning(name, MAX_NAME)} {count:,}" for name, count in ordered)
    more = ", …" if len(counts) > MAX_LISTED else ""
    return f"{counted(counts.total(), noun)} ({listed}{more})"


def _hash(user_id: str, entity_key: str) -> int:
    """64 bits of a hash: among a million keys, the probability that two are taken for the same is 3
    in 100 million.
    """
    key = f"{len(user_id)}:{user_id}{entity_key}"
    return int.from_bytes(
        blake2b(key.encode(errors="surrogatepass"), digest_size=8).digest(), "big"
    )


async def schema_findings(store: Store, schema: Schema) -> list[Finding]:
    """Report constraints and indexes that are missing, do not match the settings, or are still
    being populated.

    Raises:
        StoreError: the database failed.
    """
    problems = await schema.problems()
    findings = [Finding("error", f"{', '.join(p.names)}: {p.what}", p.fix) for p in problems]
    for other in await schema.differing_options():
        message = (
            f"{', '.join(other.names)}: created with options other than those of the settings "
            f"({other.what})"
        )
        findings.append(Finding("info", message, f"No change is needed; {other.fix} rebuilds them"))
    expected = {part.name for part in schema.parts}
    for row in await store.run_schema(statement("show_index_states")):
        if row["name"] in expected and row["state"] != "FAILED":
            findings += _incomplete(
                str(row["name"]), str(row["state"]), float(row["populationPercent"] or 0.0)
            )
    return findings


async def embedder_findings(embedder: Embedder) -> list[Finding]:
    """Make one embedding and check its length."""
    try:
        [embedding] = await embedder.embed([SAMPLE])
    except KgAgentError as error:
        fix = "Fix what the message says, or set KGAGENT_EMBEDDER"
        return [Finding("error", f"{embedder} makes no embeddings: {error}", fix)]
    if len(embedding) == embedder.dimensions:
        return []
    message = f"{embedder} makes embeddings of length {len(embedding)}"
    return [Finding("error", message, f"Set KGAGENT_EMBEDDING_DIMENSIONS={len(embedding)}")]


def _incomplete(name: str, state: str, percent: float) -> list[Finding]:
    if state == "ONLINE" and percent >= COMPLETE:
        return []
    message = f"{name}: {state.lower()}, {percent:.0f} % populated; searches may miss the rest"
    return [
        Finding(
            "warning",
            message,
            "Wait; if the percentage does not rise, run kgagent migrate --rebuild-indexes",
        )
    ]
