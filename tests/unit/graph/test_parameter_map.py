"""Statements read their parameters from one map."""

import pytest

from kgagent.graph.parameter_map import with_parameter_map


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RETURN $name", "RETURN $p.name"),
        (
            "MATCH (n {key: $key}) WHERE n.x IN $keys[$from..$to]",
            "MATCH (n {key: $p.key}) WHERE n.x IN $p.keys[$p.from..$p.to]",
        ),
        ("WITH n LIMIT $limit + 1", "WITH n LIMIT $p.limit + 1"),
        ("RETURN $row.name, $p", "RETURN $p.row.name, $p.p"),
        ("RETURN $naïve_名", "RETURN $p.naïve_名"),
        ("RETURN $0, $1st", "RETURN $p.`0`, $p.`1st`"),
        ("RETURN $`two words`, $`a``$b`", "RETURN $p.`two words`, $p.`a``$b`"),
        ("CREATE (n:$(row.label))", "CREATE (n:$(row.label))"),
        ("MATCH (n:$($label)) RETURN n", "MATCH (n:$($p.label)) RETURN n"),
        ("MATCH (n:$any($labels)&$all ($others))", "MATCH (n:$any($p.labels)&$all ($p.others))"),
    ],
)
def test_each_parameter_is_read_from_the_map(text: str, expected: str) -> None:
    assert with_parameter_map(text) == expected


def test_the_user_is_a_parameter_of_its_own() -> None:
    assert with_parameter_map("MATCH (n {user_id: $user_id, name: $name})") == (
        "MATCH (n {user_id: $user_id, name: $p.name})"
    )


@pytest.mark.parametrize(
    "text",
    [
        "RETURN '$a'",
        r"RETURN 'it\'s $a', '\\'",
        r'RETURN "say \"$a\"", "\\"',
        "MATCH (n:`$a`)-[r:`b``$c`]->() RETURN n",
        "RETURN /* $a\n $b */ 1",
        "RETURN 'http://$a'",
    ],
)
def test_texts_quoted_names_and_comments_stay(text: str) -> None:
    assert with_parameter_map(text) == text
    assert with_parameter_map(f"{text}\nWITH $x") == f"{text}\nWITH $p.x"


def test_the_language_is_put_first() -> None:
    assert with_parameter_map("RETURN $a", "CYPHER 25 ") == "CYPHER 25 RETURN $p.a"


@pytest.mark.parametrize(
    "text", ["RETURN 'it\\'s $a", 'RETURN "$a', "MATCH (n:`$a", "RETURN 1 /* $a"]
)
def test_an_unclosed_text_ends_with_the_statement(text: str) -> None:
    assert with_parameter_map(text) == text
