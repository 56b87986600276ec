"""The single changes of a molecule that give a molecule again; RDKit says what is one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gnn2logic.chem.drawing import to_mol
from gnn2logic.chem.molecules import from_mols, rdkit_chem
from gnn2logic.chem.rdkit_log import logs_blocked
from gnn2logic.chem.vocabulary import atom_symbols
from gnn2logic.exceptions import MissingDependencyError
from gnn2logic.graphs.batch import GraphBatch

__all__ = ["MoleculeEdits"]

_PURPOSE = "recourse for molecules"
# Elements that chemists change for each other; others stay, or are taken away.
_ELEMENTS = ("C", "N", "O", "F", "S", "Cl", "Br")
_NUMBER = "gnn2logic_number"
_BONDS = {"single": "SINGLE", "double": "DOUBLE", "triple": "TRIPLE"}


class MoleculeEdits:
    """All single changes of molecules: an element, a bond or an atom.

    Atoms keep the names that they had, by their numbers; hydrogens, rings and aromatic bonds follow
    from the rest. A molecule stays in one piece if it is.

    Parameters
    ----------
    mol : rdkit.Chem.Mol
        With no aromatic bonds: single and double ones in their place.
    node : int or None
        An atom that stays.
    """

    def __init__(self, mol: Any, node: int | None, allowed: frozenset[str]) -> None:
        self._chem = rdkit_chem(_PURPOSE)
        self._node = node
        self._allowed = allowed
        self.start = mol
        for atom in mol.GetAtoms():
            atom.SetProp(_NUMBER, str(atom.GetIdx()))
        self._n_pieces = len(self._chem.GetMolFrags(mol))

    @classmethod
    def of(
        cls, graph: GraphBatch, *, node: int | None, allowed: frozenset[str]
    ) -> MoleculeEdits | None:
        """Return the changes of a graph; None if it is none that `from_smiles` has read."""
        if graph.n_graphs != 1 or atom_symbols(graph) is None:
            return None
        try:
            chem = rdkit_chem(_PURPOSE)
        except MissingDependencyError:
            return None
        with logs_blocked():
            mol = to_mol(graph)
            if chem.SanitizeMol(mol, catchErrors=True):
                return None
            chem.Kekulize(mol, clearAromaticFlags=True)
            for atom in mol.GetAtoms():
                # Hydrogens follow from the bonds again.
                atom.SetNoImplicit(False)
                atom.SetNumExplicitHs(0)
            finished = chem.Mol(mol)
            if chem.SanitizeMol(finished, catchErrors=True):
                return None
            same = from_mols([finished]).graphs == graph
        return cls(mol, node, allowed) if same else None

    def key(self, mol: Any) -> object:
        """Return what is the same for equal molecules."""
        finished = self._finished(mol)
        at = self.position(mol)
        if at is None:
            return self._chem.MolToSmiles(finished)
        return self._chem.MolToSmiles(finished, rootedAtAtom=at)

    def position(self, mol: Any) -> int | None:
        """Return where the atom is that is classified."""
        return None if self._node is None else _names(mol).index(str(self._node))

    def write(self, mol: Any) -> GraphBatch:
        """Return the molecule as a graph."""
        return from_mols([self._finished(mol)]).graphs

    def edits(self, mol: Any) -> Iterator[tuple[str, tuple[str, ...], Any]]:
        """Yield every single change that RDKit takes for a molecule: words, atoms, molecule."""
        with logs_blocked():
            for text, atoms, changed in self._attempts(mol):
                plain = changed.GetMol()
                if len(self._chem.GetMolFrags(plain)) > self._n_pieces:
                    continue
                tried = self._chem.Mol(plain)
                if plain.GetNumAtoms() and not self._chem.SanitizeMol(tried, catchErrors=True):
                    plain.UpdatePropertyCache(strict=False)
                    yield text, atoms, plain

    def _finished(self, mol: Any) -> Any:
        finished = self._chem.Mol(mol)
        self._chem.SanitizeMol(finished)
        return finished

    def _attempts(self, mol: Any) -> Iterator[tuple[str, tuple[str, ...], Any]]:
        chem, names = self._chem, _names(mol)
        size = mol.GetNumAtoms()
        if "predicates" in self._allowed:
            for at in range(size):
                before = mol.GetAtomWithIdx(at).GetSymbol()
                for symbol in _ELEMENTS:
                    if symbol != before:
                        made = chem.RWMol(mol)
                        atom = made.GetAtomWithIdx(at)
                        atom.SetAtomicNum(chem.Atom(symbol).GetAtomicNum())
                        atom.SetFormalCharge(0)
                        text = f"change atom {names[at]} from {before} to {symbol}"
                        yield text, (names[at],), made
        if "edges" in self._allowed:
            yield from self._bond_attempts(mol)
        if "nodes" in self._allowed:
            for at in range(size):
                if at != self.position(mol):
                    made = chem.RWMol(mol)
                    made.RemoveAtom(at)
                    text = f"remove atom {names[at]} ({mol.GetAtomWithIdx(at).GetSymbol()})"
                    yield text, (names[at],), made
            new = f"new {1 + sum(name.startswith('new ') for name in names)}"
            for at in range(size):
                for symbol in _ELEMENTS:
                    made = chem.RWMol(mol)
                    added = made.AddAtom(chem.Atom(symbol))
                    made.GetAtomWithIdx(added).SetProp(_NUMBER, new)
                    made.AddBond(at, added, chem.BondType.SINGLE)
                    yield f"add {symbol} ({new}) at atom {names[at]}", (names[at], new), made

    def _bond_attempts(self, mol: Any) -> Iterator[tuple[str, tuple[str, ...], Any]]:
        chem, names = self._chem, _names(mol)
        for one in range(mol.GetNumAtoms()):
            for two in range(one + 1, mol.GetNumAtoms()):
                ends = (names[one], names[two])
                between = f"between atoms {ends[0]} and {ends[1]}"
                bond = mol.GetBondBetweenAtoms(one, two)
                if bond is None:
                    made = chem.RWMol(mol)
                    made.AddBond(one, two, chem.BondType.SINGLE)
                    yield f"add a single bond {between}", ends, made
                    continue
                made = chem.RWMol(mol)
                made.RemoveBond(one, two)
                yield f"remove the bond {between}", ends, made
                for word, name in _BONDS.items():
                    if bond.GetBondType() != getattr(chem.BondType, name):
                        made = chem.RWMol(mol)
                        changed = made.GetBondBetweenAtoms(one, two)
                        changed.SetBondType(getattr(chem.BondType, name))
                        yield f"make the bond {between} {word}", ends, made


def _names(mol: Any) -> list[str]:
    return [atom.GetProp(_NUMBER) for atom in mol.GetAtoms()]
