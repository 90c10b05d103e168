import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from kgagent.adapters.view import Vocabulary, file_page
from kgagent.adapters.view.page import (
    FIRST_SCRIPT,
    SCRIPTS,
    asset,
    content_policy,
    script_data,
    served_page,
)
from kgagent.adapters.view.view_model import ViewGraph
from tests.support.view_graphs import (
    MARKUP,
    ONTOLOGY,
    two_mentors,
    view_graph,
    view_node,
    view_relationship,
)

VOCABULARY = Vocabulary.of(ONTOLOGY)
OWN_SCRIPTS = [name for name in (FIRST_SCRIPT, *SCRIPTS) if not name.startswith("vendor/")]


class Read(HTMLParser):
    """A parsed page: its elements, and the text of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append((self.elements[-1][0] if self.elements else "", data))

    @property
    def data(self) -> dict[str, object]:
        """The data that its scripts read."""
        [text] = [text for tag, text in self.texts if tag == "script" and text.startswith("{")]
        decoded = json.loads(text)
        assert isinstance(decoded, dict)
        return decoded


def hostile() -> ViewGraph:
    return view_graph(
        [view_node("a", rank=1, text=MARKUP), view_node("b", rank=2, text=MARKUP)],
        [view_relationship("a", "b", rank=3, text=MARKUP)],
        query=MARKUP,
    )


def test_data_is_embedded_unchanged() -> None:
    page = Read(file_page(hostile(), VOCABULARY, MARKUP))
    assert page.elements == Read(file_page(two_mentors(), VOCABULARY, "me")).elements
    assert page.data["user"] == MARKUP
    assert ViewGraph.model_validate(page.data["graph"]) == hostile()


@pytest.mark.parametrize(
    "text", ["</script>", "<!--", "]]>", "&lt;", "\u2028", "\ud800", "%%data%%"]
)
def test_no_text_can_end_the_data_element(text: str) -> None:
    written = script_data({"text": text})
    assert not set(written) & set("<>&\u2028")
    assert json.loads(written) == {"text": text}


@pytest.mark.parametrize(
    "page", [file_page(two_mentors(), VOCABULARY, "me"), served_page(VOCABULARY, "me")]
)
def test_the_page_loads_nothing_and_has_no_inline_handlers_or_styles(page: str) -> None:
    loading = {"src", "srcset", "action", "data", "poster", "background"}
    for tag, attributes in Read(page).elements:
        assert not loading & attributes.keys(), tag
        assert tag not in {"iframe", "object", "embed", "base"}
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag
        assert (attributes.get("href") or "#").startswith(("#", "data:,")), tag
    assert not re.search(r"url\(|@import|@font-face", asset("page.css"))


def test_the_policy_allows_the_pages_own_scripts_and_no_others() -> None:
    policy = content_policy()
    assert policy.count("sha256-") == len(SCRIPTS) + 2
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "connect-src" not in policy
    assert "connect-src 'self'" in content_policy(served=True)


@pytest.mark.parametrize("name", OWN_SCRIPTS)
def test_no_script_turns_text_into_markup_or_code(name: str) -> None:
    sinks = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function|setHTML"
    assert not re.search(sinks, asset(name))


@pytest.mark.parametrize("name", [*OWN_SCRIPTS, "page.css", "page.html"])
def test_assets_do_not_hard_code_labels_or_types(name: str) -> None:
    known = [*ONTOLOGY.labels, *ONTOLOGY.relationships]
    assert not [word for word in known if re.search(rf"['\"`]{word}\b", asset(name))]


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_contains_a_script_end(name: str) -> None:
    assert not re.search(r"</script|<!--|\r", asset(name), re.IGNORECASE)


def test_vendored_files_are_unmodified() -> None:
    for library in json.loads(asset("vendor/vendored.json")).values():
        text = asset(f"vendor/{library['file']}")
        assert hashlib.sha256(text.encode()).hexdigest() == library["sha256"]
        assert library["version"] in library["file"]
        assert "Permission is hereby granted" in asset(f"vendor/{library['license_file']}")


def test_the_page_stays_under_a_megabyte() -> None:
    assert len(served_page(VOCABULARY, "me").encode()) < 1_000_000
