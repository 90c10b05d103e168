from kgagent.doctor.duplicate_keys import DuplicateKeyCounter


def count(*keys: str) -> int:
    counter = DuplicateKeyCounter()
    for key in keys:
        counter.add(key)
    return counter.count()


def test_different_keys_are_not_counted() -> None:
    assert count() == 0
    assert count(*map(str, range(10_000))) == 0


def test_every_record_that_shares_its_key_is_counted() -> None:
    assert count("a", "b", "a", "c", "b", "a") == 5


def test_keys_may_hold_any_character() -> None:
    assert count("", "", "\udc80", "ß") == 2
