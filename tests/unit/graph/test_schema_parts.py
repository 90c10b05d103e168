from kgagent.graph.features import ServerFeatures
from kgagent.graph.schema_parts import STATEMENT, SchemaPart, schema_parts
from kgagent.graph.vector_index_options import VectorIndexOptions
from kgagent.ontology import default_ontology

NEW = ServerFeatures(
    "2026.08.1", filtered_vector_indexes=True, vectors_on_the_wire=True, quantization_types=True
)
OLD = ServerFeatures("5.26.30", filtered_vector_indexes=False, vectors_on_the_wire=False)
CHOSEN = VectorIndexOptions("none", m=24, ef_construction=150, search_expansion=8.0)


def parts(features: ServerFeatures) -> list[SchemaPart]:
    return schema_parts(default_ontology(), CHOSEN.config(384, features), features)


def test_one_vector_index_covers_all_relationship_types_and_filters_by_user_and_type() -> None:
    [part] = [part for part in parts(NEW) if part.is_vector and len(part.covers) > 1]
    assert part.name == "kgagent_relationship_embedding"
    assert set(part.covers) == set(default_ontology().relationships)
    assert part.properties == (
        "relationship_embedding",
        "user_id",
        "relationship_type",
        "when_earliest",
        "when_latest",
    )
    assert "`vector.dimensions`: 384" in part.create
    assert "'cosine'" in part.create


def test_an_old_server_gets_one_vector_index_for_each_relationship_type() -> None:
    indexes = [part for part in parts(OLD) if part.is_vector]
    assert {part.covers for part in indexes} == {
        (name,)
        for name in (
            *default_ontology().labels,
            *default_ontology().relationships,
            STATEMENT,
        )
    }
    assert not any(" WITH " in part.create for part in indexes)


def test_every_label_and_type_has_a_unique_key_and_an_index_by_user() -> None:
    statements = [part.create for part in parts(NEW)]
    for name in (*default_ontology().labels, *default_ontology().relationships):
        assert any(
            f"`{name}`" in text and ".user_id, " in text and "_key) IS UNIQUE" in text
            for text in statements
        )
        assert any(
            f"`{name}`" in text and ".user_id)" in text and "CREATE INDEX" in text
            for text in statements
        )
