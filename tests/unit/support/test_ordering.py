"""The order of the tests of a run."""

from tests.support.ordering import in_parts


def test_each_part_begins_with_its_share_of_the_first_tests() -> None:
    assert "".join(in_parts("abcd", "123456", parts=2)) == "ab123cd456"


def test_no_test_is_lost_or_repeated_if_the_parts_are_unequal() -> None:
    assert "".join(in_parts("abcd", "12345", parts=3)) == "a1b23cd45"
    assert "".join(in_parts("", "12", parts=3)) == "12"
