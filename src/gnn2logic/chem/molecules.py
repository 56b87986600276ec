"""Molecules as graphs: SMILES, SDF and mol files, and molecules of RDKit."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._optional import import_optional
from gnn2logic._progress import Progress
from gnn2logic._validation import check_choice
from gnn2logic.chem.columns import column_texts
from gnn2logic.chem.rdkit_log import logs_blocked, mistake_in
from gnn2logic.chem.vocabulary import (
    BONDS,
    CHARGES,
    HYBRIDISATIONS,
    METALS,
    RING_SIZES,
    STEREO,
    atom_names,
)
from gnn2logic.exceptions import DataSetError, GraphError, ParameterError, UnsupportedInputError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.graphs.inputs import boundaries, structure
from gnn2logic.logic.printing.molecule_names import ELEMENTS, HYDROGENS

__all__ = [
    "Molecules",
    "Problem",
    "from_mols",
    "from_sdf",
    "from_smiles",
    "rdkit_chem",
]

_MOST_SHOWN = 5


def rdkit_chem(purpose: str) -> Any:
    """Return ``rdkit.Chem``, or say which extra brings it."""
    return import_optional("rdkit.Chem", extra="chem", purpose=purpose)


@dataclass(frozen=True)
class Problem:
    """A row that could not be read: its number, what it holds, and why not."""

    row: int
    text: str
    reason: str

    def __str__(self) -> str:
        return f"row {self.row} ({self.text!r}): {self.reason}"


@dataclass(frozen=True, eq=False)
class Molecules:
    """Molecules as graphs, with what they were made of.

    They can be given wherever graphs can be given: one after another they are their graphs.

    Parameters
    ----------
    graphs : GraphBatch
        One graph for each molecule that could be read. Nodes are atoms in RDKit's order.
    mols : tuple of rdkit.Chem.Mol
        The molecules, as the graphs were read from them.
    rows : array of int
        For each of them the row of the input that it comes from: ``y[molecules.rows]`` are the
        labels that go with the graphs.
    problems : tuple of Problem
        The rows that were left out, with the reason.
    """

    graphs: GraphBatch
    mols: tuple[Any, ...]
    rows: npt.NDArray[np.int64]
    problems: tuple[Problem, ...] = ()

    def __len__(self) -> int:
        return len(self.mols)

    def __graph_batch__(self) -> GraphBatch:
        """Return the graphs to whoever reads graphs."""
        return self.graphs

    def __iter__(self) -> Iterator[GraphBatch]:
        return iter(self.graphs)

    def __getitem__(self, key: Any) -> GraphBatch:
        """Return the graph of one molecule, or those of several: by number, slice or mask."""
        return self.graphs[key]

    @property
    def smiles(self) -> list[str]:
        """The canonical SMILES of every molecule."""
        to_smiles = rdkit_chem("Molecules.smiles").MolToSmiles
        return [to_smiles(mol) for mol in self.mols]

    def __repr__(self) -> str:
        left_out = f", {len(self.problems)} left out" if self.problems else ""
        return f"<{len(self)} molecules, {self.graphs.n_nodes} atoms{left_out}>"


def from_smiles(
    smiles: Any,
    *,
    column: str | None = None,
    errors: str = "raise",
    explicit_hydrogens: bool = False,
    stereo: bool = False,
    verbose: int | None = None,
) -> Molecules:
    """Read molecules from SMILES.

    Atoms are nodes. Their predicates have the names that people say: the element (``carbon``,
    ``nitrogen``, ..., ``metal``, ``other element``), ``aromatic``, ``charge=-1`` and ``charge=+1``,
    ``sp``, ``sp2``, ``sp3``, the number of hydrogens (``hydrogens=0`` to ``hydrogens=4``), and the
    sizes of its rings (``ring=3`` to ``ring=8``, as RDKit's ring information has them). Bonds are
    the relations ``single``, ``double``, ``triple`` and ``aromatic``; bonds of other types are in
    none of these. Names are the same for all molecules, whatever is in them.

    Parameters
    ----------
    smiles : sequence of str, pandas Series, pandas DataFrame, or path of a CSV file
        The last two need `column`. Cells without a value (None, NaN) are rows that cannot be read.
    column : str, optional
        The column that holds the SMILES.
    errors : {"raise", "skip"}, default="raise"
        What to do about rows that RDKit cannot read. ``"raise"`` names them in one error;
        ``"skip"`` leaves them out, and lists them in ``problems``.
    explicit_hydrogens : bool, default=False
        Whether hydrogen atoms are nodes. By default they are only counted, at their neighbours.
    stereo : bool, default=False
        Whether there are predicates ``chiral=R`` and ``chiral=S``, the CIP labels of atoms.
    verbose : int, optional
        1 shows progress, 0 shows nothing.

    Returns
    -------
    Molecules

    Examples
    --------
    >>> import gnn2logic as gl
    >>> molecules = gl.chem.from_smiles(["CC(=O)O", "c1ccccc1"])
    >>> molecules
    <2 molecules, 10 atoms>
    >>> acid = gl.parse("1(carbon & A[double] oxygen > 0 & A[single](hydrogens=1) > 0) > 0")
    >>> acid.evaluate(molecules.graphs)
    array([ True, False])
    """
    texts = column_texts(smiles, column)
    parse = _smiles_parser()
    return _read(
        texts,
        parse,
        errors=errors,
        explicit_hydrogens=explicit_hydrogens,
        stereo=stereo,
        verbose=verbose,
    )


def from_sdf(
    path: str | os.PathLike[str],
    *,
    errors: str = "raise",
    explicit_hydrogens: bool = False,
    stereo: bool = False,
    verbose: int | None = None,
) -> Molecules:
    """Read molecules from an SDF file, or one from a mol file; parameters as in `from_smiles`.

    Properties stay with the molecules: ``[mol.GetProp("active") for mol in molecules.mols]``.
    """
    chem = rdkit_chem("from_sdf")
    source = Path(path)
    if not source.is_file():
        raise DataSetError(f"path must name an SDF or mol file. Got {os.fspath(path)!r} instead.")
    if source.suffix.lower() == ".mol":
        blocks = [source.read_text(encoding="utf-8", errors="replace")]
    else:
        supplier = chem.SDMolSupplier()
        supplier.SetData(source.read_text(encoding="utf-8", errors="replace"))
        blocks = [supplier.GetItemText(number) for number in range(len(supplier))]

    def syntax(block: str) -> Any:
        # Unlike MolFromMolBlock, it reads the properties below the atoms and bonds.
        one = chem.SDMolSupplier()
        one.SetData(block, sanitize=False, removeHs=False)
        return next(iter(one), None)

    return _read(
        blocks,
        _parser(syntax),
        errors=errors,
        explicit_hydrogens=explicit_hydrogens,
        stereo=stereo,
        verbose=verbose,
    )


def from_mols(
    mols: Iterable[Any], *, explicit_hydrogens: bool = False, stereo: bool = False
) -> Molecules:
    """Read molecules of RDKit; parameters as in `from_smiles`. They are not changed.

    Hydrogens that are atoms of a molecule are nodes, whatever `explicit_hydrogens` says.
    """
    chem = rdkit_chem("from_mols")
    if not isinstance(mols, Iterable):
        raise UnsupportedInputError(
            f"mols must be a list of molecules of RDKit. Got {type(mols).__name__} instead."
        )
    given = list(mols)
    for number, mol in enumerate(given):
        if not isinstance(mol, chem.Mol):
            raise UnsupportedInputError(
                f"mols must hold molecules of RDKit. Got {type(mol).__name__} at position {number}."
            )
        if _is_unfinished(mol):
            raise UnsupportedInputError(
                "mols must hold molecules that are sanitized, and no patterns. The one at position "
                f"{number} is not; use Chem.SanitizeMol(mol)."
            )
    return _molecules(
        [_with_hydrogens(chem, chem.Mol(mol), explicit_hydrogens) for mol in given],
        range(len(given)),
        (),
        stereo=stereo,
    )


def _is_unfinished(mol: Any) -> bool:
    # Sanitized atoms have a hybridisation, but for those that stand for any element.
    return bool(mol.NeedsUpdatePropertyCache()) or any(
        str(atom.GetHybridization()) == "UNSPECIFIED" and atom.GetAtomicNum()
        for atom in mol.GetAtoms()
    )


# Rows ----------------------------------------------------------------------------------------


Parser = Callable[[str], Any]


def _smiles_parser() -> Parser:
    chem = rdkit_chem("from_smiles")
    settings = chem.SmilesParserParams()
    settings.sanitize = False

    def syntax(text: str) -> Any:
        if re.search(r"[\x00-\x08\n-\x1f]", text.strip()):
            # RDKit would read what stands before it, and say nothing.
            raise ValueError("it has a line break, or another sign that cannot be seen")
        return chem.MolFromSmiles(text, settings)

    return _parser(syntax)


def _parser(syntax: Parser) -> Parser:
    """Return a function that reads one text, or raises a ValueError that says why not."""
    chem = rdkit_chem("Reading molecules")

    def parse(text: str) -> Any:
        if not text.strip():
            raise ValueError("it is empty")
        mol = syntax(text)
        if mol is None:
            raise ValueError(mistake_in(text, syntax))
        problems = chem.DetectChemistryProblems(mol)
        if problems:
            raise ValueError(problems[0].Message())
        chem.SanitizeMol(mol)
        mol = chem.RemoveHs(mol)
        if not mol.GetNumAtoms():
            raise ValueError("it has no atoms")
        chem.AssignStereochemistry(mol, cleanIt=True)
        return mol

    return parse


def _read(
    texts: Sequence[str],
    parse: Parser,
    *,
    errors: str,
    explicit_hydrogens: bool,
    stereo: bool,
    verbose: int | None,
) -> Molecules:
    check_choice("errors", errors, ("raise", "skip"), error=ParameterError)
    chem = rdkit_chem("Reading molecules")
    mols, rows, problems = [], [], []
    # RDKit writes to the terminal what is said here, row by row.
    with logs_blocked(), Progress("molecules", len(texts), verbose=verbose) as progress:
        for row, text in enumerate(texts):
            try:
                mols.append(_with_hydrogens(chem, parse(text), explicit_hydrogens))
                rows.append(row)
            except ValueError as error:
                problems.append(Problem(row, text.splitlines()[0] if text else "", str(error)))
            progress.step("read")
    if problems and errors == "raise":
        raise DataSetError(_problem_text(problems, len(texts)))
    if not mols:
        raise GraphError(
            f"At least one molecule is needed. Got {len(texts)} rows, none of which can be read"
            + (f": {problems[0]}." if problems else ".")
        )
    return _molecules(mols, rows, tuple(problems), stereo=stereo)


def _problem_text(problems: list[Problem], n_rows: int) -> str:
    shown = "; ".join(map(str, problems[:_MOST_SHOWN]))
    more = f"; and {len(problems) - _MOST_SHOWN} more" if len(problems) > _MOST_SHOWN else ""
    return (
        f"All {n_rows} rows must be molecules. {len(problems)} cannot be read: {shown}{more}. "
        "Leave them out with errors='skip'."
    )


def _with_hydrogens(chem: Any, mol: Any, explicit: bool) -> Any:
    return chem.AddHs(mol) if explicit else mol


# Atoms and bonds -----------------------------------------------------------------------------


def _molecules(
    mols: Sequence[Any], rows: Iterable[int], problems: tuple[Problem, ...], *, stereo: bool
) -> Molecules:
    ptr = boundaries([mol.GetNumAtoms() for mol in mols])
    names = atom_names(stereo=stereo)
    number = {name: position for position, name in enumerate(names)}
    predicates = np.zeros((int(ptr[-1]), len(names)), dtype=bool)
    bonds: list[tuple[int, int]] = []
    bond_types: list[str] = []
    for start, mol in zip(ptr[:-1].tolist(), mols, strict=True):
        for row, atom in enumerate(mol.GetAtoms(), start=start):
            predicates[row, [number[name] for name in _true_of(atom, stereo)]] = True
        for bond in mol.GetBonds():
            bonds.append((start + bond.GetBeginAtomIdx(), start + bond.GetEndAtomIdx()))
            bond_types.append(str(bond.GetBondType()).lower())
    pairs = np.array(bonds, dtype=np.int64).reshape(-1, 2)
    sources, targets = np.concatenate([pairs, pairs[:, ::-1]]).T
    both = np.array(bond_types * 2, dtype=object)
    relations = {name: np.flatnonzero(both == name) for name in BONDS}
    graphs = structure(ptr, sources, targets, relations).with_predicates(predicates, names)
    return Molecules(graphs, tuple(mols), np.array(list(rows), dtype=np.int64), problems)


_NAMES = {number: name for name, (_, number) in ELEMENTS.items()}


def _true_of(atom: Any, stereo: bool) -> Iterator[str]:
    """Yield the predicates of one atom."""
    number = atom.GetAtomicNum()
    yield _NAMES.get(number) or ("metal" if number in METALS else "other element")
    if atom.GetIsAromatic():
        yield "aromatic"
    if atom.GetFormalCharge() in CHARGES:
        yield f"charge={atom.GetFormalCharge():+d}"
    hybridisation = str(atom.GetHybridization()).lower()
    if hybridisation in HYBRIDISATIONS:
        yield hybridisation
    hydrogens = atom.GetTotalNumHs(includeNeighbors=True)
    if hydrogens in HYDROGENS:
        yield f"hydrogens={hydrogens}"
    yield from (f"ring={size}" for size in RING_SIZES if atom.IsInRingSize(size))
    if stereo and atom.HasProp("_CIPCode"):
        yield from (name for name in STEREO if name == f"chiral={atom.GetProp('_CIPCode')}")
