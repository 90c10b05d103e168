"""The options of kgagent mcp that say who may connect over HTTP."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kgagent.adapters.mcp import AccessTokens, OAuthOptions

Issuer = Annotated[
    str | None,
    typer.Option(
        "--oauth-issuer",
        metavar="URL",
        help="With --http: authorization server whose access tokens (JWT) are accepted and name the user.",
    ),
]
Resource = Annotated[
    str | None,
    typer.Option(
        "--oauth-resource",
        metavar="URL",
        help="With --oauth-issuer: URL under which clients reach this server; tokens must be issued for it. "
        "[dim]\\[http://HOST:PORT/mcp][/dim]",
    ),
]
Audience = Annotated[
    str | None,
    typer.Option(
        "--oauth-audience",
        metavar="TEXT",
        help="With --oauth-issuer: the claim aud of tokens, if it is not the URL of --oauth-resource.",
    ),
]
Scopes = Annotated[
    list[str] | None,
    typer.Option(
        "--oauth-scope", metavar="SCOPE", help="With --oauth-issuer: scope that tokens must have. Can be repeated."
    ),
]
UserClaim = Annotated[
    str | None,
    typer.Option(
        "--oauth-user-claim",
        metavar="CLAIM",
        help="With --oauth-issuer: claim of a token that is the user id. [dim]\\[sub][/dim]",
    ),
]
KeysUrl = Annotated[
    str | None,
    typer.Option(
        "--oauth-jwks",
        metavar="URL",
        help="With --oauth-issuer: URL of the issuer's keys. [dim]\\[from its metadata][/dim]",
    ),
]


def oauth_options(
    *,
    issuer: str | None,
    resource: str | None,
    audience: str | None,
    scopes: "Sequence[str] | None",
    user_claim: str | None,
    jwks_url: str | None,
) -> "OAuthOptions | None":
    """The authorization server of the options; None if they name none.

    Raises:
        ConfigurationError: an option has an invalid value.
    """
    if issuer is None:
        if resource is not None or audience is not None or scopes or user_claim is not None or jwks_url is not None:
            raise typer.BadParameter("--oauth-… options require --oauth-issuer")
        return None

    from kgagent.adapters.mcp import OAuthOptions

    return OAuthOptions(
        issuer=issuer,
        resource=resource,
        audience=audience,
        required_scopes=tuple(scopes or ()),
        user_claim="sub" if user_claim is None else user_claim,
        jwks_url=jwks_url,
    )


def load_tokens(file: Path) -> "AccessTokens":
    """Read a token file, and warn if others can read it too.

    Raises:
        ConfigurationError: the file cannot be read, or a token is invalid.
    """
    from rich.text import Text

    from kgagent.adapters.mcp import load_access_tokens
    from kgagent.cli.output import print_message
    from kgagent.private_files import is_readable_by_others

    tokens = load_access_tokens(file)
    if is_readable_by_others(file):
        print_message(Text(f"Other users of this machine can read the tokens: chmod 600 {file}", style="yellow"))
    return tokens
