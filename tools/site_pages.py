"""Pages that mkdocs makes of other files: notebooks, and the gallery.

mkdocs calls `on_files`. Nothing is run here: notebooks hold their results, and tools/gallery.py
keeps those of the scripts.
"""

from __future__ import annotations

import ast
import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

__all__ = ["gallery_index", "gallery_page", "notebook_page", "on_config", "on_files"]


def on_files(files: Any, config: Any) -> Any:
    """Add the pages to those that mkdocs has found."""
    from mkdocs.structure.files import File

    docs = Path(config["docs_dir"])
    scripts = sorted((docs / "gallery").glob("*.py"), key=_place_in_menu(config["nav"]))
    pages = {f"gallery/{script.stem}.md": gallery_page(script) for script in scripts}
    pages["gallery/index.md"] = gallery_index(scripts)
    for notebook in sorted((docs / "notebooks").glob("*.ipynb")):
        pages[f"notebooks/{notebook.stem}.md"] = notebook_page(notebook)
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_config(config: Any) -> Any:
    """Say at the foot of every page which version it is about."""
    text = (Path(config["config_file_path"]).parent / "src/gnn2logic/_version.py").read_text(
        "utf-8"
    )
    config["copyright"] = f"gnn2logic {ast.literal_eval(text.split('__version__ = ')[1])}"
    return config


def _place_in_menu(menu: list[dict[str, Any]]) -> Callable[[Path], int]:
    """Return how far down the menu a script of the gallery is."""
    gallery = next(entry["Gallery"] for entry in menu if "Gallery" in entry)
    pages = [page for entry in gallery if isinstance(entry, dict) for page in entry.values()]
    return lambda script: pages.index(f"gallery/{script.stem}.md")


# The gallery ----------------------------------------------------------------------------------


def gallery_page(script: Path) -> str:
    """Return the page of one script: what it is about, its picture, the code, what it prints."""
    title, about, code = _parts(script)
    printed = script.with_suffix(".txt").read_text(encoding="utf-8")
    # Without headings there is no table of contents, whose room is for the code.
    return (
        f"---\nhide: [toc]\n---\n\n# {title}\n\n{about}\n\n![{title}]({script.stem}.png)\n\n"
        f"```python\n{code}```\n\n```text\n{printed}```\n"
    )


def gallery_index(scripts: list[Path]) -> str:
    """Return the first page of the gallery: a picture for each script."""
    lines = ["# Gallery", "", "Small programs to begin with. Each runs as it is, in seconds.", ""]
    lines.append('<div class="gallery">')
    for script in scripts:
        title, _, _ = _parts(script)
        lines.append(
            f'<a href="{script.stem}.html"><img src="{script.stem}.png" alt="">'
            f"<span>{title}</span></a>"
        )
    return "\n".join([*lines, "</div>", ""])


def _parts(script: Path) -> tuple[str, str, str]:
    """Return the title, the text and the code of a script."""
    text = script.read_text(encoding="utf-8")
    module = ast.parse(text)
    described = ast.get_docstring(module)
    if described is None:
        raise ValueError(f"{script} needs a docstring, whose first line is its title.")
    title, _, about = described.partition("\n")
    code = "".join(text.splitlines(keepends=True)[module.body[0].end_lineno :])
    return title, about.strip(), code.lstrip("\n")


# Notebooks ------------------------------------------------------------------------------------


def notebook_page(notebook: Path) -> str:
    """Return a notebook as Markdown: its texts, its code, and its results as they were kept."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join(part for cell in cells for part in _cell(cell)) + "\n"


def _cell(cell: dict[str, Any]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        if output.get("name") == "stderr":
            continue
        shown = output.get("data", {})
        if "image/png" in shown:
            picture = base64.b64encode(base64.b64decode("".join(shown["image/png"]))).decode()
            yield f'<img alt="picture" src="data:image/png;base64,{picture}">'
        elif "text/html" in shown:
            # Markdown must not read it: a blank line would end it.
            html = "".join(shown["text/html"])
            lines = (line.strip() for line in html.splitlines())
            yield f'<div class="result">{" ".join(line for line in lines if line)}</div>'
        else:
            text = "".join(output.get("text", shown.get("text/plain", "")))
            yield f"```text\n{text.rstrip()}\n```"
