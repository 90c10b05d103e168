import pytest

from kgagent import Settings
from kgagent.errors import ConfigurationError
from kgagent.settings import load_settings


def test_an_invalid_variable_is_named_and_its_value_is_not_repeated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KGAGENT_INDEX_M", "1000000")
    monkeypatch.setenv("KGAGENT_OTEL", "secret-perhaps")
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    assert str(caught.value) == (
        "Invalid settings: KGAGENT_INDEX_M must be at most 512; KGAGENT_OTEL must be true or false"
    )


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"neo4j_uri": 3}, "NEO4J_URI must be text"),
        ({"openai_api_key": 3}, "OPENAI_API_KEY must be text"),
        ({"embedder": "best"}, "KGAGENT_EMBEDDER must be 'auto', 'openai', 'local' or 'hashing'"),
        (
            {"toolsets": "core,pattern"},
            "KGAGENT_TOOLSETS must be 'core', 'graph', 'patterns', 'admin' or 'all'. Did you mean "
            "patterns?",
        ),
        ({"user_id": ""}, "KGAGENT_USER_ID must not be empty"),
        ({"query_timeout": 0}, "KGAGENT_QUERY_TIMEOUT must be above 0"),
        ({"query_timeout": "inf"}, "KGAGENT_QUERY_TIMEOUT must be a finite number"),
    ],
)
def test_invalid_arguments_are_a_configuration_error(given: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Settings(_env_file=None, **given)  # type: ignore[arg-type]
    assert str(caught.value) == f"Invalid settings: {text}"


def test_toolsets_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGAGENT_TOOLSETS", "core, patterns")
    assert load_settings().toolsets == ("core", "patterns")


def test_an_empty_variable_is_like_none_if_the_setting_has_no_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("KGAGENT_ONTOLOGY", "NEO4J_URI", "NEO4J_PASSWORD"):
        monkeypatch.setenv(name, "")
    settings = load_settings()
    assert (settings.ontology, settings.neo4j_uri, settings.neo4j_password) == (None, None, None)


def test_pattern_settings_have_the_defaults_of_the_documents(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("ENABLED", "MAX_PATHS", "RANKING", "USE_ALL_RELATION_HINTS"):
        monkeypatch.delenv(f"KGAGENT_PATTERNS_{name}", raising=False)
    settings = Settings(_env_file=None)
    assert settings.patterns_enabled
    assert settings.patterns_max_paths == 100
    assert settings.patterns_ranking == "HYBRID"
    assert settings.patterns_use_all_relation_hints


@pytest.mark.parametrize(
    ("value", "hint"),
    [("cor", ". Did you mean core?"), ("graph,cor", ". Did you mean core?"), ("", ""), ("xyz", "")],
)
def test_an_unknown_toolset_is_answered_with_all_and_the_nearest(
    monkeypatch: pytest.MonkeyPatch, value: str, hint: str
) -> None:
    monkeypatch.setenv("KGAGENT_TOOLSETS", value)
    with pytest.raises(ConfigurationError) as caught:
        load_settings()
    assert str(caught.value) == (
        f"Invalid settings: KGAGENT_TOOLSETS must be 'core', 'graph', 'patterns', 'admin' or "
        f"'all'{hint}"
    )
