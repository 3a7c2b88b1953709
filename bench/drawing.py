"""Line charts as SVG: panels one below the other, each value beside its point, one text for light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

WIDTH: Final = 760
LEFT, RIGHT, TOP, HEIGHT, BOTTOM = 64, 150, 52, 220, 62
"""Around and of the plot of one panel."""

_APART: Final = 15
"""Between two texts, one above the other."""

# The page behind an image may be of another theme than the system: the chart brings a ground of its own.
_STYLE: Final = """\
  .ground { fill: #ffffff; stroke: #d0d7de } text { fill: #1f2328; font: 12px system-ui, sans-serif } .title { font-weight: 600 }
  .grid { stroke: #d0d7de } .line { fill: none; stroke-width: 2 } .value { font-size: 11px } .end { font-weight: 600 }
  .c0 { stroke: #0969da } .c1 { stroke: #bc4c00 } .c2 { stroke: #1a7f37 }
  .f0 { fill: #0969da } .f1 { fill: #bc4c00 } .f2 { fill: #1a7f37 }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; stroke: #30363d } text { fill: #e6edf3 } .grid { stroke: #30363d }
    .c0 { stroke: #58a6ff } .c1 { stroke: #f0883e } .c2 { stroke: #3fb950 }
    .f0 { fill: #58a6ff } .f1 { fill: #f0883e } .f2 { fill: #3fb950 }
  }"""


@dataclass(frozen=True)
class Line:
    """What was measured, and how much of it at each place of the axis; there are colours for three in a panel."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Panel:
    """``along`` and ``unit`` say what the two axes count, ``places`` what stands below each point."""

    title: str
    along: str
    unit: str
    places: tuple[str, ...]
    lines: tuple[Line, ...]

    @property
    def most(self) -> float:
        """Where the axis of values ends: a round number above all of them, that four steps divide."""
        highest = max((value for line in self.lines for value in line.values), default=0) or 1
        power = 10.0 ** math.floor(math.log10(highest))
        return next(step * power for step in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10, 12) if step * power >= highest * 1.1)


def drawing(about: str, panels: Sequence[Panel]) -> str:
    """The whole file. ``about`` stands at its foot: how it was measured."""
    one = TOP + HEIGHT + BOTTOM
    height = one * len(panels) + 24
    drawn = "\n".join(line for number, panel in enumerate(panels) for line in _panel(panel, number * one))
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">
<title>{escape("; ".join(panel.title for panel in panels))}</title>
<style>
{_STYLE}
</style>
<rect class="ground" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="6"/>
{drawn}
{_text(16, height - 12, about, "value")}
</svg>
"""


def shown(value: float) -> str:
    """Three digits of a number, as far as it has them."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 or value == 0 else f"{value:.2f}"


def _panel(panel: Panel, top: int) -> list[str]:
    low, step = top + TOP + HEIGHT, (WIDTH - LEFT - RIGHT) / len(panel.places)
    across = [round(LEFT + step * (number + 0.5)) for number in range(len(panel.places))]
    return [*_axes(panel, top, across), *_lines(panel, low, across)]


def _axes(panel: Panel, top: int, across: list[int]) -> list[str]:
    begin, end, low = LEFT, WIDTH - RIGHT, top + TOP + HEIGHT
    drawn = [_text(16, top + 26, panel.title, "title"), _text(16, top + 44, panel.unit, "value")]
    for quarter in range(5):
        y = round(low - HEIGHT * quarter / 4)
        drawn.append(f'<path class="grid" d="M{begin} {y}H{end}"/>')
        drawn.append(_text(begin - 8, y + 4, f"{panel.most * quarter / 4:,.4g}", "value", "end"))
    drawn += [_text(x, low + 20, place, "value", "middle") for x, place in zip(across, panel.places, strict=True)]
    return [*drawn, _text((begin + end) // 2, low + 42, panel.along, "", "middle")]


def _lines(panel: Panel, low: int, across: list[int]) -> list[str]:
    drawn = []
    heights = [[round(low - HEIGHT * value / panel.most) for value in line.values] for line in panel.lines]
    for number, ys in enumerate(heights):
        points = list(zip(across, ys, strict=True))
        drawn.append(f'<polyline class="line c{number}" points="{" ".join(f"{x},{y}" for x, y in points)}"/>')
        drawn += [f'<circle class="f{number}" cx="{x}" cy="{y}" r="3.5"/>' for x, y in points]
    for place, x in enumerate(across):
        highest = min(ys[place] for ys in heights)
        wanted = [ys[place] - 8 if ys[place] == highest else ys[place] + 18 for ys in heights]
        for line, y in zip(panel.lines, _spread(wanted), strict=True):
            drawn.append(_text(x, y, shown(line.values[place]), "value", "middle"))
    for number, y in enumerate(_spread([ys[-1] + 4 for ys in heights])):
        drawn.append(_text(across[-1] + 28, y, panel.lines[number].name, f"end f{number}"))
    return drawn


def _spread(wanted: list[int]) -> list[int]:
    """Heights near the wanted ones, at which texts don't cover each other: who would lie on another goes up."""
    found, above = dict[int, int](), None
    for number in sorted(range(len(wanted)), key=lambda number: -wanted[number]):
        above = wanted[number] if above is None else min(wanted[number], above - _APART)
        found[number] = above
    return [found[number] for number in range(len(wanted))]


def _text(x: int, y: int, text: str, kind: str, anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
