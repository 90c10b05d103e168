"""Contrast of the page's colors."""

import math
import re
from typing import Literal

import pytest

from kgagent.adapters.view.page import asset

Theme = Literal["light", "dark"]
Rgb = tuple[float, float, float]
THEMES: tuple[Theme, ...] = ("light", "dark")

TEXT = 4.5
DRAWING = 3.0
"""Least contrast of text and of drawings, WCAG 2.2 AA."""


def colors(theme: Theme) -> dict[str, str]:
    light, dark = re.findall(r":root[^{]*\{(.*?)\}", asset("page.css"), re.DOTALL)[:2]
    own = {
        name: dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
        for name, block in (("light", light), ("dark", dark))
    }
    assert own["light"].keys() == own["dark"].keys()
    return own[theme]


def linear(color: str) -> Rgb:
    red, green, blue = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return _linear(red), _linear(green), _linear(blue)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else math.pow((part + 0.055) / 1.055, 2.4)


def luminance(color: str) -> float:
    red, green, blue = linear(color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("text", ["ink", "quiet", "focus"])
@pytest.mark.parametrize("ground", ["paper", "stage", "hover"])
def test_text_contrast_is_sufficient(theme: Theme, text: str, ground: str) -> None:
    assert contrast(colors(theme)[text], colors(theme)[ground]) >= TEXT


@pytest.mark.parametrize("theme", THEMES)
def test_nodes_and_relationships_contrast_with_the_background(theme: Theme) -> None:
    known = colors(theme)
    drawn = [name for name in known if name.startswith(("label-", "attitude-"))]
    assert len(drawn) == 9 + 6
    faint = {name: contrast(known[name], known["stage"]) for name in drawn}
    assert {name: value for name, value in faint.items() if value < DRAWING} == {}
