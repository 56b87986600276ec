"""What the tables of a comparison say: marks, folds, and only columns that say something."""

from __future__ import annotations

from dataclasses import replace

from gnn2logic.experiments.comparison.names import ALL_MODELS
from gnn2logic.experiments.comparison.number_pages import NumberSummary, number_table
from gnn2logic.experiments.comparison.pages import model_table, readable_table
from gnn2logic.experiments.comparison.summaries import Summary


def summary(name: str, accuracy: float, held_out: float | None = None) -> Summary:
    nothing = dict.fromkeys(
        ("fidelity", "at_least", "size", "lines", "depth", "stability", "auroc")
    )
    return Summary(
        dataset="IMDB-BINARY",
        model=ALL_MODELS[name],
        n_folds=2,
        n_seeds=1,
        accuracy=accuracy,
        deviation=0.01,
        macro_f1=0.5,
        seconds=1.0,
        held_out=held_out,
        text="",
        **nothing,
    )


MODELS = [
    summary("GIN", 0.75),
    replace(summary("search(GIN)", 0.6, 0.8), fidelity=0.9, at_least=0.85, size=4.0),
    summary("search(True)", 0.715, 0.7),
    summary("Majority", 0.6),
]


def test_every_mark_is_shown_beside_the_others() -> None:
    row = readable_table({"IMDB-BINARY": MODELS}, {"IMDB-BINARY": "public"}).splitlines()[2]
    assert "| IMDB-BINARY (2 public folds) | GIN 75.0 ± 1.0 |" in row
    # Below its network, but not below the published 71.2.
    assert "| search(True) | 71.5 ± 1.0 ↓ |" in row
    assert "| search(GIN) | 60.0 ± 1.0 ↓ ⇊ ∅ |" in row
    assert row.endswith("| GIN 71.2 |")


def test_nothing_is_said_of_what_is_not_known() -> None:
    others = readable_table({"IMDB-BINARY": MODELS[2:]}, {})
    heads, _, row = others.splitlines()
    assert "network" not in heads
    assert "published" not in heads
    assert row == "| IMDB-BINARY (2 folds) | search(True) | 71.5 ± 1.0 |"
    assert "symbols" not in model_table("IMDB-BINARY", MODELS[2:])
    seeds = [replace(MODELS[0], stability=0.5), MODELS[2]]
    assert "| stability |" in model_table("IMDB-BINARY", seeds)
    assert "| stability |" not in model_table("IMDB-BINARY", MODELS)


def test_errors_have_the_digits_that_matter() -> None:
    nothing = dict.fromkeys(("fidelity", "size", "lines", "depth", "held_out"))
    model = NumberSummary(
        dataset="d",
        model=ALL_MODELS["Mean"],
        n_folds=2,
        n_seeds=1,
        mae=1.3,
        mae_deviation=0.02,
        r2=0.5,
        r2_deviation=0.1,
        seconds=1.0,
        text="",
        **nothing,
    )
    for error, shown in ((1.3, "1.30 ± 0.020"), (123.4, "123 ± 0.020")):
        assert f"| Mean | {shown} |" in number_table("d", [replace(model, mae=error)])
