import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.errors import InputError
from kgagent.graph.identifiers import MAX_LENGTH, Identifier


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("Person", "`Person`"),
        ("`", "````"),
        ("x`) DETACH DELETE n //", "`x``) DETACH DELETE n //`"),
        ("日本", "`日本`"),
    ],
)
def test_a_name_is_quoted(name: str, quoted: str) -> None:
    assert Identifier(name) == quoted


@pytest.mark.parametrize(
    "name",
    ["", "a\\u0060b", "a\0b", "a\u2028b", "a\udc00", "x" * (MAX_LENGTH + 1)],
)
def test_a_name_that_no_graph_needs_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="cannot be the name of a label, type, property or index"):
        Identifier(name)


def test_several_names_are_alternatives() -> None:
    assert Identifier.any_of(["A", "B`"]) == "`A`|`B```"
    with pytest.raises(InputError):
        Identifier.any_of(["A", "\n"])


@given(st.text())
def test_no_text_can_end_the_quotes(name: str) -> None:
    try:
        quoted = Identifier(name)
    except InputError:
        return
    inside = quoted[1:-1].replace("``", "")
    assert "`" not in inside
    assert "\\" not in inside
    assert inside.isprintable()
