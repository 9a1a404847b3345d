"""The main table of a result for other programs: Markdown, LaTeX, and JUnit for its gates."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tallystick.results.gates import GateOutcome
from tallystick.results.interval import Interval, clean, to_json
from tallystick.results.numbers import GAP, MINUS, Unit, count, harmless, interval_text, value_text

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    MINUS: "$-$",
    GAP: "--",
    "∞": r"$\infty$",
    "×": r"$\times$",
    "\u00a0": "~",
}


def markdown(rows: Sequence[Mapping[str, Any]], units: Mapping[str, Unit] | None = None) -> str:
    r"""Return *rows* as a Markdown table; names from the data cannot break out of their cell.

    >>> print(markdown([{"model": "a|b", "score": 0.86, "interval": Interval(0.8, 0.9)}]))
    | model | score | interval |
    |---|---:|---:|
    | a\|b | 0.86 | [0.80, 0.90] |
    """
    names, table, numeric = _cells(rows, units or {}, words=_markdown_words)
    if not names:
        return ""
    rule = "|" + "|".join("---:" if right else "---" for right in numeric) + "|"
    head, *body = (f"| {' | '.join(line)} |" for line in (names, *table))
    return "\n".join([head, rule, *body])


def latex(rows: Sequence[Mapping[str, Any]], units: Mapping[str, Unit] | None = None) -> str:
    r"""Return *rows* as a LaTeX ``tabular`` with the rules of the package booktabs.

    >>> print(latex([{"model": "gpt_4", "share": 0.5}]))
    \begin{tabular}{lr}
    \toprule
    model & share \\
    \midrule
    gpt\_4 & 0.5 \\
    \bottomrule
    \end{tabular}
    """
    names, table, numeric = _cells(rows, units or {}, words=_latex_words, figures=_latex_words)
    columns = "".join("r" if right else "l" for right in numeric)
    body = [" & ".join(line) + r" \\" for line in (names, *table)]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{columns}}}",
            r"\toprule",
            body[0],
            r"\midrule",
            *body[1:],
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def html_table(rows: Sequence[Mapping[str, Any]], units: Mapping[str, Unit] | None = None) -> str:
    """Return *rows* as an HTML table for a notebook; names from the data stay text.

    >>> html_table([{"model": "<b>"}])
    '<table><thead><tr><th scope="col">model</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    names, table, _ = _cells(rows, units or {}, words=html.escape, figures=html.escape)
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in table)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def junit(suite: str, gates: Sequence[GateOutcome]) -> str:
    """Return gates as JUnit XML, which every build server reads.

    A gate that fails is a failure. A gate that could not be decided is an error: the build did not
    get an answer.

    >>> outcome = GateOutcome(expression="a > 0.5", passed=True, estimate=0.8, bar=0.5,
    ...     interval=Interval(0.7, 0.9), text="80.0 % [70.0, 90.0]")
    >>> print(junit("compare", [outcome]))
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites>
      <testsuite name="tallystick compare" tests="1" failures="0" errors="0">
        <testcase classname="tallystick.compare" name="a &gt; 0.5">
          <system-out>80.0 % [70.0, 90.0]</system-out>
        </testcase>
      </testsuite>
    </testsuites>
    """
    from xml.sax.saxutils import escape  # brings the standard library's web client: 20 ms

    failures = sum(gate.passed is False for gate in gates)
    errors = sum(gate.passed is None for gate in gates)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        "<testsuites>",
        f'  <testsuite name={_attribute(f"tallystick {suite}")} tests="{len(gates)}"'
        f' failures="{failures}" errors="{errors}">',
    ]

    for gate in gates:
        where = _attribute(f"tallystick.{suite}")
        lines.append(f"    <testcase classname={where} name={_attribute(gate.expression)}>")
        if gate.passed is not True:
            tag = "failure" if gate.passed is False else "error"
            message = _attribute(f"gate {gate.word}: {gate.text}")
            lines.append(f'      <{tag} type="{gate.word}" message={message}/>')
        lines.append(f"      <system-out>{escape(harmless(gate.text))}</system-out>")
        lines.append("    </testcase>")
    return "\n".join([*lines, "  </testsuite>", "</testsuites>"])


def _cells(
    rows: Sequence[Mapping[str, Any]],
    units: Mapping[str, Unit],
    *,
    words: Callable[[str], str],
    figures: Callable[[str], str] = str,
) -> tuple[list[str], list[list[str]], list[bool]]:
    """Return names, cells as text, and which columns hold numbers only.

    Text from the data is escaped by *words*; numbers, which are ours, by *figures*.
    """
    names = list(dict.fromkeys(name for row in rows for name in row))
    raw = [[_plain(row.get(name)) for name in names] for row in rows]
    numeric = [
        all(
            value is None or isinstance(value, int | float | Interval)
            for value in column
            if not isinstance(value, bool)
        )
        for column in zip(*raw, strict=True)
    ]
    measured: list[Unit] = []
    for name in names:
        # An interval is measured like the estimate that it follows.
        before: Unit = measured[-1] if measured and name.endswith("interval") else "number"
        measured.append(units.get(name, before))
    table = [
        [
            words(harmless(value)) if isinstance(value, str) else figures(_figure(value, unit))
            for unit, value in zip(measured, line, strict=True)
        ]
        for line in raw
    ]
    return [words(harmless(name.replace("_", " "))) for name in names], table, numeric


def _plain(value: Any) -> Any:
    """Keep an interval; anything else becomes a JSON value, and what is nested becomes text."""
    if isinstance(value, Interval):
        return value
    cleaned = clean(value, "", {})
    return to_json(cleaned) if isinstance(cleaned, dict | list) else cleaned


def _figure(value: Any, unit: Unit) -> str:
    if value is None:
        return GAP
    if isinstance(value, Interval):
        return interval_text(value, unit)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return count(value) if isinstance(value, int) else value_text(value, unit)


def _markdown_words(text: str) -> str:
    # "|" would open the next cell, "<" a tag, and the others emphasis, code, a link or an escape.
    plain = text.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_\[\]|])", r"\\\1", plain)


def _latex_words(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


def _attribute(text: str) -> str:
    from xml.sax.saxutils import quoteattr

    return quoteattr(harmless(text))
