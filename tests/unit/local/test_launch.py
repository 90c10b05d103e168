import socket

import pytest

from kgagent.errors import ServerStartError
from kgagent.local.process import choose_port


def test_the_requested_port_is_chosen_or_else_the_previous_one_or_else_a_free_one() -> None:
    with socket.socket() as listening, socket.socket() as probe:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        taken = listening.getsockname()[1]
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
        probe.close()

        assert choose_port(free, None) == choose_port(0, free) == free
        assert choose_port(0, taken) not in {0, taken}
        with pytest.raises(ServerStartError, match=f"Port {taken} is in use"):
            choose_port(taken, None)
