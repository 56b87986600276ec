"""`report`: what a model has learned, for people to read."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gnn2logic._files import write_atomically
from gnn2logic._optional import import_optional
from gnn2logic._text import visible_json, visible_texts
from gnn2logic._validation import check_whole
from gnn2logic.datasets.dataset import Dataset
from gnn2logic.exceptions import ParameterError
from gnn2logic.multi_target import MultiTargetPredictor
from gnn2logic.reporting.certificates import certificate_entries
from gnn2logic.reporting.examples import model_svg
from gnn2logic.reporting.pages import to_html, to_markdown
from gnn2logic.reporting.subject import ReportLimits, read_subject
from gnn2logic.reporting.summary import summarise
from gnn2logic.reporting.targets import TargetReports, one_of_several

__all__ = ["Report", "report"]

_DEFAULT = ReportLimits()


class Report:
    """The same content as HTML, as Markdown and as plain data.

    Parameters
    ----------
    document : dict
        Everything the report says, ready for JSON.
    picture : str
        The Iterated Decision Tree as SVG; of a scorecard, lines against accuracy.
    """

    def __init__(self, document: dict[str, Any], picture: str) -> None:
        self._document = document
        self._picture = picture

    def to_dict(self) -> dict[str, Any]:
        """Return everything the report says as plain data."""
        return copy.deepcopy(self._document)

    def to_json(self) -> str:
        """Return everything the report says as JSON."""
        text = json.dumps(self._document, ensure_ascii=False, allow_nan=False)
        return visible_json(text) + "\n"

    def to_markdown(self) -> str:
        """Return the report as Markdown, without pictures."""
        return to_markdown(visible_texts(self._document))

    def to_html(self) -> str:
        """Return the report as one page that needs no network and no other file."""
        return to_html(visible_texts(self._document), self._picture)

    def write_html(self, path: str | os.PathLike[str]) -> None:
        """Write the page of `html` to a file."""
        write_atomically(path, _encoded(self.to_html()))

    def write_markdown(self, path: str | os.PathLike[str]) -> None:
        """Write the text of `markdown` to a file."""
        write_atomically(path, _encoded(self.to_markdown()))

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Write the text of `json` to a file."""
        write_atomically(path, _encoded(self.to_json()))

    def __repr__(self) -> str:
        return f"Report({self._document['title']!r}, {len(self._document['examples'])} examples)"


def report(
    model: object,
    graphs: object,
    y: object = None,
    *,
    teacher: object = None,
    title: str | None = None,
    dataset_name: str | None = None,
    class_names: Mapping[Any, object] | Sequence[object] | None = None,
    graph_names: Sequence[object] | None = None,
    mask: object = None,
    certificates: object = None,
    n_examples: int = _DEFAULT.n_examples,
    n_disagreements: int = _DEFAULT.n_differences,
    max_nodes: int | None = None,
    random_state: int = 0,
) -> Any:
    """Report what a model says, how good it is, and where it can be seen on graphs.

    Parameters
    ----------
    model : IDTClassifier, ScorecardClassifier, IDTDistiller, MultiTargetEstimator or the like
        A fitted model: rules or a scorecard, also from a file or from a distiller. Of several
        targets there is one page, on which a target is picked; `y` is a matrix then, in which
        labels may be missing, and `teacher` a network with an output for each target, or a matrix.
    graphs : Dataset, or any graphs that the model reads
        The graphs to measure it on: best some that it has not learned from.
    y : array, optional
        True labels of the graphs, or of all nodes; those of a `Dataset` by default.
    teacher : Teacher, GNNClassifier, torch.nn.Module, model with predict, or array of labels
        The network that was distilled, or what it says about the graphs. Without it nothing here
        needs torch.
    title, dataset_name : str, optional
    class_names : mapping of label to name, or sequence of names, optional
    graph_names : sequence, optional
        What the graphs are called; by default their numbers.
    mask : array of bool, optional
        For models that classify nodes: the nodes to report on.
    certificates : sequence of Certificate, optional
        What `certify` returned about this model and its network, or the ``to_dict()`` of these. The
        report repeats what each proves. Not for several targets: report on ``model[name]``.
    n_examples : int
        How many graphs (or nodes) of each class are shown.
    n_disagreements : int
        How many graphs (or nodes) are shown on which model and teacher differ; without a teacher,
        on which the model is wrong.
    max_nodes : int, optional
        Of larger graphs only so many nodes are drawn; by default 120, or 60 around a node that is
        classified.
    random_state : int
        The seed for the choice of examples and for their layout.

    Returns
    -------
    Report, or TargetReports for several targets
        With ``write_html(path)``, ``write_markdown(path)`` and ``write_json(path)``.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> from gnn2logic.reporting import report
    >>> idt = gl.from_formulas({"busy": "1(A U0 > 2) > 1"}, otherwise="calm", names=["U0", "U1"])
    >>> graphs = gl.random_graphs(20, sizes=6, random_state=0)
    >>> page = report(idt, graphs, title="Busy graphs", n_examples=2)
    >>> page.to_dict()["rules"][0]["words"]
    'more than 1 node has more than 2 neighbours that are U0'
    >>> page.to_html().startswith("<!doctype html>")
    True
    """
    import_optional("jinja2", extra="report", purpose="A report")
    entries = certificate_entries(certificates)
    if isinstance(model, MultiTargetPredictor):
        if entries:
            raise ParameterError(
                "certificates are about the model of one target. Report on that one, model[name]."
            )
        heading, several = one_of_several(
            model, graphs, y, teacher=teacher, mask=mask, title=title, graph_names=graph_names
        )
        shared: dict[str, Any] = {
            "dataset_name": graphs.name if isinstance(graphs, Dataset) else dataset_name,
            "class_names": class_names,
            "n_examples": n_examples,
            "n_disagreements": n_disagreements,
            "max_nodes": max_nodes,
            "random_state": random_state,
        }
        reports = {name: report(**shared, **given) for name, given in several.items()}
        return TargetReports(heading, reports)
    limits = ReportLimits(
        n_examples=check_whole("n_examples", n_examples, least=0),
        n_differences=check_whole("n_disagreements", n_disagreements, least=0),
    )
    if max_nodes is not None:
        limits = replace(limits, max_nodes=check_whole("max_nodes", max_nodes, least=1))
    seed = check_whole("random_state", random_state, least=0)
    subject = read_subject(
        model,
        graphs,
        y,
        teacher=teacher,
        mask=mask,
        title=title,
        dataset_name=dataset_name,
        class_names=class_names,
        graph_names=graph_names,
    )
    if max_nodes is None and subject.level == "node":
        limits = replace(limits, max_nodes=limits.max_nodes // 2)
    document = {**summarise(subject, limits, seed), "certificates": entries}
    return Report(
        document, model_svg(subject.predictor, subject.model_class_names, limits.max_leaves)
    )


def _encoded(text: str) -> bytes:
    # Half of a surrogate pair, as Python makes them of odd names of files, is no character.
    return text.encode("utf-8", errors="replace")
