"""Write the table in docs/configuration.md from `kgagent.Settings`.

python scripts/configuration_page.py            writes the page
python scripts/configuration_page.py --check    fails if the page is out of date
"""

import sys

from _generated import cell, type_text, update_page
from pydantic import AliasChoices

from kgagent import Settings

HEAD = "| variable | type | default | meaning |\n| --- | --- | --- | --- |\n"


def main() -> int:
    """Write the page or check it."""
    schema = Settings.model_json_schema(by_alias=False)
    rows = []
    for name, setting in schema["properties"].items():
        default = setting.get("default")
        if isinstance(default, list):
            default = ",".join(default)
        default_text = (
            ""
            if default is None
            else f"`{str(default).lower() if isinstance(default, bool) else default}`"
        )
        kind = cell(type_text(setting, schema.get("$defs", {})))
        rows.append(
            f"| `{_variable(name)}` | {kind} | {default_text} | "
            f"{cell(setting.get('description', ''))} |\n"
        )
    return update_page("configuration.md", HEAD + "".join(rows), "configuration_page.py")


def _variable(name: str) -> str:
    """The environment variable of a setting."""
    alias = Settings.model_fields[name].validation_alias
    return str(alias.choices[0]) if isinstance(alias, AliasChoices) else f"KGAGENT_{name.upper()}"


if __name__ == "__main__":
    sys.exit(main())
