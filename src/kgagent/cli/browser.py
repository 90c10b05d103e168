"""Opening an address that holds a secret in the browser."""

import html
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LEADING_ON = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">'


@contextmanager
def opened_in_browser(address: str, *, wanted: bool = True) -> Iterator[None]:
    """Open an address while the block runs.

    The browser is started with a private file that leads on to the address, since other users of the machine see what
    programs are started with.

    Args:
        address: where the browser shall go.
        wanted: False opens nothing.
    """
    if not wanted:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="kgagent-") as folder:
        page = Path(folder) / "view.html"
        page.write_text(_LEADING_ON.format(address=html.escape(address, quote=True)), "utf-8")
        webbrowser.open(page.as_uri())
        yield
