from kgagent.doctor.shared_keys import SharedKeys


def count(*keys: str) -> int:
    noted = SharedKeys()
    for key in keys:
        noted.note(key)
    return noted.count()


def test_records_with_keys_of_their_own_share_none() -> None:
    assert count() == 0
    assert count(*map(str, range(10_000))) == 0


def test_each_record_whose_key_another_one_has_counts() -> None:
    assert count("a", "b", "a", "c", "b", "a") == 5


def test_keys_may_hold_any_character() -> None:
    assert count("", "", "\udc80", "ß") == 2
