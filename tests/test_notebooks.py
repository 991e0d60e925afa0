"""The notebooks are those of the tutorials, hold no outputs, and run from the first cell to the last."""

import json
import os
import sys
from pathlib import Path

import nbformat
import pytest

from docs_world import example
from markdown_pages import ROOT

made = example("notebooks")
notebooks = pytest.mark.parametrize("page", made.PAGES, ids=lambda page: page.stem)


def place(page):
    return ROOT / "examples" / f"{page.stem}.ipynb"


@notebooks
def test_a_notebook_is_that_of_its_page(page):
    assert place(page).read_text(encoding="utf-8") == made.notebook(page), "run: python examples/notebooks.py"


@notebooks
def test_a_notebook_is_valid_and_has_no_outputs(page):
    document = nbformat.read(place(page), as_version=4)
    nbformat.validate(document)
    code = [cell for cell in document.cells if cell.cell_type == "code"]
    assert len(code) > 5
    assert all(not cell.outputs and cell.execution_count is None for cell in code)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@notebooks
def test_a_notebook_runs(page, tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient and ipykernel: pip install -e '.[notebooks]'")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.setenv("SUNDOG_LEDGER", str(tmp_path / "ledger.sqlite"))
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    document = nbformat.reads(json.dumps(strict(page)), as_version=4)
    nbclient.NotebookClient(document, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()


def strict(page):
    """The notebook with a check of exit codes behind every command but the one that is meant to be refused."""
    document = json.loads(place(page).read_text(encoding="utf-8"))
    refused = "".join(line for line in page.read_text(encoding="utf-8").splitlines(keepends=True) if "exit: 3" in line)
    last = max((n for n, cell in enumerate(document["cells"]) if _commands(cell)), default=-1)
    for number, cell in enumerate(document["cells"]):
        if _commands(cell):
            wanted = 3 if refused and number == last else 0
            lines = [f"{line.rstrip()}\nassert _exit_code == {wanted}, _exit_code\n" for line in cell["source"]]
            cell["source"] = lines
    return document


def _commands(cell):
    return cell["cell_type"] == "code" and cell["source"] and cell["source"][0].startswith("!")
