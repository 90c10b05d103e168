"""Contrast of the page's colors, also for people with color vision deficiency."""

import math
import re
from itertools import product
from typing import Literal

import pytest

from kgagent.adapters.view.page import asset

Theme = Literal["light", "dark"]
Rgb = tuple[float, float, float]
THEMES: tuple[Theme, ...] = ("light", "dark")

TEXT = 4.5
DRAWING = 3.0
"""Least contrast of text and of drawings, WCAG 2.2 AA."""

PROTANOPIA = ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998))
DEUTERANOPIA = ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))
"""Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", 2009."""


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


def lab(rgb: Rgb) -> Rgb:
    """CIE L*a*b* of linear sRGB, white point D65."""
    red, green, blue = (min(max(part, 0.0), 1.0) for part in rgb)
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089
    fx, fy, fz = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def seen_with(matrix: tuple[Rgb, Rgb, Rgb], color: str) -> Rgb:
    red, green, blue = linear(color)
    first, second, third = (row[0] * red + row[1] * green + row[2] * blue for row in matrix)
    return lab((first, second, third))


def distance(one: Rgb, other: Rgb) -> float:
    return math.dist(one, other)


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


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("eyes", [PROTANOPIA, DEUTERANOPIA], ids=["protanopia", "deuteranopia"])
def test_low_and_high_attitude_differ_for_the_color_blind(theme: Theme, eyes: tuple[Rgb, Rgb, Rgb]) -> None:
    known = colors(theme)
    for low, high in product((1, 2), (4, 5)):
        one, other = (seen_with(eyes, known[f"attitude-{level}"]) for level in (low, high))
        assert distance(one, other) > 40, (low, high)
