"""Formulas of the pages as MathML: `$...$` within a line, `$$...$$` for a block. Browsers typeset MathML without scripts and fonts."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert as mathml
from markdown import Markdown
from markdown.blockprocessors import BlockProcessor
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

BAR = re.compile(r"<mo\b[^>]*>(?=(?:\||&#x0*7C;|&#x02223;)</mo>)")


def convert(formula: str, display: str = "inline") -> str:
    """MathML of a formula; bars around a number stand as close to it as brackets do."""
    return BAR.sub('<mo stretchy="false" lspace="0" rspace="0">', mathml(formula, display=display))


class Inline(InlineProcessor):
    """`$x$`, neither beside a blank inside nor beside a digit after it, so that prices and shells stay text."""

    def handleMatch(self, m: re.Match[str], data: str) -> tuple[str, int, int]:  # noqa: ARG002
        """Stash the formula as MathML, which no other pattern touches."""
        return self.md.htmlStash.store(convert(m[1])), m.start(), m.end()


class Block(BlockProcessor):
    """A paragraph that begins and ends with `$$`."""

    def test(self, parent: Element, block: str) -> bool:  # noqa: ARG002
        """Whether the block is a formula."""
        return block.startswith("$$") and block.rstrip().endswith("$$") and len(block) > 4

    def run(self, parent: Element, blocks: list[str]) -> None:
        """Put the formula into a paragraph of its own, which scrolls where it is too wide."""
        formula = blocks.pop(0).strip()[2:-2].strip()
        paragraph = Element("div", {"class": "formula", "tabindex": "0", "role": "math"})
        paragraph.text = self.parser.md.htmlStash.store(convert(formula, display="block"))
        parent.append(paragraph)


class Formulas(Extension):
    """The extension of Python-Markdown."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Register both processors: after code spans, before emphasis."""
        md.inlinePatterns.register(Inline(r"(?<![\\$])\$(?!\s)([^$\n]+?)(?<![\s\\])\$(?![\d$])", md), "formula", 185)
        md.parser.blockprocessors.register(Block(md.parser), "formula", 75)


def makeExtension(**options: object) -> Formulas:
    """The entry point that Python-Markdown looks for."""
    return Formulas(**options)
