"""A comparison as a picture: a panel per measure, a dot per trial, the median and its interval per arm.

The picture is laid out once as plain shapes. This module writes them as SVG; for PNG, Pillow (an optional dependency)
draws the same shapes.
"""

from __future__ import annotations

import importlib
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal
from xml.sax.saxutils import escape

from agent_wiki.errors import RunError
from agent_wiki.evaluation.arms import Arm, Trial
from agent_wiki.evaluation.compare import MEASURES, Comparison, Figure, Measure
from agent_wiki.evaluation.render import quantity
from agent_wiki.trajectory.lazily import dataclass
from agent_wiki.wiki.text import plain_line

_PANEL_WIDTH, _PANEL_HEIGHT = 300, 270  # wider with many arms
_LEAST_ARM_WIDTH, _LETTER_WIDTH = 62, 6.5
_MARGIN, _HEAD = 20, 40
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 12, 34, 40  # inside a panel, around the plotting area
_PANELS_A_ROW = 2
_MOST_DOTS = 400  # per arm and panel; beyond that an even sample is drawn
_COLOURS = ("#4c6a92", "#c8553d", "#5b8c5a", "#8a5a8c", "#b08a2e", "#4a8c8c")
_INK, _FAINT, _PAPER = "#222222", "#d0d0d0", "#ffffff"
_PNG_SCALE = 2

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class _Line:
    x1: float
    y1: float
    x2: float
    y2: float
    colour: str
    width: float = 1.0


@dataclass(frozen=True, slots=True)
class _Dot:
    x: float
    y: float
    radius: float
    colour: str
    is_hollow: bool = False


@dataclass(frozen=True, slots=True)
class _Text:
    x: float
    y: float  # of the base line
    text: str
    size: int = 12
    anchor: Anchor = "middle"
    colour: str = _INK


_Shape = _Line | _Dot | _Text


@dataclass(frozen=True, slots=True)
class Picture:
    """Shapes on a white background."""

    width: int
    height: int
    shapes: tuple[_Shape, ...]


def picture(comparison: Comparison, arms: Sequence[Arm]) -> Picture:
    """Lay out the main measures of all trials. In: a comparison and its arms."""
    measures = [each for each in MEASURES if each.is_main and each.name in comparison.aggregate.figures]
    rows = (len(measures) + _PANELS_A_ROW - 1) // _PANELS_A_ROW
    columns = min(len(measures), _PANELS_A_ROW) or 1
    panel_width = max(_PANEL_WIDTH, _LEFT + _RIGHT + _LEAST_ARM_WIDTH * len(arms))
    width, height = columns * panel_width + 2 * _MARGIN, rows * _PANEL_HEIGHT + _HEAD + _MARGIN
    shapes: list[_Shape] = [
        _Text(
            _MARGIN,
            26,
            "Median and 95 % interval; each dot is a trial, those off the scale are at the top",
            14,
            "start",
        )
    ]
    for position, measure in enumerate(measures):
        left = _MARGIN + position % _PANELS_A_ROW * panel_width
        top = _HEAD + position // _PANELS_A_ROW * _PANEL_HEIGHT
        shapes += _panel(measure, comparison.aggregate.figures[measure.name], arms, _Area(left, top, panel_width))
    return Picture(width, height, tuple(shapes))


@dataclass(frozen=True, slots=True)
class _Area:
    """The position of a panel and of values in it. `highest` is the value at the top of the scale."""

    left: float
    top: float
    width: int
    highest: float = 1.0

    @property
    def floor(self) -> float:
        return self.top + _PANEL_HEIGHT - _BOTTOM

    def y(self, value: float) -> float:
        """The height of a value; values above the scale are at its top."""
        return self.floor - (self.floor - self.top - _TOP) * min(value / self.highest, 1.0)

    def span(self, arms: int) -> float:
        """The width of one arm."""
        return (self.width - _LEFT - _RIGHT) / arms


def _panel(measure: Measure, figures: Sequence[Figure], arms: Sequence[Arm], area: _Area) -> Iterator[_Shape]:
    values = [[value for each in arm.trials if (value := _dot_value(each, measure)) is not None] for arm in arms]
    dots = [_sample(each) for each in values]
    area = replace(area, highest=_highest(measure, figures, dots))
    yield _Text(area.left + _LEFT, area.top + 20, measure.title, 13, "start")
    for step in range(5):
        value = area.highest * step / 4
        y = area.y(value)
        yield _Line(area.left + _LEFT, y, area.left + area.width - _RIGHT, y, _FAINT)
        yield _Text(area.left + _LEFT - 6, y + 4, quantity(value, measure.unit), 11, "end")
    span = area.span(len(arms))
    for position, (arm, figure) in enumerate(zip(arms, figures, strict=True)):
        x, colour = area.left + _LEFT + span * (position + 0.5), _COLOURS[position % len(_COLOURS)]
        for number, value in enumerate(dots[position]):
            shift = ((number * 7) % 11 - 5) / 5 * span * 0.22  # spread sideways, deterministically
            yield _Dot(x + shift, area.y(value), 2.2, colour, is_hollow=True)
        yield from _mark(figure, x, span, colour, area)
        yield _Text(x, area.floor + 17, plain_line(arm.name, int(span / _LETTER_WIDTH)), 11)
        shown = "unknown" if figure.value is None else quantity(figure.value, measure.unit)
        yield _Text(x, area.floor + 31, shown, 11, colour=colour)


def _mark(figure: Figure, x: float, span: float, colour: str, area: _Area) -> Iterator[_Shape]:
    """The median as a bar, its interval as a line with caps."""
    if figure.value is None:
        return
    if figure.interval is not None:
        low, high = area.y(figure.interval[0]), area.y(figure.interval[1])
        yield _Line(x, low, x, high, _INK, 1.6)
        yield from (_Line(x - 5, end, x + 5, end, _INK, 1.6) for end in (low, high))
    yield _Line(x - span * 0.3, area.y(figure.value), x + span * 0.3, area.y(figure.value), colour, 3.0)


def _dot_value(trial: Trial, measure: Measure) -> float | None:
    """A trial's value; None for accuracy, which has no dots."""
    return None if measure.unit == "share" else trial.numbers.get(measure.name)


def _sample(values: Sequence[float]) -> list[float]:
    if len(values) <= _MOST_DOTS:
        return list(values)
    return [values[len(values) * position // _MOST_DOTS] for position in range(_MOST_DOTS)]


def _highest(measure: Measure, figures: Sequence[Figure], dots: Sequence[Sequence[float]]) -> float:
    """The top of the scale: all figures fit, and a few outliers do not compress the others."""
    if measure.unit == "share":
        return 1.0
    ends = [figure.value or 0.0 for figure in figures]
    ends += [figure.interval[1] for figure in figures if figure.interval is not None]
    trials = sorted(value for values in dots for value in values)
    if trials:
        ends.append(trials[min(len(trials) - 1, len(trials) * 95 // 100)])
    return _round_up(max(ends) * 1.05)


def _round_up(value: float) -> float:
    """The next number that divides into four round steps."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value / 4))
    step = next(each * power for each in (1, 2, 2.5, 5, 10) if each * power * 4 >= value * 0.999999)
    return step * 4


def to_svg(drawn: Picture) -> str:
    """The picture as SVG text. Names are escaped, so that no text of a row becomes markup."""
    size = f'width="{drawn.width}" height="{drawn.height}" viewBox="0 0 {drawn.width} {drawn.height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">',
        f'<rect width="100%" height="100%" fill="{_PAPER}"/>',
        *map(_svg_shape, drawn.shapes),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _svg_shape(shape: _Shape) -> str:
    if isinstance(shape, _Line):
        ends = f'x1="{shape.x1:.1f}" y1="{shape.y1:.1f}" x2="{shape.x2:.1f}" y2="{shape.y2:.1f}"'
        return f'<line {ends} stroke="{shape.colour}" stroke-width="{shape.width:g}"/>'
    if isinstance(shape, _Dot):
        paint = f'fill="none" stroke="{shape.colour}"' if shape.is_hollow else f'fill="{shape.colour}"'
        return f'<circle cx="{shape.x:.1f}" cy="{shape.y:.1f}" r="{shape.radius:g}" {paint} opacity="0.55"/>'
    place = f'x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size}" text-anchor="{shape.anchor}"'
    return f'<text {place} fill="{shape.colour}">{escape(shape.text)}</text>'


def to_png(drawn: Picture) -> bytes:
    """The picture as PNG. Raises `RunError` if Pillow is not installed."""
    try:
        image_module, draw_module, font_module = (
            importlib.import_module(f"PIL.{name}") for name in ("Image", "ImageDraw", "ImageFont")
        )
    except ImportError as error:
        raise RunError(
            "PNG needs Pillow: pip install 'agent-wiki[plot]', or use a file name that ends in .svg"
        ) from error
    image = image_module.new("RGB", (drawn.width * _PNG_SCALE, drawn.height * _PNG_SCALE), _PAPER)
    canvas = draw_module.Draw(image)
    for shape in drawn.shapes:
        _draw(canvas, font_module, shape)
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return stream.getvalue()


def _draw(canvas: Any, fonts: Any, shape: _Shape) -> None:
    scale = _PNG_SCALE
    if isinstance(shape, _Line):
        ends = [shape.x1 * scale, shape.y1 * scale, shape.x2 * scale, shape.y2 * scale]
        canvas.line(ends, fill=shape.colour, width=round(shape.width * scale))
    elif isinstance(shape, _Dot):
        reach = shape.radius * scale
        box = [shape.x * scale - reach, shape.y * scale - reach, shape.x * scale + reach, shape.y * scale + reach]
        canvas.ellipse(box, outline=shape.colour, fill=None if shape.is_hollow else shape.colour)
    else:
        anchor = {"start": "ls", "middle": "ms", "end": "rs"}[shape.anchor]
        place = (shape.x * scale, shape.y * scale)
        font = fonts.load_default(shape.size * scale)
        canvas.text(place, shape.text, fill=shape.colour, font=font, anchor=anchor)
