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


def test_requested_port_is_chosen(free_port: int) -> None:
    assert choose_port(free_port, None) == free_port


def test_requested_port_in_use_is_an_error_that_names_it(taken_port: int) -> None:
    with pytest.raises(ServerStartError, match=f"Port {taken_port} is in use"):
        choose_port(taken_port, None)


def test_previous_port_is_chosen_again(free_port: int) -> None:
    assert choose_port(0, free_port) == free_port


def test_previous_port_in_use_is_replaced(taken_port: int) -> None:
    port = choose_port(0, taken_port)

    assert port != taken_port
    assert is_free(port)
