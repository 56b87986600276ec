"""Formulas of columns: those that are asked for, and no others."""

from __future__ import annotations

from gnn2logic.idt.formulas import final_columns
from gnn2logic.idt.from_formulas import from_formulas
from gnn2logic.logic import TRUE, parse


def test_final_columns_leave_out_what_they_are_made_of() -> None:
    rules = {"hub": "1(U0 & A(A true > 2) > 1) > 0 & 1 U1 > 2"}
    model = from_formulas(rules, otherwise="no hub", names=["U0", "U1"]).model_
    counted = {parse("U0 & A(A true > 2) > 1"), parse("U1")}
    assert set(final_columns(model).values()) == counted
    size = from_formulas({"large": "1 true > 9"}, otherwise="small", names=[]).model_
    assert list(final_columns(size).values()) == [TRUE]
