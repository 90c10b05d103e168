"""Times of statements in EDTF."""

import pytest
from pydantic import TypeAdapter, ValidationError

from kgagent.models import Note
from kgagent.models.note import oldest_first
from kgagent.models.when import Period, When, is_past, period_of, periods_of, with_periods


@pytest.mark.parametrize(
    ("when", "earliest", "latest"),
    [
        ("2023-02-04", 20230204, 20230204),
        ("2023-02", 20230201, 20230228),
        ("2023~", 20230101, 20231231),
        ("2019/2021", 20190101, 20211231),
        ("2024-05/..", 20240501, 99991231),
        ("../2020", 0, 20201231),
        ("2023-21", 20230301, 20230531),
        ("~2004", 20040101, 20041231),
        ("2023-1X", 20231001, 20231231),
        ("20XX-02/2024-02", 20000201, 20240229),
        ("[..2000, 2003]", 0, 20031231),
    ],
)
def test_a_time_covers_the_days_that_it_can_mean(when: str, earliest: int, latest: int) -> None:
    assert period_of(when) == (earliest, latest)


@pytest.mark.parametrize(
    "when",
    [
        *("last Friday", "2023-2", "2023-02-30", "2019-02-29", "1985/", "-0044", "2021/2019"),
        *("Y11111111111111111111", "2023-13", "2023-21-01", "[]", "{2019/2021}"),
    ],
)
def test_anything_else_is_an_error_that_shows_the_form(when: str) -> None:
    with pytest.raises(ValidationError, match=r"such as 2023-02-04|must not end before it begins"):
        TypeAdapter(When).validate_python(when)
    assert periods_of(when) == ()


def test_about_a_year_is_written_with_the_sign_of_edtf_and_a_year_may_be_a_number() -> None:
    assert TypeAdapter(When).validate_python(" about 2020 ") == "2020~"
    assert TypeAdapter(When).validate_python(2020) == "2020"


def test_periods_overlap_if_they_share_a_day() -> None:
    assert period_of("2019/2021").overlaps(period_of("2021-12-31"))
    assert not period_of("2019/2021").overlaps(Period(20220101, 20221231))


@pytest.mark.parametrize(
    ("stored", "given", "joined"),
    [
        ("2019/2021", "2024/..", "2019/2021; 2024/.."),
        ("2019/..", "2019/2021", "2019/2021"),
        ("2024/..; 2010", "2012; 2024-05/2025", "2010; 2012; 2024-05/2025"),
        ("", "2024", "2024"),
        ("of another program", "2024", "2024"),
    ],
)
def test_a_period_replaces_those_that_it_overlaps(stored: str, given: str, joined: str) -> None:
    assert with_periods(stored, given) == joined


def test_what_has_ended_is_past() -> None:
    day = 20220101
    assert is_past("2019; 2021-12-31", day)
    assert not is_past("2019-05-03", day)
    assert not is_past("2019/2021", day, "2018")
    assert not any(is_past(when, day) for when in ("2019; 2022-01-01", "2019/..", None))


def test_notes_are_in_order_of_their_times() -> None:
    times = [
        "2023",
        "2022-05-02",
        "[..2000]",
        "2022-21",
        "2019/2021",
        "~2004",
        "2024; 2018",
        "2022",
    ]
    assert [note.when for note in oldest_first(Note(content="x", when=when) for when in times)] == [
        "[..2000]",
        "~2004",
        "2024; 2018",
        "2019/2021",
        "2022",
        "2022-21",
        "2022-05-02",
        "2023",
    ]
