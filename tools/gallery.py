"""Run the scripts of the gallery, and keep what each prints and draws beside it.

`python tools/gallery.py` runs all of docs/gallery, `python tools/gallery.py shapes` one of them.
The pages of the documentation are made of script, text and picture by tools/site_pages.py.
"""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
from pathlib import Path

GALLERY = Path(__file__).resolve().parents[1] / "docs" / "gallery"


def scripts() -> list[Path]:
    """Return the scripts of the gallery."""
    return sorted(GALLERY.glob("*.py"))


def run_script(script: Path, folder: Path) -> str:
    """Run one script; write its picture into a folder, and return what it prints."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(script), run_name="__main__")
    # Small enough for a repository, sharp enough for a page.
    plt.gcf().savefig(folder / f"{script.stem}.png", dpi=90, bbox_inches="tight")
    plt.close("all")
    return printed.getvalue()


def main() -> None:
    """Run what was asked for."""
    for script in scripts():
        if script.stem in sys.argv[1:] or len(sys.argv) == 1:
            text = run_script(script, GALLERY)
            script.with_suffix(".txt").write_text(text, encoding="utf-8")
            print(f"{script.stem}\n{text}")


if __name__ == "__main__":
    main()
