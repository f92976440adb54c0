# SPDX-License-Identifier: Apache-2.0
"""Runs a notebook in the working folder and prints the JSON that its last cell shows.

It fails if a cell fails, or if a text that the notebook holds is not what the cell prints now.
With --write it writes the notebook anew, with what its cells show.
"""

import json
import sys
from typing import Any

import nbformat
from nbclient import NotebookClient


def shown(cell: Any) -> list:
    texts = []
    for output in cell.get("outputs", []):
        texts.append(output.get("text") or output.get("data", {}).get("text/plain"))
    return texts


path = sys.argv[1]
notebook = nbformat.read(path, as_version=4)
before = [shown(cell) for cell in notebook.cells]
NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
after = [shown(cell) for cell in notebook.cells]
if "--write" in sys.argv:
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                         "language_info": {"name": "python"}}
    nbformat.write(notebook, path)
elif before != after:
    raise SystemExit(f"{path}: what it holds is not what its cells show now: {before} {after}")
print(json.dumps(json.loads(after[-1][0])))
