"""kgagent mcp: its options, and the configurations that it prints."""

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from kgagent.cli.app import app
from kgagent.cli.mcp.client_config import Client

SERVERS = {Client.VSCODE: "servers", Client.ZED: "context_servers", Client.CODEX: "mcp_servers"}
SECRETS = {
    "NEO4J_PASSWORD": "hunter2-hunter2",
    "OPENAI_API_KEY": "sk-never-to-be-seen",
    "OPENAI_BASE_URL": "https://someone:pa55@models.example/v1",
}


def run(*arguments: str, settings: Mapping[str, str] | None = None) -> Result:
    return CliRunner().invoke(app, ["mcp", *arguments], env=dict(settings or {}))


def entry_of(result: Result, client: Client) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    read = tomllib.loads if client is Client.CODEX else json.loads
    [(root, servers)] = read(result.stdout).items()
    assert root == SERVERS.get(client, "mcpServers")
    assert list(servers) == ["kgagent"]
    entry = servers["kgagent"]
    assert isinstance(entry, dict)
    return entry


@pytest.mark.parametrize("client", Client)
def test_configuration_contains_program_and_settings_but_no_secrets(client: Client) -> None:
    made = {
        "NEO4J_URI": "bolt://db.example:7687",
        "KGAGENT_USER_ID": "ada@example.org",
        "KGAGENT_EMBEDDER": "openai",
    }
    result = run("--print-config", client, "--user", "grace", settings=made | SECRETS)
    entry = entry_of(result, client)
    assert Path(entry["command"]).name.startswith("kgagent")
    assert Path(entry["command"]).is_absolute()
    assert entry["args"] == ["mcp", "--user", "grace"]
    assert entry["env"] == made
    assert entry.get("type", "stdio") == "stdio"
    assert not any(secret in result.output for secret in SECRETS.values())
    assert all(name in result.stderr for name in SECRETS)


def test_configuration_without_user_uses_the_settings() -> None:
    assert entry_of(run("--print-config", "cursor"), Client.CURSOR)["args"] == ["mcp"]


def test_configuration_contains_the_class_of_trust() -> None:
    entry = entry_of(run("--print-config", "cursor", "--trust", "known"), Client.CURSOR)
    assert entry["env"]["KGAGENT_TRUST"] == "known"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--print-config", "lynx"),
        ("--print-config", "vscode", "--http"),
        ("--port", "8765"),
        ("--tokens", "tokens.json"),
        ("--http", "--user", "me", "--tokens", "tokens.json"),
        ("--oauth-issuer", "https://id.example"),
        ("--http", "--oauth-scope", "graph"),
        ("--http", "--user", "me", "--oauth-issuer", "https://id.example"),
    ],
)
def test_wrong_usage_is_exit_code_2(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_missing_token_file_is_one_line() -> None:
    result = run("--http", "--tokens", "/no/such/tokens.json")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "cannot be read" in result.stderr


def test_issuer_without_encryption_is_one_line() -> None:
    result = run("--http", "--oauth-issuer", "http://id.example")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert "issuer must be an https URL" in result.stderr


def test_empty_user_is_rejected() -> None:
    result = run("--user", " ")
    assert result.exit_code == 1
    assert "--user must not be empty" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="Windows has no modes of files")
@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_token_file_readable_by_others_is_reported(tmp_path: Path, mode: int) -> None:
    tokens = tmp_path / "tokens.json"
    tokens.write_text(json.dumps({"t" * 40: "ada"}), "utf-8")
    tokens.chmod(mode)
    elsewhere = ("--host", "192.0.2.1")
    result = run(
        "--http", "--tokens", str(tokens), *elsewhere, settings={"NEO4J_URI": "bolt://127.0.0.1:1"}
    )
    assert result.exit_code == 1
    assert ("Other users of this machine can read the tokens: chmod 600" in result.stderr) is (
        mode == 0o644
    )
    assert "t" * 40 not in result.output
