import socket
from collections.abc import Iterator

import pytest

from kgagent.errors import ServerStartError
from kgagent.local.ports import choose_port, is_free


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_port_that_was_asked_for_is_taken(free_port: int) -> None:
    assert choose_port(free_port, None) == free_port


def test_port_that_was_asked_for_but_is_in_use_is_an_error_that_names_it(taken_port: int) -> None:
    with pytest.raises(ServerStartError, match=f"Port {taken_port} is in use"):
        choose_port(taken_port, None)


def test_port_of_last_time_is_taken_again(free_port: int) -> None:
    assert choose_port(0, free_port) == free_port


def test_port_of_last_time_gives_way_when_it_is_in_use(taken_port: int) -> None:
    port = choose_port(0, taken_port)

    assert port != taken_port
    assert is_free(port)
