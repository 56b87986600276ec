"""`Stability`: how often the same rule came back, as a table and a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from gnn2logic._optional import import_optional
from gnn2logic._text import one_line
from gnn2logic.idt.rule_figures import shown_labels
from gnn2logic.learning.rule_groups import RuleFrequency
from gnn2logic.logic.equivalence.space import GRAPH_CLASSES
from gnn2logic.logic.printing.text import to_unicode
from gnn2logic.logic.syntax import Formula, Modal

__all__ = ["Stability"]

# Longer tables and formulas are cut where they are printed.
_ROWS = 8
_SHOWN = 100
_FRAME_COLUMNS = (
    "rule",
    "class",
    "formula",
    "size",
    "modal_depth",
    "count",
    "share",
    "identical",
    "proved",
    "proved_nodes",
    "accuracy",
    "given",
)


@dataclass(frozen=True, eq=False)
class Stability:
    """What `stability` found; printed, it is a table and a sentence.

    Attributes
    ----------
    rules : tuple of RuleFrequency
        Most frequent first. If a fitted estimator was given and no fit came back with its rule,
        that rule is the last one, with a count of 0.
    n_fits : int
        The number of fits.
    agreement : float
        The share of the given graphs (or nodes) that two fits give the same class, in the mean over
        all pairs of fits.
    accuracies : tuple of float
        The accuracy of every fit on the graphs (or nodes) that its bootstrap left out; NaN if it
        left out none.
    conditions : dict
        How many of the fits have each condition, such as ``1(A U0 > 2) > 5`` or its negation, on
        the outside of their rule; most frequent first.
    counts : dict
        How many of the fits compare each count, such as ``1(A U0 > 2)``, with any threshold.
    predicates : dict
        How many of the fits have a predicate, by its name, anywhere in their rule.
    drawn : {"graphs", "nodes"} or None
        What was drawn with replacement; None if only `random_state` differed.
    level : {"graph", "node"}
        What the rules classify.
    n_rows : int
        How many graphs (or nodes) were given.
    graph_class : str
        The graphs of proofs: simple ones, unless the given ones have directions or loops.
    """

    rules: tuple[RuleFrequency, ...]
    n_fits: int
    agreement: float
    accuracies: tuple[float, ...]
    conditions: dict[Formula, int]
    counts: dict[str, int]
    predicates: dict[str, int]
    drawn: Literal["graphs", "nodes"] | None
    level: Literal["graph", "node"]
    n_rows: int
    graph_class: str = "simple"

    @property
    def accuracy_mean(self) -> float:
        """The mean of `accuracies`, of the fits that have one."""
        known = self._known_accuracies()
        return float(known.mean()) if len(known) else float("nan")

    @property
    def accuracy_std(self) -> float:
        """The standard deviation of `accuracies`; NaN for fewer than two."""
        known = self._known_accuracies()
        return float(known.std(ddof=1)) if len(known) > 1 else float("nan")

    def _known_accuracies(self) -> npt.NDArray[np.float64]:
        return np.array([accuracy for accuracy in self.accuracies if not np.isnan(accuracy)])

    @property
    def given(self) -> RuleFrequency | None:
        """The rule of the estimator, if it was fitted when it was given."""
        return next((rule for rule in self.rules if rule.given), None)

    @property
    def summary(self) -> str:
        """How stable the rule is, in words."""
        rule = self.given or self.rules[0]
        what = "the fitted rule" if rule.given else "the most frequent rule"
        times = f"{rule.count} of {self.n_fits} fits"
        if rule.count == self.n_fits:
            said = f"Stable: {what} came back in all {self.n_fits} fits."
        elif rule.count > self.n_fits / 2:
            said = f"Mostly stable: {what} came back in {times}."
        elif rule.given or rule.count > 1:
            said = f"Not stable: {what} came back in {times}."
        else:
            said = f"Not stable: no two of the {self.n_fits} fits gave the same rule."
        if 0 < rule.n_identical < rule.count:
            said += f" {rule.n_identical} of these have this very formula."
        if rule.is_constant:
            said += f" It is constant: it says the same about every {self.level}."
        if rule.count < self.n_fits:
            said += f" Two fits agree on {self.agreement:.1%} of the {self.level}s."
        return said

    def to_records(self) -> list[dict[str, Any]]:
        """Return one plain dict for each rule and class."""
        return [
            {
                "rule": number,
                "class": label,
                "formula": str(formula),
                "size": formula.size,
                "modal_depth": formula.modal_depth,
                "count": rule.count,
                "share": rule.count / self.n_fits,
                "identical": rule.n_identical,
                "proved": rule.n_proved,
                "proved_nodes": rule.proved_nodes,
                "accuracy": rule.accuracy,
                "given": rule.given,
            }
            for number, rule in enumerate(self.rules)
            for label, formula in rule.formulas.items()
        ]

    def to_frame(self) -> Any:
        """Return a ``pandas.DataFrame`` with a row for each rule and class, see `to_records`.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed: nothing else here needs it.
        """
        pandas = import_optional("pandas", extra=None, purpose="Stability as a data frame")
        return pandas.DataFrame(self.to_records(), columns=list(_FRAME_COLUMNS))

    def to_text(self) -> str:
        """Return the table of rules, how often their parts occur, and the summary as text."""
        lines = [self._title(), f"{'':2}{'fits':>4} {'identical':>9} {'proved':>6} {'size':>5}  "]
        lines[-1] += "class: formula"
        for rule in self.rules[:_ROWS]:
            head = (
                f"{'>' if rule.given else ' ':2}{rule.count:>4} {rule.n_identical:>9} "
                f"{rule.n_proved:>6} {rule.size:>5}  "
            )
            for label in shown_labels(rule.formulas):
                text = _cut(str(rule.formulas[label]))
                lines.append(f"{head}{one_line(str(label))}: {text}")
                head = " " * len(head)
        if len(self.rules) > _ROWS:
            lines.append(f"  and {len(self.rules) - _ROWS} more rules")
        lines += self._legend()
        for title, often in self._often().items():
            lines.append(f"fits with each {title}")
            lines += [f"{count:>6}  {_cut(text)}" for text, count in often[:_ROWS]]
            if len(often) > _ROWS:
                lines.append(f"        and {len(often) - _ROWS} more")
        if not np.isnan(self.accuracy_mean):
            lines.append(self._accuracy_words())
        return "\n".join([*lines, self.summary])

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        heads = "".join(
            f"<th>{head}</th>"
            for head in ("", "fits", "identical", "proved", "size", "class", "formula")
        )
        rows = "".join(_html_row(rule) for rule in self.rules[:_ROWS])
        more = [f"{len(self.rules) - _ROWS} more rules."] if len(self.rules) > _ROWS else []
        if not np.isnan(self.accuracy_mean):
            more.append(self._accuracy_words())
        notes = "".join(f"<p>{escape(note)}</p>" for note in [*more, *self._legend()])
        often = "".join(
            f"<details><summary>fits with each {title}</summary><ul>"
            + "".join(f"<li>{count}: <code>{escape(_cut(text))}</code></li>" for text, count in of)
            + "</ul></details>"
            for title, of in self._often().items()
        )
        return (
            f"<div><p>{escape(self._title())}</p><table><thead><tr>{heads}</tr></thead>"
            f"<tbody>{rows}</tbody></table>{notes}{often}<p><b>{escape(self.summary)}</b></p></div>"
        )

    def _title(self) -> str:
        rows = f"{self.n_rows} {self.level}s"
        if self.drawn is None:
            return f"rules of {self.n_fits} fits on the same {rows}, by random_state"
        what = rows if self.drawn == f"{self.level}s" else f"graphs with {rows}"
        return f"rules of {self.n_fits} fits on bootstraps of {what}"

    def _legend(self) -> list[str]:
        lines = [
            f"fits: those whose rule says the same about all {self.n_rows} {self.level}s that were "
            "given; on others they may differ",
            "identical: those with this very formula",
        ]
        bounds = [rule.proved_nodes for rule in self.rules if rule.proved_nodes is not None]
        if bounds:
            lines.append(
                "proved: those with it, or with one that is equal to it on all "
                f"{GRAPH_CLASSES[self.graph_class]} with at most {min(bounds)} nodes"
            )
        else:
            lines.append("proved: those with it; no other formula was proved equal to it")
        if self.given is not None:
            lines.append("> marks the rule of the estimator as it was given")
        return lines

    def _accuracy_words(self) -> str:
        spread = self.accuracy_std
        deviation = "" if np.isnan(spread) else f" (standard deviation {spread:.3f})"
        return (
            f"accuracy on {self.level}s left out of the draw: {self.accuracy_mean:.3f}{deviation}"
        )

    def _often(self) -> dict[str, list[tuple[str, int]]]:
        """Return what is shown of the parts of rules; counts only if thresholds differ."""
        shown = {
            "condition": [(str(condition), count) for condition, count in self.conditions.items()]
        }
        compared = sum(isinstance(condition, Modal) for condition in self.conditions)
        if len(self.counts) < compared:
            shown["count, whatever its threshold"] = list(self.counts.items())
        shown["predicate"] = [(one_line(name), count) for name, count in self.predicates.items()]
        return {title: often for title, often in shown.items() if often}


def _html_row(rule: RuleFrequency) -> str:
    labels = shown_labels(rule.formulas)
    span = f' rowspan="{len(labels)}"'
    mark = '<span title="the rule of the estimator as it was given">&#9654;</span>'
    numbers = (rule.count, rule.n_identical, rule.n_proved, rule.size)
    head = f"<td{span}>{mark if rule.given else ''}</td>"
    head += "".join(f"<td{span}>{number}</td>" for number in numbers)
    rows = []
    for label in labels:
        name, text = escape(one_line(str(label))), escape(_cut(to_unicode(rule.formulas[label])))
        rows.append(f"<tr>{head}<td>{name}</td><td><code>{text}</code></td></tr>")
        head = ""
    return "".join(rows)


def _cut(text: str) -> str:
    line = text.replace("\n", " ")
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 3]}..."
