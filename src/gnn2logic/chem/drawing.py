"""Graphs of molecules as RDKit draws them: structures, coordinates and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn2logic._optional import import_optional
from gnn2logic._validation import check_whole
from gnn2logic.chem.vocabulary import BONDS, atom_symbols, with_everyday_names
from gnn2logic.exceptions import GraphError, MissingDependencyError, ParameterError
from gnn2logic.graphs.batch import GraphBatch
from gnn2logic.logic.printing.molecule_names import HYDROGENS

__all__ = ["Drawing", "draw", "drawing_if_molecule", "flat_coordinates", "to_mol"]

_PURPOSE = "Drawing molecules"
# The length of a bond in RDKit's drawings.
_BOND = 1.5
# Orange and its tint: seen by all, also next to the colours of elements.
_HIGHLIGHT = (0.96, 0.71, 0.35)


@dataclass(frozen=True, repr=False)
class Drawing:
    """A picture of a molecule; notebooks show it."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Drawing, {len(self.svg):,} characters of SVG>"


def to_mol(graph: GraphBatch) -> Any:
    """Return one graph of a molecule as a molecule of RDKit, with its atoms in the same order.

    Elements come from predicates such as ``carbon`` or ``symbol=C``, bonds from the relations
    ``single``, ``double``, ``triple`` and ``aromatic``, or ``valence=1`` to ``valence=3``; bonds
    without one are single. Charges and hydrogens are taken where `from_smiles` or `named_pyg` has
    noted them. Where they have not, as in the TU collection, hydrogens fill what bonds leave, and
    nitrogen with four bonds is charged, as in a nitro group; where nothing is known of bonds
    either, there are no hydrogens. It is made to be drawn: whether atoms have a usual valence is
    not checked.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> mol = to_mol(gl.chem.from_smiles(["CC(=O)[O-]"]).graphs)
    >>> from rdkit import Chem
    >>> Chem.MolToSmiles(mol)
    'CC(=O)[O-]'
    """
    chem = import_optional("rdkit.Chem", extra="chem", purpose=_PURPOSE)
    symbols = atom_symbols(graph)
    if symbols is None or graph.n_graphs != 1:
        raise GraphError(
            "graph must be one molecule: every node needs an element, by predicates such as "
            f"'carbon' or 'symbol=C'. Got {graph!r} instead."
        )
    graph = with_everyday_names(graph)
    relations = {name: matrix for name, matrix in graph.relations.items() if name in BONDS}
    knows_hydrogens = any(f"hydrogens={count}" in graph.names for count in HYDROGENS)
    mol = chem.RWMol()
    charges = [name for name in graph.names if name.startswith("charge=")]
    aromatic = graph.column("aromatic") if "aromatic" in graph.names else None
    for node, symbol in enumerate(symbols):
        atom = chem.Atom(symbol)
        for name in charges:
            if _holds(graph, name, node):
                atom.SetFormalCharge(int(name.partition("=")[2]))
        if knows_hydrogens:
            atom.SetNumExplicitHs(_hydrogens(graph, node))
        # Without the bonds, nobody can say how many hydrogens there are: none are made up.
        atom.SetNoImplicit(knows_hydrogens or not relations)
        if aromatic is not None:
            atom.SetIsAromatic(bool(aromatic[node]))
        mol.AddAtom(atom)
    _add_bonds(chem, mol, graph, relations)
    made = mol.GetMol()
    if relations and not charges and not knows_hydrogens:
        _separate_charges(made)
    made.UpdatePropertyCache(strict=False)
    chem.GetSymmSSSR(made)
    return made


_BOND_TYPES = {"single": "SINGLE", "double": "DOUBLE", "triple": "TRIPLE", "aromatic": "AROMATIC"}


def _add_bonds(chem: Any, mol: Any, graph: GraphBatch, relations: Mapping[str, Any]) -> None:
    sources, targets = graph.adjacency.nonzero()
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        if source < target or (source > target and not graph.adjacency[target, source]):
            names = [name for name, matrix in relations.items() if matrix[source, target]]
            bond_type = getattr(chem.BondType, _BOND_TYPES[names[0] if names else "single"])
            mol.AddBond(source, target, bond_type)
            if names == ["aromatic"]:
                for end in (source, target):
                    mol.GetAtomWithIdx(end).SetIsAromatic(True)
                mol.GetBondBetweenAtoms(source, target).SetIsAromatic(True)


def _separate_charges(mol: Any) -> None:
    """Charge every nitrogen with four bonds, and the atom at its side that must be negative then.

    Data sets without charges have nitro groups as N(=O)O, which is no molecule.
    """
    for atom in mol.GetAtoms():
        bonds = atom.GetBonds()
        orders = sum(bond.GetBondTypeAsDouble() for bond in bonds)
        if atom.GetSymbol() != "N" or atom.GetIsAromatic() or orders != 4:
            continue
        atom.SetFormalCharge(1)
        ends = {
            (end.GetSymbol(), bond.GetBondTypeAsDouble()): end
            for bond in bonds
            if (end := bond.GetOtherAtom(atom)).GetDegree() == 1 and not end.GetFormalCharge()
        }
        negative = ends.get(("O", 1.0)) or ends.get(("N", 2.0))
        if negative is not None:
            negative.SetFormalCharge(-1)


def _holds(graph: GraphBatch, name: str, node: int) -> bool:
    return name in graph.names and bool(graph.column(name)[node])


def _hydrogens(graph: GraphBatch, node: int) -> int:
    """Return the hydrogens of an atom that are no nodes themselves."""
    total = next((count for count in HYDROGENS if _holds(graph, f"hydrogens={count}", node)), 0)
    if "hydrogen" not in graph.names:
        return total
    return max(total - int((graph.adjacency[[node]] @ graph.column("hydrogen").astype(int))[0]), 0)


def flat_coordinates(graph: GraphBatch) -> npt.NDArray[np.float64] | None:
    """Return where RDKit puts the atoms of a molecule, with bonds of length 1.

    None if the graph is no molecule, or if RDKit is not installed.
    """
    if graph.n_graphs != 1 or not graph.is_simple or atom_symbols(graph) is None:
        return None
    try:
        depictor = import_optional("rdkit.Chem.rdDepictor", extra="chem", purpose=_PURPOSE)
        mol = to_mol(graph)
    except MissingDependencyError:
        return None
    depictor.Compute2DCoords(mol)
    points = np.asarray(mol.GetConformer().GetPositions(), dtype=np.float64)[:, :2] / _BOND
    moved: npt.NDArray[np.float64] = points - points.min(axis=0)
    return moved


def draw(
    graph: GraphBatch,
    nodes: npt.ArrayLike | None = None,
    edges: Iterable[tuple[int, int]] = (),
    *,
    width: int = 320,
    height: int = 240,
) -> Drawing:
    """Draw one molecule, with some of its atoms and bonds marked.

    Parameters
    ----------
    graph : GraphBatch
        One graph of `from_smiles`, or of another data set whose predicates name elements.
    nodes : array of bool or of int, optional
        The atoms to mark: one truth value for each, such as ``formula.evaluate(graph,
        level="node")``, or their numbers.
    edges : pairs of int, optional
        The bonds to mark, besides those between two marked atoms.
    width, height : int
        Pixels.

    Returns
    -------
    Drawing
        With the text of the picture in ``svg``.

    Examples
    --------
    >>> import gnn2logic as gl
    >>> phenol = gl.chem.from_smiles(["Oc1ccccc1"]).graphs
    >>> picture = draw(phenol, gl.parse("oxygen").evaluate(phenol, level="node"))
    >>> picture.svg.startswith("<?xml")
    True
    """
    drawing = import_optional("rdkit.Chem.Draw.rdMolDraw2D", extra="chem", purpose=_PURPOSE)
    chem = import_optional("rdkit.Chem", extra="chem", purpose=_PURPOSE)
    check_whole("width", width, least=50, error=ParameterError)
    check_whole("height", height, least=50, error=ParameterError)
    mol = to_mol(graph)
    marked = _marked(nodes, graph.n_nodes)
    both = {frozenset(pair) for pair in edges}
    bonds = [
        bond.GetIdx()
        for bond in mol.GetBonds()
        if marked >= {bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()}
        or frozenset((bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())) in both
    ]
    try:
        mol = drawing.PrepareMolForDrawing(mol, addChiralHs=False)
    except (ValueError, chem.KekulizeException):
        # Aromatic bonds that cannot be told apart are drawn as such.
        mol = drawing.PrepareMolForDrawing(mol, kekulize=False, addChiralHs=False)
    canvas = drawing.MolDraw2DSVG(int(width), int(height))
    options = canvas.drawOptions()
    options.prepareMolsBeforeDrawing = False
    options.clearBackground = False
    canvas.DrawMolecule(
        mol,
        highlightAtoms=sorted(marked),
        highlightBonds=bonds,
        highlightAtomColors=dict.fromkeys(sorted(marked), _HIGHLIGHT),
        highlightBondColors=dict.fromkeys(bonds, _HIGHLIGHT),
    )
    canvas.FinishDrawing()
    return Drawing(canvas.GetDrawingText())


def _marked(nodes: npt.ArrayLike | None, count: int) -> set[int]:
    if nodes is None:
        return set()
    given = np.asarray(nodes)
    if given.dtype == bool:
        if given.shape != (count,):
            raise ParameterError(
                f"nodes must have one truth value for each of the {count} atoms. "
                f"Got shape {given.shape} instead."
            )
        return set(np.flatnonzero(given).tolist())
    numbers = set(given.reshape(-1).tolist())
    if not numbers <= set(range(count)):
        raise ParameterError(
            f"nodes must be numbers of atoms, from 0 to {count - 1}. Got {sorted(numbers)} instead."
        )
    return numbers


def drawing_if_molecule(
    graph: GraphBatch, nodes: npt.ArrayLike, edges: Iterable[tuple[int, int]] = ()
) -> Drawing | None:
    """Return the picture of a graph; None if it is no molecule, or without RDKit."""
    if graph.n_graphs != 1 or not graph.is_simple or atom_symbols(graph) is None:
        return None
    try:
        return draw(graph, nodes, edges)
    except MissingDependencyError:
        return None
