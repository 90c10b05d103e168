from kgagent.files.load_workers import Spool


def test_items_with_the_same_key_are_read_together_in_their_order() -> None:
    items = [(key, number) for number in range(50) for key in ("a", "b", "c", "d")]
    with Spool[tuple[str, int]](3) as spool:
        spool.fill(items, lambda item: item[0])
        parts = [spool.read(part) for part in range(3)]
    assert sorted(item for part in parts for item in part) == sorted(items)
    for part in parts:
        for key in {key for key, _ in part}:
            assert [number for name, number in part if name == key] == list(range(50))
