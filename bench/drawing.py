"""What the pictures of measurements share: bench/sizes_figure.py and its neighbours draw SVG with it.

A picture is a list of elements as text, which are written as they are: the same measurements give the same bytes, so
that a test sees a picture that was not drawn again.
"""
import argparse
import html
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
BLUE, BROWN, GREY, LIGHT = "#1f6fb4", "#b35c1e", "#9aa5b1", "#dfe4e9"

STYLE = """text { font-family: "DejaVu Sans", "Liberation Sans", Arial, sans-serif; font-size: 12px; fill: #1f2937 }
    .small { font-size: 11px; fill: #52606d } .title { font-size: 14px; font-weight: bold } .times { font-weight: bold }"""


class LogAxis:
    """From `least` at the coordinate `start` to `greatest` at `end`; upwards where end is less than start."""

    def __init__(self, least, greatest, start, end):
        self.least, self.greatest, self.start, self.end = least, greatest, start, end

    def place(self, value):
        return self.start + (self.end - self.start) * math.log(value / self.least) / math.log(self.greatest / self.least)


def text(x, y, words, style="", anchor=""):
    style, anchor = style and f'class="{style}" ', anchor and f' text-anchor="{anchor}"'
    return f'  <text {style}x="{x}" y="{y}"{anchor}>{html.escape(words, quote=False)}</text>'


def line(path, colour, width=1):
    width = "" if width == 1 else f' stroke-width="{width}"'
    return f'  <path d="{path}" stroke="{colour}"{width}/>'


def circle(x, y, radius, colour):
    return f'  <circle cx="{x}" cy="{y}" r="{radius}" fill="{colour}"/>'


def dots(points, width, colour):
    """Many of one kind, each "x,y": far fewer bytes than circles."""
    path = " ".join(f"M{point}h0" for point in points)
    return f'  <path d="{path}" stroke="{colour}" stroke-width="{width}" stroke-linecap="round"/>'


def picture(width, height, seen, title, elements):
    """The whole file; `seen` is what somebody reads who cannot see it."""
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img"',
        f'     aria-label="{seen}">', f"  <style>\n    {STYLE}\n  </style>",
        f'  <rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" fill="#fafbfc" stroke="#d5dbe1"/>',
        text(20, 28, title, "title"), *elements, "</svg>", ""])


def words_of(description):
    """The command line that every picture has: --check."""
    words = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--check", action="store_true")
    return words


def put(figure, drawn, source, check):
    """Writes the picture; or fails, where it is only looked at and is not what its source gives."""
    path, program = ROOT / "docs/figures" / figure, pathlib.Path(sys.argv[0]).name
    if not check:
        path.write_text(drawn)
    elif not path.exists() or path.read_text() != drawn:
        sys.exit(f"docs/figures/{figure} is not what {source} gives: run bench/{program}")
