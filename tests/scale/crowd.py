# SPDX-License-Identifier: Apache-2.0
"""Lakes of simulated batches, and a bucket on this machine, for the tests of scale/."""

from __future__ import annotations

import datetime
import json
import os
import random
import socket
import struct
import subprocess
import threading
from pathlib import Path
from typing import Any, Iterator

SHOAL = os.environ["SHOAL"]
COUNTS = "cod\t70\nplaice\t30\n"


def shoal(*args: str, cwd: Path | None = None) -> str:
    done = subprocess.run([SHOAL, *args], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, f"{args}: {done.stderr}"
    return done.stdout


def write_recipe(file: Path, **more: Any) -> None:
    """A small sketch of words; `more` replaces or adds fields."""
    recipe = {
        "recipe": "fish",
        "analysis": "fish",
        "stream": "fish",
        "value": "word",
        "mechanism": "cms",
        "parameters": {"epsilon": 4, "k": 64, "m": 64},
        "hash": "poly1",
        "seed": "6f30c1d2a7b94e58810c3f6d92e5ab47d01f7c6e3b284a95f7d2086cb1e94a3d",
        "limit": {"per_day": 1},
        "expires": "2099-12-31",
    }
    file.write_text(json.dumps({**recipe, **more}))


def split(stream: bytes) -> Iterator[bytes]:
    """The batches of what `shoal simulate` wrote."""
    at = 0
    while at < len(stream):
        size, count = struct.unpack_from("<II", stream, at + 12)
        end = at + 88 + size * count + 8
        yield stream[at:end]
        at = end


def id_of(batch: bytes) -> str:
    return batch[56:72].hex()


def key_of(batch: bytes, ending: str = ".batch", day: str | None = None) -> str:
    sealed = datetime.date(1970, 1, 1) + datetime.timedelta(struct.unpack_from("<I", batch, 20)[0])
    return f"{batch[24:56].hex()}/{day or sealed}/{batch[56:57].hex()}/{id_of(batch)}{ending}"


def simulate(
    folder: Path, batches: int, devices: int, seed: str, recipe: str = "recipe.json"
) -> list[bytes]:
    """Batches of so many devices each."""
    (folder / "counts.tsv").write_text(COUNTS)
    made = []
    for i in range(batches):
        size = ["--devices", str(devices), "--first", str(i * devices), "--seed", seed]
        out = ["--sealed", "2026-11-22", "-o", "simulated"]
        shoal("simulate", "--recipe", recipe, "--counts", "counts.tsv", *size, *out, cwd=folder)
        made += split((folder / "simulated").read_bytes())
    return made


def store(lake: Path, key: str, data: bytes) -> Path:
    path = lake / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def one_process(
    folder: Path, batches: list[bytes], name: str = "one.acc", earlier: list[str] = []
) -> bytes:
    """What one process counts of these batches, as one generation."""
    files = []
    for batch in batches:
        files.append(f"{id_of(batch)}.batch")
        (folder / files[-1]).write_bytes(batch)
    after = [word for file in earlier for word in ("--after", file)]
    manifest = f"{name}.man"
    shoal("manifest", "make", "--recipe", "recipe.json", "-o", manifest, *after, *files, cwd=folder)
    what = ["--recipe", "recipe.json", "--manifest", manifest, "-o", name]
    shoal("ingest", *what, "--threads", "1", *files, cwd=folder)
    for file in set(files):
        (folder / file).unlink()
    return (folder / name).read_bytes()


def deadly(folder: Path, name: str, good: int, kills: int) -> str:
    """A command that is `shoal`, but for some folds that take the process that started them along."""
    marks = folder / f"{name}-marks"
    marks.mkdir()
    file = folder / name
    file.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = ingest ]; then\n'
        f"  for i in $(seq {good + kills}); do\n"
        f'    if mkdir "{marks}/$i" 2>/dev/null; then\n'
        f'      [ "$i" -le {good} ] || kill -9 "$PPID"\n'
        "      break\n"
        "    fi\n"
        "  done\n"
        "fi\n"
        f'exec "{SHOAL}" "$@"\n'
    )
    file.chmod(0o755)
    return str(file)


class FakeBucket:
    """An S3 stand-in on loopback. Each answer is lost with a given chance after the work is done."""

    def __init__(self, lost: float = 0.0, seed: int = 1) -> None:
        from moto.server import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import WSGIRequestHandler, make_server

        class Quiet(WSGIRequestHandler):
            def log(self, type: str, message: str, *args: object) -> None:
                pass

        self.app: Any = DomainDispatcherApplication(create_backend_app)
        self.lost, self.losses, self.random = lost, 0, random.Random(seed)
        self.lock = threading.Lock()
        self.server = make_server("127.0.0.1", 0, self.answer, threaded=True, request_handler=Quiet)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.env = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.server.server_port}",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
        }
        os.environ.update(self.env)

    def answer(self, environ: Any, start: Any) -> Any:
        answer = self.app(environ, start)
        with self.lock:
            is_lost = self.random.random() < self.lost
            self.losses += is_lost
        if not is_lost:
            return answer
        b"".join(answer)  # the work is done, and the client does not learn of it
        environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        raise ConnectionResetError("lost")

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
