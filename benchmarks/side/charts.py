"""The charts of the page as SVG, for light and dark backgrounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from side.figures import OURS, milliseconds

SIZE = (9.0, 0.34)
"""Width, and height of a bar, in inches."""

NAMES = 1.35
HEADING, GAP = 0.62, 0.45
LABELS = 1.34
"""Room for the labels after the longest bar, relative to it."""


@dataclass(frozen=True)
class Theme:
    """Colors of a chart; blue and gray differ for every kind of color blindness."""

    name: str
    background: str
    text: str
    ours: str
    others: str


THEMES = (
    Theme("light", "#ffffff", "#1f2328", "#0072b2", "#b4bac1"),
    Theme("dark", "#0d1117", "#e6edf3", "#56b4e9", "#59626d"),
)


@dataclass(frozen=True)
class Panel:
    """One figure of several toolkits.

    Attributes:
        title: what is shown, and whether more is better.
        values: by toolkit; None where it cannot do it.
        unit: "ms", "/s" or "" for a share.
        notes: shown after the value of a toolkit.
    """

    title: str
    values: Mapping[str, float | None]
    unit: str
    notes: Mapping[str, str]

    def label(self, toolkit: str) -> str:
        """The value as it is written after the bar."""
        value = self.values[toolkit]
        if value is None:
            return "-"
        shown = (
            f"{milliseconds(value)} ms"
            if self.unit == "ms"
            else f"{value:,.0f}/s"
            if self.unit
            else f"{value:.2f}"
        )
        note = self.notes.get(toolkit)
        return f"{shown} ({note})" if note else shown

    def in_words(self) -> str:
        """The values as a sentence, for readers who do not see the chart."""
        return f"{self.title}: " + ", ".join(f"{name} {self.label(name)}" for name in self.values)


@dataclass(frozen=True)
class Chart:
    """Panels side by side.

    Attributes:
        name: of its files.
        heading: above all.
        panels: with the same toolkits.
    """

    name: str
    heading: str
    panels: Sequence[Panel]

    def file(self, theme: str) -> str:
        """Name of its file for a theme."""
        return f"side-{self.name}-{theme}.svg"

    def in_words(self) -> str:
        """The alternative text."""
        return f"{self.heading}. " + "; ".join(panel.in_words() for panel in self.panels) + "."


def draw(chart: Chart, folder: Path) -> None:
    """Write the chart for each theme; the same figures give the same files."""
    for theme in THEMES:
        with mpl.rc_context({"svg.hashsalt": chart.name, "svg.fonttype": "none", "font.size": 10}):
            figure = _figure(chart, theme)
            file = folder / chart.file(theme.name)
            figure.savefig(
                file,
                format="svg",
                facecolor=theme.background,
                metadata={
                    "Date": None,
                    "Creator": None,
                    "Title": chart.heading,
                    "Description": chart.in_words(),
                },
            )
        text = "\n".join(line.rstrip() for line in file.read_text("utf-8").splitlines())
        file.write_text(text + "\n", "utf-8")


def _figure(chart: Chart, theme: Theme) -> Figure:
    toolkits = list(chart.panels[0].values)
    width, bar = SIZE
    height = HEADING + GAP / 2 + bar * len(toolkits)
    figure = Figure(figsize=(width, height))
    figure.text(
        0.012,
        1 - 0.2 / height,
        chart.heading,
        color=theme.text,
        fontsize=11,
        fontweight="bold",
        va="center",
    )
    share = (width - NAMES - 0.1) / len(chart.panels)
    for number, panel in enumerate(chart.panels):
        left = (NAMES + number * share) / width
        axes = figure.add_axes(
            (left, 0.1 / height, (share - 0.15) / width, bar * len(toolkits) / height)
        )
        axes.set_facecolor(theme.background)
        longest = max((value for value in panel.values.values() if value), default=1.0)
        for row, name in enumerate(toolkits):
            color = theme.ours if name == OURS else theme.others
            value = panel.values[name] or 0.0
            axes.barh(row, value, height=0.62, color=color)
            axes.text(
                value + longest * 0.03,
                row,
                panel.label(name),
                va="center",
                color=theme.text,
                fontsize=9,
                fontweight="bold" if name == OURS else "normal",
            )
            if number == 0:
                axes.text(
                    -0.04,
                    row,
                    name,
                    transform=axes.get_yaxis_transform(),
                    ha="right",
                    va="center",
                    color=theme.text,
                    fontweight="bold" if name == OURS else "normal",
                )
        axes.set_xlim(0, longest * (LABELS + 0.18 * bool(panel.unit) + 0.5 * bool(panel.notes)))
        axes.set_ylim(len(toolkits) - 0.5, -0.5)
        axes.set_title(panel.title, loc="left", color=theme.text, fontsize=9.5, pad=5)
        axes.set_axis_off()
    return figure
