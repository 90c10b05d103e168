import hashlib
import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from kgagent.adapters.view import Vocabulary, file_page, write_page
from kgagent.adapters.view.page import FIRST_SCRIPT, SCRIPTS, asset, content_policy, script_data, served_page
from kgagent.adapters.view.view_model import ViewGraph
from kgagent.errors import InputError
from tests.support.view_graphs import MARKUP, ONTOLOGY, two_mentors, view_graph, view_node, view_relationship

VOCABULARY = Vocabulary.of(ONTOLOGY)
OWN_SCRIPTS = [name for name in (FIRST_SCRIPT, *SCRIPTS) if not name.startswith("vendor/")]


class Read(HTMLParser):
    """What a browser makes of a page: its elements, and the text of scripts and styles."""

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


def test_markup_in_the_data_makes_no_element() -> None:
    plain, odd = (Read(file_page(graph, VOCABULARY, "me")) for graph in (two_mentors(), hostile()))
    assert odd.elements == plain.elements


def test_the_data_come_through_whole() -> None:
    page = Read(file_page(hostile(), VOCABULARY, MARKUP))
    assert page.data["user"] == MARKUP
    assert ViewGraph.model_validate(page.data["graph"]) == hostile()


@pytest.mark.parametrize("text", ["</script>", "<!--", "]]>", "&lt;", "\u2028", "\ud800", "%%data%%"])
def test_no_text_ends_the_data(text: str) -> None:
    written = script_data({"text": text})
    assert not set(written) & set("<>&\u2028")
    assert json.loads(written) == {"text": text}


def test_a_number_that_json_has_no_form_for_is_left_out() -> None:
    item = view_node("a", rank=1)
    odd = item.model_copy(update={"node": item.node.model_copy(update={"properties": {"heat": float("nan")}})})
    page = Read(file_page(view_graph([odd]), VOCABULARY, "me"))
    assert "NaN" not in json.dumps(page.data)


@pytest.mark.parametrize("page", [file_page(two_mentors(), VOCABULARY, "me"), served_page(VOCABULARY, "me")])
def test_the_page_loads_nothing(page: str) -> None:
    loading = {"src", "srcset", "action", "data", "poster", "background"}
    for tag, attributes in Read(page).elements:
        assert not loading & attributes.keys(), tag
        assert tag not in {"iframe", "object", "embed", "base"}
        assert (attributes.get("href") or "#").startswith(("#", "data:,")), tag
    assert not re.search(r"url\(|@import|@font-face", asset("page.css"))


@pytest.mark.parametrize("page", [file_page(two_mentors(), VOCABULARY, "me"), served_page(VOCABULARY, "me")])
def test_no_element_has_a_handler_or_a_style_of_its_own(page: str) -> None:
    for tag, attributes in Read(page).elements:
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag


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
def test_no_part_knows_a_label_or_a_type_by_name(name: str) -> None:
    known = [*ONTOLOGY.labels, *ONTOLOGY.relationships]
    assert not [word for word in known if re.search(rf"['\"`]{word}\b", asset(name))]


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_holds_what_would_end_it(name: str) -> None:
    assert not re.search(r"</script|<!--|\r", asset(name), re.IGNORECASE)


def test_what_others_wrote_is_what_they_published() -> None:
    for library in json.loads(asset("vendor/vendored.json")).values():
        text = asset(f"vendor/{library['file']}")
        assert hashlib.sha256(text.encode()).hexdigest() == library["sha256"]
        assert library["version"] in library["file"]
        assert "Permission is hereby granted" in asset(f"vendor/{library['license_file']}")


def test_the_page_stays_under_a_megabyte() -> None:
    assert len(served_page(VOCABULARY, "me").encode()) < 1_000_000


def test_labels_and_words_keep_the_order_of_the_ontology() -> None:
    assert list(VOCABULARY.labels) == list(ONTOLOGY.labels)
    for neo4j_type, kind in VOCABULARY.relationships.items():
        assert (kind.attitude, kind.proximity) == (
            ONTOLOGY.relationship(neo4j_type).attitude,
            ONTOLOGY.relationship(neo4j_type).proximity,
        )


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written.*Choose another file"):
        write_page(tmp_path / "no" / "such" / "folder.html", "")


@pytest.mark.skipif(os.name != "posix", reason="Windows has no modes of files")
def test_a_new_page_can_be_read_by_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write_page(tmp_path / "page.html", "<!doctype html>")
    finally:
        os.umask(before)
    assert (tmp_path / "page.html").stat().st_mode & 0o777 == 0o600
