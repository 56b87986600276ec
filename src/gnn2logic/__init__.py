"""Distil graph neural networks into logic that people can read, check and run.

Everything that users need can be imported from here. Parts are loaded when they are first used, so
``import gnn2logic`` is quick and works without the optional dependencies.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gnn2logic._version import __version__

if TYPE_CHECKING:
    from gnn2logic.certification import Certificate, certify
    from gnn2logic.distillation import (
        IDTDistiller,
        ScorecardDistiller,
        Teacher,
        as_teacher,
        capture,
        disagreements,
        distill,
        fidelity,
        find_disagreements,
    )
    from gnn2logic.explanation import (
        Explanation,
        ModelDifference,
        Recourse,
        diff,
        explain,
        recourse,
        witnesses,
    )
    from gnn2logic.explanation.pyg import IDTExplainer
    from gnn2logic.graphs import (
        GraphBatch,
        Modality,
        PredicateEncoder,
        as_batch,
        from_adjacency,
        from_edges,
        from_networkx,
        from_pyg,
        link_graphs,
        random_graphs,
        structure,
        to_hetero_data,
        to_networkx,
        to_pyg,
    )
    from gnn2logic.idt import IDTPredictor
    from gnn2logic.idt.export import export_dot, export_text, export_tikz
    from gnn2logic.idt.from_formulas import from_formulas
    from gnn2logic.learning import (
        IDTClassifier,
        IDTNodeClassifier,
        IDTNodeRegressor,
        IDTRegressor,
        MultiTargetEstimator,
        ScorecardClassifier,
        ScorecardNodeClassifier,
        ScorecardNodeRegressor,
        ScorecardRegressor,
        Stability,
        stability,
    )
    from gnn2logic.logic import (
        ALL,
        FALSE,
        TRUE,
        A,
        Formula,
        I,
        disjoint,
        equivalent,
        evaluate,
        find_model,
        from_c2,
        from_json,
        implies,
        parse,
        parse_c2,
        predicate,
        simplify,
        to_c2,
        to_json,
    )
    from gnn2logic.logic.export import CypherNames, SqlTables
    from gnn2logic.models import to_gnn
    from gnn2logic.multi_target import MultiTargetPredictor
    from gnn2logic.plotting import (
        plot_card_path,
        plot_confusion,
        plot_explanation,
        plot_fidelity,
        plot_graph,
        plot_graphs,
        plot_idt,
        plot_rules,
        plot_scorecard,
        plot_tree,
    )
    from gnn2logic.reporting import Report, report
    from gnn2logic.saved_models import load
    from gnn2logic.scorecards import ScorecardPredictor
    from gnn2logic.storage import ShardStore, open_shards, write_shards

__all__ = [
    "ALL",
    "FALSE",
    "TRUE",
    "A",
    "Certificate",
    "CypherNames",
    "Explanation",
    "Formula",
    "GraphBatch",
    "I",
    "IDTClassifier",
    "IDTDistiller",
    "IDTExplainer",
    "IDTNodeClassifier",
    "IDTNodeRegressor",
    "IDTPredictor",
    "IDTRegressor",
    "Modality",
    "ModelDifference",
    "MultiTargetEstimator",
    "MultiTargetPredictor",
    "PredicateEncoder",
    "Recourse",
    "Report",
    "ScorecardClassifier",
    "ScorecardDistiller",
    "ScorecardNodeClassifier",
    "ScorecardNodeRegressor",
    "ScorecardPredictor",
    "ScorecardRegressor",
    "ShardStore",
    "SqlTables",
    "Stability",
    "Teacher",
    "__version__",
    "as_batch",
    "as_teacher",
    "capture",
    "certify",
    "diff",
    "disagreements",
    "disjoint",
    "distill",
    "equivalent",
    "evaluate",
    "explain",
    "export_dot",
    "export_text",
    "export_tikz",
    "fidelity",
    "find_disagreements",
    "find_model",
    "from_adjacency",
    "from_c2",
    "from_edges",
    "from_formulas",
    "from_json",
    "from_networkx",
    "from_pyg",
    "implies",
    "link_graphs",
    "load",
    "open_shards",
    "parse",
    "parse_c2",
    "plot_card_path",
    "plot_confusion",
    "plot_explanation",
    "plot_fidelity",
    "plot_graph",
    "plot_graphs",
    "plot_idt",
    "plot_rules",
    "plot_scorecard",
    "plot_tree",
    "predicate",
    "random_graphs",
    "recourse",
    "report",
    "simplify",
    "stability",
    "structure",
    "to_c2",
    "to_gnn",
    "to_hetero_data",
    "to_json",
    "to_networkx",
    "to_pyg",
    "witnesses",
    "write_shards",
]

# Where the public names live; those not listed come from the logic.
_HOMES = {
    "gnn2logic.certification": ("Certificate", "certify"),
    "gnn2logic.distillation": (
        "IDTDistiller",
        "ScorecardDistiller",
        "Teacher",
        "as_teacher",
        "capture",
        "disagreements",
        "distill",
        "fidelity",
        "find_disagreements",
    ),
    "gnn2logic.explanation": (
        "Explanation",
        "ModelDifference",
        "Recourse",
        "diff",
        "explain",
        "recourse",
        "witnesses",
    ),
    "gnn2logic.explanation.pyg": ("IDTExplainer",),
    "gnn2logic.graphs": (
        "GraphBatch",
        "Modality",
        "PredicateEncoder",
        "as_batch",
        "from_adjacency",
        "from_edges",
        "from_networkx",
        "from_pyg",
        "link_graphs",
        "random_graphs",
        "structure",
        "to_hetero_data",
        "to_networkx",
        "to_pyg",
    ),
    "gnn2logic.idt": ("IDTPredictor",),
    "gnn2logic.idt.export": ("export_dot", "export_text", "export_tikz"),
    "gnn2logic.idt.from_formulas": ("from_formulas",),
    "gnn2logic.learning": (
        "IDTClassifier",
        "IDTNodeClassifier",
        "IDTNodeRegressor",
        "IDTRegressor",
        "MultiTargetEstimator",
        "ScorecardClassifier",
        "ScorecardNodeClassifier",
        "ScorecardNodeRegressor",
        "ScorecardRegressor",
        "Stability",
        "stability",
    ),
    "gnn2logic.logic.export": ("CypherNames", "SqlTables"),
    "gnn2logic.models": ("to_gnn",),
    "gnn2logic.multi_target": ("MultiTargetPredictor",),
    "gnn2logic.plotting": (
        "plot_card_path",
        "plot_confusion",
        "plot_explanation",
        "plot_fidelity",
        "plot_graph",
        "plot_graphs",
        "plot_idt",
        "plot_rules",
        "plot_scorecard",
        "plot_tree",
    ),
    "gnn2logic.reporting": ("Report", "report"),
    "gnn2logic.saved_models": ("load",),
    "gnn2logic.scorecards": ("ScorecardPredictor",),
    "gnn2logic.storage": ("ShardStore", "open_shards", "write_shards"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_PARTS = (
    "certification",
    "chem",
    "datasets",
    "distillation",
    "exceptions",
    "experiments",
    "explanation",
    "graphs",
    "idt",
    "learning",
    "logic",
    "models",
    "multi_target",
    "plotting",
    "reporting",
    "scorecards",
    "storage",
    "testing",
)


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return importlib.import_module(f"gnn2logic.{name}")
    if name in __all__:
        home = _HOME_OF.get(name, "gnn2logic.logic")
        return getattr(importlib.import_module(home), name)
    raise AttributeError(f"module 'gnn2logic' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PARTS})
