import pytest

from kgagent.graph.reference_forms import ReferenceForms, is_too_long, part_of_name, spaced_words


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("Ruth", "Ruth Calder"),
        ("calder", "Ruth Calder"),
        ("José", "Jose da Silva"),
        ("Anna Maria", "Dr. Anna  Maria Berger"),
        ("Berger", "Anna (Berger)"),
    ],
)
def test_a_name_contains_the_words_of_its_parts(reference: str, name: str) -> None:
    part = part_of_name(reference)
    assert part is not None
    assert part in spaced_words(name)


@pytest.mark.parametrize(("reference", "name"), [("Rut", "Ruth Calder"), ("Anna Berger", "Anna Maria Berger")])
def test_other_words_are_no_part_of_a_name(reference: str, name: str) -> None:
    part = part_of_name(reference)
    assert part is not None
    assert part not in spaced_words(name)


@pytest.mark.parametrize("reference", ["Dr.", "von der", "me", "", "!", "5b0c1a2f" * 8])
def test_some_references_are_part_of_no_name(reference: str) -> None:
    assert part_of_name(reference) is None


@pytest.mark.parametrize(
    ("text", "is_long"), [("x" * 500, False), ("x" * 501, True), ("ﷺ" * 27, False), ("ﷺ" * 28, True)]
)
def test_a_reference_is_as_long_as_what_is_compared(text: str, is_long: bool) -> None:
    assert is_too_long(text) == is_long
    assert (ReferenceForms.of(text) is None) == is_long
