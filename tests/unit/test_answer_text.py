from _answer_text import AnswerText, share_contained

from kgagent.models.token_budget import estimated_tokens

BORN = ("Ada Lovelace", "place_of_birth", "London")
LIED = ("Ada Lovelace", "mother", "Annabella Milbanke")


def test_first_words_of_an_answer_have_no_more_tokens_than_asked_for() -> None:
    answer = AnswerText("Ada Lovelace: place of birth London\n  mother: Annabella Milbanke, 1792")
    assert answer.tokens == estimated_tokens(answer.text)
    assert answer.first(10_000) == answer.text
    assert not answer.first(0)
    for tokens in range(answer.tokens):
        assert estimated_tokens(answer.first(tokens)) <= tokens
        assert answer.text.startswith(answer.first(tokens))


def test_a_triple_is_contained_in_one_line_in_any_order() -> None:
    assert share_contained("- London <-[place of birth]- ADA  LOVELACE", [BORN, LIED]) == 0.5


def test_names_in_different_lines_are_no_triple() -> None:
    assert share_contained("Ada Lovelace place of birth\nLondon", [BORN]) == 0


def test_a_line_belongs_to_those_that_it_is_indented_under() -> None:
    text = "Ada Lovelace\n  place of birth: London\nGrace Hopper\n  mother: Annabella Milbanke"
    assert share_contained(text, [BORN, LIED]) == 0.5


def test_a_triple_is_contained_in_one_object_of_json() -> None:
    split = '[{"name": "Ada Lovelace"}, {"fact": "place of birth London"}]'
    whole = '[{"from": "Ada Lovelace", "type": "place of birth", "to": "London"}, {"from": "Ada Lov'
    assert share_contained(split, [BORN]) == 0
    assert share_contained(whole, [BORN]) == 1


def test_part_of_a_word_is_no_name() -> None:
    assert share_contained("Ada Lovelace place of birth Londonderry, New London", [BORN]) == 1
    assert share_contained("Ada Lovelace place of birth Londonderry", [BORN]) == 0
