"""Small graphs as other programs write them: labels, types and properties by their published
conventions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

VECTOR = [0.25] * 48
"""An embedding of another model."""


@dataclass(frozen=True, kw_only=True)
class ForeignGraph:
    """A graph of another program, and what is to be found in it once it was adopted.

    Attributes:
        writes: statements that write it, with its constraints and indexes.
        names: for each label, the properties that are its names.
        question: what hybrid_search is asked.
        answer: beginning of the first line of its answer.
        steps: steps of a pattern.
        found: names of the nodes of its only path from the first of them.
        ends: names of two nodes that a path joins.
        path: what that path says.
        explored: what explore finds for the question too.
    """

    writes: Sequence[str]
    names: Mapping[str, tuple[str, ...]]
    question: str
    answer: str
    steps: Sequence[Mapping[str, Any]]
    found: Sequence[str]
    ends: tuple[str, str]
    path: str
    explored: Sequence[str] = ()
    parameters: Mapping[str, Any] = field(
        default_factory=lambda: {"vector": VECTOR, "at": datetime(2025, 1, 4, 10, tzinfo=UTC)}
    )


MOVIES = ForeignGraph(
    writes=(
        "CREATE CONSTRAINT movie_title FOR (m:Movie) REQUIRE m.title IS UNIQUE",
        "CREATE INDEX person_born FOR (p:Person) ON (p.born)",
        """
        CREATE (road:Movie {title: 'The Salt Road', released: 1999, tagline: 'Every caravan has a secret'}),
          (harbour:Movie {title: 'Harbour of Glass', released: 2004, tagline: 'What the tide brings back'}),
          (winters:Movie {title: 'Nine Winters', released: 2011, tagline: 'Some doors freeze shut'}),
          (ilse:Person {name: 'Ilse Brandt', born: 1964}), (teo:Person {name: 'Teo Marchetti', born: 1971}),
          (noor:Person {name: 'Noor Haddad', born: 1980}), (paul:Person {name: 'Paul Okafor'}),
          (ilse)-[:ACTED_IN {roles: ['Captain Vera', 'The Widow']}]->(road),
          (teo)-[:ACTED_IN {roles: ['Old Trader']}]->(road), (teo)-[:DIRECTED]->(harbour),
          (noor)-[:ACTED_IN {roles: ['Lighthouse Keeper']}]->(harbour), (noor)-[:DIRECTED]->(winters),
          (teo)-[:ACTED_IN {roles: ['Innkeeper']}]->(winters), (noor)-[:PRODUCED]->(road),
          (paul)-[:REVIEWED {summary: 'A slow and beautiful sea story', rating: 88}]->(harbour),
          (paul)-[:FOLLOWS]->(noor), (noor)-[:FOLLOWS]->(paul)
        """,
    ),
    names={"Movie": ("title",), "Person": ()},
    question="Who played the lighthouse keeper?",
    answer="Noor Haddad (Person",
    steps=[
        {"source_label": "Person", "relation_type": "ACTED_IN", "target_label": "Movie"},
        {
            "source_label": "Movie",
            "relation_type": "DIRECTED",
            "target_label": "Person",
            "direction": "in",
        },
    ],
    found=["Noor Haddad", "Harbour of Glass", "Teo Marchetti"],
    ends=("Ilse Brandt", "Nine Winters"),
    path="Ilse Brandt acted in The Salt Road; Teo Marchetti acted in The Salt Road",
)
"""Plain Cypher, as in tutorials: names in `title` or `name`, several types between two labels,
FOLLOWS both ways.
"""

LANGCHAIN = ForeignGraph(
    writes=(
        "CREATE CONSTRAINT base_entity_id FOR (b:__Entity__) REQUIRE b.id IS UNIQUE",
        """
        CREATE (doc:Document {id: '5f2b9c1e7a', text: 'Mara Lindqvist founded Tidewater Labs in Bergen. '
            + 'Her brother Jonas Lindqvist keeps its boats.', source: 'notes/founders.txt'}),
          (mara:__Entity__:Person {id: 'Mara Lindqvist'}), (jonas:__Entity__:Person {id: 'Jonas Lindqvist'}),
          (labs:__Entity__:Organization {id: 'Tidewater Labs'}), (bergen:__Entity__:Place {id: 'Bergen'}),
          (mara)-[:FOUNDED]->(labs), (labs)-[:LOCATED_IN]->(bergen), (jonas)-[:SIBLING_OF]->(mara),
          (jonas)-[:KEEPS_BOATS_OF]->(labs)
        WITH doc, [mara, jonas, labs, bergen] AS entities
        UNWIND entities AS entity
        CREATE (doc)-[:MENTIONS]->(entity)
        """,
    ),
    names={"Person": ("id",), "Organization": ("id",), "Place": ("id",)},
    question="Who founded Tidewater Labs?",
    answer="Mara Lindqvist (Person",
    steps=[
        {"source_label": "Person", "relation_type": "FOUNDED", "target_label": "Organization"},
        {"source_label": "Organization", "relation_type": "LOCATED_IN", "target_label": "Place"},
    ],
    found=["Mara Lindqvist", "Tidewater Labs", "Bergen"],
    ends=("Jonas Lindqvist", "Bergen"),
    path="Jonas Lindqvist keeps boats of Tidewater Labs; Tidewater Labs located in Bergen",
)
"""`add_graph_documents` of langchain-neo4j with base label and source: names in `id`, two labels a
node.
"""

GRAPHRAG = ForeignGraph(
    writes=(
        """
        CREATE (doc:__KGBuilder__:Document {id: '77aa', path: 'reports/valve.pdf', createdAt: '2025-03-02',
            document_type: 'pdf'}),
          (one:__KGBuilder__:Chunk {id: '77aa:0', index: 0, text: 'The pressure valve of pump P7 failed twice in March '
            + 'because a gasket from Norvik Seals was too thin.', embedding: $vector}),
          (two:__KGBuilder__:Chunk {id: '77aa:1', index: 1, text: 'Engineer Petra Sandoval replaced the gasket and '
            + 'wrote the new inspection schedule.', embedding: $vector}),
          (one)-[:FROM_DOCUMENT]->(doc), (two)-[:FROM_DOCUMENT]->(doc), (one)-[:NEXT_CHUNK]->(two),
          (pump:__KGBuilder__:__Entity__:Machine {name: 'Pump P7', embedding: $vector}),
          (firm:__KGBuilder__:__Entity__:Supplier {name: 'Norvik Seals'}),
          (petra:__KGBuilder__:__Entity__:Engineer {name: 'Petra Sandoval', role: 'maintenance lead'}),
          (firm)-[:SUPPLIES_GASKETS_FOR]->(pump), (petra)-[:REPAIRED {what: 'replaced the gasket'}]->(pump),
          (pump)-[:FROM_CHUNK]->(one), (firm)-[:FROM_CHUNK]->(one), (petra)-[:FROM_CHUNK]->(two)
        """,
        "CREATE VECTOR INDEX text_embeddings FOR (c:Chunk) ON c.embedding "
        "OPTIONS {indexConfig: {`vector.dimensions`: 48, `vector.similarity_function`: 'cosine'}}",
    ),
    names={"Chunk": (), "Machine": (), "Document": ("path",)},
    question="who wrote the new inspection schedule",
    answer="Engineer Petra Sandoval replaced the gasket and wrote the new inspection",
    steps=[
        {
            "source_label": "Supplier",
            "relation_type": "SUPPLIES_GASKETS_FOR",
            "target_label": "Machine",
        },
        {
            "source_label": "Machine",
            "relation_type": "REPAIRED",
            "target_label": "Engineer",
            "direction": "in",
        },
    ],
    found=["Norvik Seals", "Pump P7", "Petra Sandoval"],
    ends=("Norvik Seals", "Petra Sandoval"),
    path="Norvik Seals supplies gaskets for Pump P7; Petra Sandoval repaired Pump P7",
)
"""Neo4jWriter and the lexical graph of neo4j-graphrag: three labels a node, chunks with embeddings
of another model.
"""

GRAPHITI = ForeignGraph(
    writes=(
        "CREATE INDEX entity_uuid FOR (n:Entity) ON (n.uuid)",
        """
        CREATE (ana:Entity:Person {uuid: '8d0f6a52-0d6c-4f0e-9a3b-2f64b6a1c001', name: 'Ana Ribeiro', group_id: 'team',
            summary: 'Ana leads the harvest crew.', created_at: $at, name_embedding: $vector}),
          (farm:Entity {uuid: '8d0f6a52-0d6c-4f0e-9a3b-2f64b6a1c002', name: 'Quinta do Vale', group_id: 'team',
            summary: 'A vineyard on the river.', created_at: $at, name_embedding: $vector}),
          (rui:Entity:Person {uuid: '8d0f6a52-0d6c-4f0e-9a3b-2f64b6a1c003', name: 'Rui Tavares', group_id: 'team',
            summary: 'Rui mends presses.', created_at: $at, name_embedding: $vector}),
          (talk:Episodic {uuid: '8d0f6a52-0d6c-4f0e-9a3b-2f64b6a1c004', name: 'Standup', group_id: 'team',
            source: 'message', source_description: 'chat', content: 'Ana: the crew starts at dawn on Monday.',
            created_at: $at, valid_at: $at}),
          (ana)-[:RELATES_TO {uuid: '8d0f6a52-0d6c-4f0e-9a3b-2f64b6a1c005', name: 'WORKS_AT', group_id: 'team',
            fact: 'Ana Ribeiro has worked at Quinta do Vale since 2019.', fact_embedding: $vector,
            episodes: ['8d0f6a52-0d6c-4f0e-9a3b-2f64b6a1c004']}]->(farm),
          (ana)-[:RELATES_TO {uuid: '8d0f6a52-0d6c-4f0e-9a3b-2f64b6a1c006', name: 'OWNS_SHARES_OF', group_id: 'team',
            fact: 'Ana Ribeiro bought a tenth of Quinta do Vale from her aunt.', fact_embedding: $vector,
            episodes: ['8d0f6a52-0d6c-4f0e-9a3b-2f64b6a1c004']}]->(farm),
          (rui)-[:RELATES_TO {uuid: '8d0f6a52-0d6c-4f0e-9a3b-2f64b6a1c007', name: 'REPORTS_TO', group_id: 'team',
            fact: 'Rui Tavares reports to Ana Ribeiro.', fact_embedding: $vector, episodes: []}]->(ana),
          (talk)-[:MENTIONS {uuid: '8d0f6a52-0d6c-4f0e-9a3b-2f64b6a1c008', group_id: 'team'}]->(ana)
        """,
    ),
    names={"Person": (), "Entity": (), "Episodic": ()},
    question="Who bought a tenth from her aunt?",
    answer="Ana Ribeiro (Person",
    steps=[
        {"source_label": "Person", "relation_type": "RELATES_TO", "target_label": "Person"},
        {"source_label": "Person", "relation_type": "RELATES_TO", "target_label": "Entity"},
    ],
    found=["Rui Tavares", "Ana Ribeiro", "Quinta do Vale"],
    ends=("Rui Tavares", "Quinta do Vale"),
    path="Rui Tavares reports to Ana Ribeiro; Ana Ribeiro",
    explored=["worked at Quinta do Vale since 2019", "bought a tenth of Quinta do Vale"],
)
"""`save` of graphiti's nodes and edges: one type for all facts, whose word and sentence are
properties.
"""

HOSPITAL = ForeignGraph(
    writes=(
        """
        CREATE (ward:Ward {ward_id: 'W-3', title: 'Cardiology North'}),
          (p1:Patient {patient_id: 'P-0001', name: 'Edith Falk', history: 'Two bypass operations', version: 3}),
          (p2:Patient {patient_id: 'P-0002', name: 'Omar Said', history: 'None known'}),
          (d1:Doctor {staff_id: 71, name: 'Lena Vogt', specialty: 'arrhythmia', notes: ['speaks Farsi']}),
          (d2:Doctor {staff_id: 72, name: 'Samuel Osei', specialty: 'imaging'}),
          (drug:Medication {code: 'B01AC06', name: 'Velarin', warning: 'must not be combined with grapefruit'}),
          (visit:Visit {visit_no: 9001, user_id: 17}),
          (p1)-[:ADMITTED_TO {reason: 'irregular heartbeat after surgery'}]->(ward), (d1)-[:WORKS_ON]->(ward),
          (d1)-[:TREATS]->(p2), (d2)-[:TREATS]->(p2), (p2)-[:TAKES {dose: 'half a tablet in the morning'}]->(drug),
          (p2)-[:ADMITTED_TO {reason: 'observation of dizziness'}]->(ward), (p1)-[:HAD]->(visit),
          (d1)-[:CONSULTS]->(d1)
        """,
    ),
    names={"Ward": ("title",), "Doctor": (), "Medication": ()},
    question="Which medication must not be combined with grapefruit?",
    answer="Velarin (Medication",
    steps=[
        {"source_label": "Doctor", "relation_type": "WORKS_ON", "target_label": "Ward"},
    ],
    found=["Lena Vogt", "Cardiology North"],
    ends=("Lena Vogt", "Cardiology North"),
    path="Lena Vogt works on Cardiology North",
)
"""An ETL job: keys of several kinds, and properties that kgagent uses for something else."""
