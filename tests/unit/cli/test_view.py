import webbrowser
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest

from kgagent.cli.view import opened_in_browser

ADDRESS = "http://127.0.0.1:1/secret/#a%20%22b%22&c"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    addresses: list[str] = []
    monkeypatch.setattr(webbrowser, "open", addresses.append)
    return addresses


def test_browser_is_started_without_the_secret_and_redirected(opened: list[str]) -> None:
    with opened_in_browser(ADDRESS):
        [started_with] = opened
        assert "secret" not in started_with
        file = Path(url2pathname(urlsplit(started_with).path))
        assert ADDRESS.replace("&", "&amp;") in file.read_text("utf-8")
        assert file.parent.stat().st_mode & 0o077 == 0
    assert not file.exists()
