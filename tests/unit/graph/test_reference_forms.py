import pytest

from kgagent.graph.reference_forms import ReferenceForms, is_too_long, loose_name
from kgagent.names import contains_words


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("calder", "ruth calder"),
        ("José", "jose da silva"),
        ("Anna  Maria", "dr anna maria berger"),
        ("Ł.", None),
    ],
)
def test_a_loose_name_has_no_accents(reference: str, name: str | None) -> None:
    loose = loose_name(reference)
    assert name is None if loose is None else contains_words(name or "", loose)


@pytest.mark.parametrize(
    ("part", "name"), [("rut", "ruth calder"), ("anna berger", "anna maria berger")]
)
def test_other_words_are_no_part_of_a_name(part: str, name: str) -> None:
    assert not contains_words(name, part)


@pytest.mark.parametrize("reference", ["me", "", "!", "5b0c1a2f" * 8])
def test_some_references_are_no_loose_names(reference: str) -> None:
    assert loose_name(reference) is None


@pytest.mark.parametrize(
    ("text", "is_long"),
    [("x" * 500, False), ("x" * 501, True), ("ﷺ" * 27, False), ("ﷺ" * 28, True)],
)
def test_a_reference_is_as_long_as_what_is_compared(text: str, is_long: bool) -> None:
    assert is_too_long(text) == is_long
    assert (ReferenceForms.of(text) is None) == is_long
