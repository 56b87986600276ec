"""Every error and warning that gnn2logic raises on purpose.

Each error is also the builtin that callers expect (``ValueError``, ``TypeError``, ``ImportError``
or ``RuntimeError``), so ``except ValueError`` keeps working for people who never heard of this
module.
"""

__all__ = [
    "ActivationError",
    "BatchDependenceWarning",
    "BeyondC2Warning",
    "CheckpointError",
    "DataSetError",
    "DownloadError",
    "EngineError",
    "EquivalenceError",
    "FeatureError",
    "FormulaError",
    "FormulaSyntaxError",
    "Gnn2LogicError",
    "GraphError",
    "HiddenInputWarning",
    "InterruptedSearchWarning",
    "LabelError",
    "LongRuleWarning",
    "MissingDependencyError",
    "ModelFileError",
    "ParameterError",
    "SimplificationError",
    "SingleClassWarning",
    "StoreError",
    "TeacherError",
    "TeacherWarning",
    "TranslationError",
    "UndertrainedWarning",
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


class TeacherError(Gnn2LogicError, ValueError):
    """A teacher network cannot be called on the graphs, or its output cannot be read as classes."""


class DataSetError(Gnn2LogicError, ValueError):
    """A data set is not known, or its files are not what they should be."""


class DownloadError(DataSetError):
    """A data set could not be downloaded, or what came is not what it should be."""


class ModelFileError(Gnn2LogicError, ValueError):
    """A file is not a model that can be read."""


class CheckpointError(Gnn2LogicError, ValueError):
    """A checkpoint cannot be read, or belongs to another fit."""


class StoreError(Gnn2LogicError, ValueError):
    """A folder is not a shard store that can be read, or cannot become one."""


class EngineError(Gnn2LogicError, RuntimeError):
    """A cluster that was to do the work is gone, or cannot do it."""


class MissingDependencyError(Gnn2LogicError, ImportError):
    """An optional dependency is needed and not installed."""


class SingleClassWarning(UserWarning):
    """All training labels are the same, so the model is constant."""


class UndertrainedWarning(UserWarning):
    """A network is no better than saying the most frequent class of all graphs or nodes."""


class LongRuleWarning(UserWarning):
    """A rule is longer than was wished for, because shorter ones are worse."""


class InterruptedSearchWarning(UserWarning):
    """The user has interrupted a search; the model is the best that was found until then."""


class UnseenCategoryWarning(UserWarning):
    """A categorical column has a value that was not in the training graphs."""


class BeyondC2Warning(UserWarning):
    """A formula speaks of the structure of graphs, which two-variable logic cannot define."""


class TeacherWarning(UserWarning):
    """A teacher network behaves in a way that an Iterated Decision Tree cannot follow."""


class BatchDependenceWarning(TeacherWarning):
    """The answer of a teacher for a graph depends on the other graphs in its mini-batch."""


class HiddenInputWarning(TeacherWarning):
    """A teacher reads something of the graphs that an Iterated Decision Tree cannot see."""
