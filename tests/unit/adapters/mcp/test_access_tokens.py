import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from kgagent.adapters.mcp import AccessTokens, HttpOptions, load_access_tokens
from kgagent.errors import ConfigurationError

ADA, BOB = "a" * 40, "b" * 40


def written(folder: Path, text: str) -> Path:
    path = folder / "tokens.json"
    path.write_text(text, "utf-8")
    return path


async def user_of(tokens: AccessTokens, token: str) -> str | None:
    access = await tokens.verify_token(token)
    return None if access is None else access.subject


async def test_each_token_stands_for_its_user(tmp_path: Path) -> None:
    tokens = load_access_tokens(
        written(tmp_path, json.dumps({ADA: "ada", BOB: "bob", "c" * 40: "ada"}))
    )
    assert [await user_of(tokens, token) for token in (ADA, BOB, "c" * 40)] == ["ada", "bob", "ada"]
    assert ADA not in repr(await tokens.verify_token(ADA))
    assert ADA not in repr(tokens)
    for wrong in ("", ADA[:-1], ADA + "a", ADA.upper(), "\ud800" * 40):
        assert await user_of(tokens, wrong) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "must be JSON like"),
        (f'{{"{ADA}": 7}}', "must be JSON like"),
        ("{}", "There are no tokens"),
        ('{"short": "ada"}', "Token 1 has 5 characters and must have at least 32"),
        (f'{{"{ADA}": " "}}', "Token 1 has no user"),
    ],
)
def test_an_error_about_a_file_contains_no_token(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as raised:
        load_access_tokens(written(tmp_path, text))
    shown = f"{raised.value}{raised.value.__cause__}"
    assert ADA not in shown
    assert "short" not in shown


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read: FileNotFoundError"):
        load_access_tokens(tmp_path / "none.json")


def test_options_name_users_in_exactly_one_way() -> None:
    tokens = AccessTokens({SecretStr(ADA): "ada"})
    for options in ({}, {"user_id": "ada", "tokens": tokens}):
        with pytest.raises(ConfigurationError, match="Give either user_id"):
            HttpOptions(**options)  # type: ignore[arg-type]
