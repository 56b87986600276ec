"""Every error and warning that gnn2logic raises on purpose.

Each error is also the builtin that callers expect (``ValueError``, ``TypeError`` or
``ImportError``), so ``except ValueError`` keeps working for people who never heard of this module.
"""

__all__ = [
    "ActivationError",
    "EquivalenceError",
    "FeatureError",
    "FormulaError",
    "FormulaSyntaxError",
    "Gnn2LogicError",
    "GraphError",
    "LabelError",
    "MissingDependencyError",
    "ModelFileError",
    "ParameterError",
    "SimplificationError",
    "SingleClassWarning",
    "TranslationError",
    "UnknownPredicateError",
    "UnknownRelationError",
    "UnseenCategoryWarning",
    "UnsupportedInputError",
]


class Gnn2LogicError(Exception):
    """Base class of all errors of this package."""


class GraphError(Gnn2LogicError, ValueError):
    """The structure of a graph is not valid: sizes, edges, boundaries."""


class FeatureError(Gnn2LogicError, ValueError):
    """The features of a graph are not valid: widths, names, values."""


class UnsupportedInputError(Gnn2LogicError, TypeError):
    """An object was given that cannot be read as what was expected."""


class FormulaError(Gnn2LogicError, ValueError):
    """A formula cannot be built or read from the given parts."""


class FormulaSyntaxError(FormulaError):
    """A text is not a formula; the message shows where and what was expected."""


class UnknownPredicateError(FormulaError):
    """A formula names a predicate that the graphs do not have."""


class UnknownRelationError(FormulaError):
    """A formula names an edge relation that the graphs do not have."""


class TranslationError(FormulaError):
    """A formula has no counterpart in the other logic."""


class SimplificationError(Gnn2LogicError, ValueError):
    """A simplified formula was found to differ from the original; it is never returned."""


class EquivalenceError(Gnn2LogicError, ValueError):
    """An equivalence check was asked for more than it can do."""


class ParameterError(Gnn2LogicError, ValueError):
    """A hyper-parameter has a value that makes no sense."""


class LabelError(Gnn2LogicError, ValueError):
    """Labels or weights do not fit the graphs."""


class ActivationError(Gnn2LogicError, ValueError):
    """Node representations of a teacher do not fit the graphs."""


class ModelFileError(Gnn2LogicError, ValueError):
    """A file is not a model that can be read."""


class MissingDependencyError(Gnn2LogicError, ImportError):
    """An optional dependency is needed and not installed."""


class SingleClassWarning(UserWarning):
    """All training labels are the same, so the model is constant."""


class UnseenCategoryWarning(UserWarning):
    """A categorical column has a value that was not in the training graphs."""
