# SPDX-License-Identifier: Apache-2.0
"""Folds randomized reports and estimates counts with error bars.

>>> import shoal
>>> recipe = shoal.Recipe.from_json('''{"recipe": "pets", "analysis": "a", "stream": "s",
...   "value": "item", "mechanism": "onehot-asymmetric",
...   "parameters": {"epsilon": 2, "values": ["ant", "bee", "cat"]},
...   "cohort": {"minimum": 100}, "limit": {"per_day": 1}, "expires": "2030-01-01"}''')
>>> batches = shoal.simulate(recipe, {"ant": 700, "bee": 250, "cat": 50}, devices=10000, seed=1)
>>> pets = shoal.Accumulator(recipe)
>>> pets.add_batches(batches).records
10000
>>> estimate = pets.estimate()
>>> estimate.value
['ant', 'bee', 'cat']
>>> [low <= truth <= high for low, truth, high in zip(estimate.low, [7000, 2500, 500], estimate.high)]
[True, True, True]
>>> pets.add_batches(batches)  # nothing counts twice
Traceback (most recent call last):
...
shoal._library.DuplicateError: duplicate: ...
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from ctypes import byref, c_char, c_char_p, c_size_t, c_void_p, cast, memmove, sizeof, string_at
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from . import _library as _c
from ._library import CohortError, DuplicateError, ShoalError, library

if TYPE_CHECKING:
    import matplotlib.axes
    import pandas
    import pyarrow

__all__ = [
    "Accumulator",
    "Added",
    "CohortError",
    "DuplicateError",
    "Estimate",
    "Recipe",
    "ShoalError",
    "account",
    "compare",
    "discover",
    "joint",
    "plan",
    "run",
    "run_arrow",
    "simulate",
    "version",
]

PathText = Union[str, "os.PathLike[str]"]
Json = dict[str, Any]
MULTIPLE = {"bonferroni": 0, "bh": 1, "none": 2}


def version() -> str:
    """The version of the library."""
    return str(library.shoal_agg_version().decode())


class Recipe:
    """The contract of a collection. It never changes, so any number of threads may use it."""

    def __init__(self, path: PathText) -> None:
        """Opens a recipe's file."""
        self._handle = c_void_p()
        _c.call("recipe_from_file", byref(self._handle), os.fsencode(path))
        self._read()

    @classmethod
    def from_json(cls, text: str | bytes, name: str = "recipe") -> Recipe:
        """Opens a recipe from its JSON text."""
        recipe = cls.__new__(cls)
        recipe._handle = c_void_p()
        data = text.encode() if isinstance(text, str) else text
        _c.call("recipe_from_json", byref(recipe._handle), name.encode(), data, len(data))
        recipe._read()
        return recipe

    def _read(self) -> None:
        facts = _c.FactsStruct(size=sizeof(_c.FactsStruct))
        _c.call("recipe_facts_of", byref(facts), self._handle)
        self.id: str = library.shoal_agg_recipe_id(self._handle).decode()
        self.hash: str = library.shoal_agg_recipe_hash(self._handle).decode()
        self.mechanism: str = library.shoal_agg_recipe_mechanism(self._handle).decode()
        self.json: str = library.shoal_agg_recipe_json(self._handle).decode()
        self.epsilon: float = facts.epsilon
        self.n_values: int = facts.n_values
        self.record_size: int = facts.record_size
        self.report_size: int = facts.report_size
        self.cohort_minimum: int = facts.cohort_minimum
        self.release_threshold: int = facts.release_threshold
        self.n_variables: int = facts.n_variables
        self.is_mean: bool = bool(facts.is_mean)

    @property
    def values(self) -> list[str]:
        """The listed values; empty where the recipe lists none."""
        found: list[str] = []
        length = c_size_t()
        while True:
            at = library.shoal_agg_recipe_value(self._handle, len(found), byref(length))
            if at is None:
                return found
            found.append(string_at(at, length.value).decode())

    def __repr__(self) -> str:
        return f"<shoal.Recipe {self.id}: {self.mechanism}, epsilon {self.epsilon:g}>"

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            library.shoal_agg_recipe_free(self._handle)


class Added(NamedTuple):
    """What a call that adds has done."""

    records: int
    """Records that were added."""
    batches: int
    """Batches that were added."""
    held: int
    """Batches that were left out, because they are counted already."""
    rejected: int
    """Lines that hold no good report."""


class Accumulator:
    """The sum of the records of one recipe. It belongs to one thread at a time.

    Any split of the records over accumulators, in any order, merges to the same bytes. It lists
    what it counts, and adding that again is refused with DuplicateError.
    """

    def __init__(self, recipe: Recipe, *, threads: int = 1) -> None:
        """Makes an empty accumulator.

        threads: how many a call may take; 0: one a core
        """
        self.recipe = recipe
        self._handle = c_void_p()
        _c.call("accumulator_new", byref(self._handle), recipe._handle)
        library.shoal_agg_accumulator_set_threads(self._handle, threads)

    @classmethod
    def _open(cls, recipe: Recipe) -> Accumulator:
        accumulator = cls.__new__(cls)
        accumulator.recipe = recipe
        accumulator._handle = c_void_p()
        return accumulator

    @classmethod
    def load(cls, recipe: Recipe, path: PathText, *, threads: int = 1) -> Accumulator:
        """Reads an accumulator's file, which `shoal` or save() wrote."""
        made = cls._open(recipe)
        _c.call("accumulator_load", byref(made._handle), recipe._handle, os.fsencode(path))
        library.shoal_agg_accumulator_set_threads(made._handle, threads)
        return made

    @classmethod
    def from_bytes(cls, recipe: Recipe, data: Any, *, threads: int = 1) -> Accumulator:
        """Reads an accumulator from bytes, or from any object with the buffer protocol."""
        made = cls._open(recipe)
        with _c.Buffer(data) as b:
            _c.call("accumulator_from_bytes", byref(made._handle), recipe._handle, b.address, b.len)
        library.shoal_agg_accumulator_set_threads(made._handle, threads)
        return made

    def add_batches(self, batches: Any, *, skip_held: bool = False) -> Added:
        """Adds batches that follow one another, as the edge seals them.

        skip_held: leave out batches that are counted already; else they are refused
        """
        added = _c.AddedStruct(size=sizeof(_c.AddedStruct))
        with _c.Buffer(batches) as b:
            _c.call(
                "accumulator_add_batches", self._handle, b.address, b.len, skip_held, byref(added)
            )
        return Added(added.records, added.batches, added.held, added.rejected)

    def add_reports(self, lines: str | Any, *, max_rejected: float = 0.01) -> Added:
        """Adds reports as devices send them, one JSON text a line."""
        added = _c.AddedStruct(size=sizeof(_c.AddedStruct))
        with _c.Buffer(lines.encode() if isinstance(lines, str) else lines) as b:
            _c.call(
                "accumulator_add_reports",
                self._handle,
                b.address,
                b.len,
                max_rejected,
                byref(added),
            )
        return Added(added.records, added.batches, added.held, added.rejected)

    def add_records(self, records: Any, *, claim: bytes | None = None) -> int:
        """Adds binary records, such as the rows of a numpy array of bytes, without a copy.

        claim: 16 bytes that name these records for ever. Without it, merging cannot find that
          they count twice
        """
        if claim is not None and len(claim) != 16:
            raise ValueError("a claim has 16 bytes")
        with _c.Buffer(records) as b:
            n, rest = divmod(b.len, self.recipe.record_size)
            if rest:
                raise ValueError(f"{b.len} bytes are not records of {self.recipe.record_size}")
            _c.call("accumulator_add_records", self._handle, b.address, n, claim)
        return n

    def merge(self, other: Accumulator) -> None:
        """Adds another accumulator of the same recipe, with its claims."""
        _c.call("accumulator_merge", self._handle, other._handle)

    def save(self, path: PathText) -> None:
        """Writes the accumulator's file, atomically."""
        _c.call("accumulator_save", self._handle, os.fsencode(path))

    def to_bytes(self) -> bytes:
        """The bytes of the accumulator's file."""
        made = _c.BytesStruct()
        _c.call("accumulator_to_bytes", self._handle, byref(made))
        return _c.take_bytes(made)

    def __len__(self) -> int:
        """The number of records that were added."""
        return int(library.shoal_agg_accumulator_n(self._handle))

    def __bool__(self) -> bool:
        return True

    @property
    def claims(self) -> list[bytes]:
        """What it counts: ids of batches, and claims of records."""
        n = library.shoal_agg_accumulator_n_claims(self._handle)
        if n == 0:
            return []
        data = string_at(library.shoal_agg_accumulator_claims(self._handle), 16 * n)
        return [data[16 * i : 16 * i + 16] for i in range(n)]

    @property
    def is_claimed(self) -> bool:
        """Whether a claim names every record."""
        return bool(library.shoal_agg_accumulator_is_claimed(self._handle))

    def estimate(
        self,
        values: Sequence[str] | None = None,
        *,
        confidence: float = 0.95,
        multiple: str = "bonferroni",
        threads: int = 0,
        incomplete: bool = False,
    ) -> Estimate:
        """Estimates how many reports each value has.

        values: None: all of the recipe's own list, in its order
        multiple: the correction behind `detected`: bonferroni, bh or none
        incomplete: estimate though shards of manifests are missing, which else raises Error with
            the name "incomplete". n_missing_shards of the result says how many are.
        """
        if multiple not in MULTIPLE:
            raise ValueError("multiple is bonferroni, bh or none")
        options = _c.OptionsStruct(
            size=sizeof(_c.OptionsStruct),
            confidence=confidence,
            multiple=MULTIPLE[multiple],
            n_threads=threads,
            incomplete=int(incomplete),
        )
        texts, n, kept = None, 0, []
        if values is not None:
            kept = [value.encode() for value in values]
            n = len(kept)
            texts = (_c.TextStruct * max(n, 1))()
            for text, data in zip(texts, kept):
                text.bytes, text.len = cast(c_char_p(data), c_void_p), len(data)
        handle = c_void_p()
        _c.call("estimate_new", byref(handle), self._handle, texts, n, byref(options))
        try:
            return Estimate(handle)
        finally:
            library.shoal_agg_estimate_free(handle)

    def __repr__(self) -> str:
        return f"<shoal.Accumulator of {self.recipe.id}: {len(self)} records>"

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            library.shoal_agg_accumulator_free(self._handle)


def _column(kind: str, address: int, n: int) -> memoryview:
    data = bytearray(n * (8 if kind == "d" else 1))
    if n:
        memmove((c_char * len(data)).from_buffer(data), address, len(data))
    return memoryview(data).cast(kind).toreadonly()  # type: ignore[call-overload, no-any-return]


class Estimate:
    """Counts with error bars, as columns of equal length in the order of the question.

    The columns of numbers have the buffer protocol: numpy.asarray(estimate.count) copies nothing.
    A withheld row, whose count is below the recipe's release threshold, holds NaN.
    """

    def __init__(self, handle: c_void_p) -> None:
        c = _c.ColumnsStruct(size=sizeof(_c.ColumnsStruct))
        _c.call("estimate_columns", byref(c), handle)
        n = c.n_rows
        self.n_reports: int = c.n_reports
        self.confidence: float = c.confidence
        self.n_withheld: int = c.n_withheld
        self.n_alarms: int = c.n_alarms
        self.n_shards: int = c.n_shards
        self.n_missing_shards: int = c.n_missing_shards
        self.value: list[str] = [
            string_at(c.value[i].bytes, c.value[i].len).decode("utf-8", "replace") for i in range(n)
        ]
        self.count = _column("d", c.count, n)
        self.standard_error = _column("d", c.standard_error, n)
        self.low = _column("d", c.low, n)
        self.high = _column("d", c.high, n)
        self.detected = _column("?", c.detected, n)
        self.withheld = _column("?", c.withheld, n)

    def __len__(self) -> int:
        return len(self.value)

    def columns(self) -> dict[str, Any]:
        """All columns by their names."""
        names = ("value", "count", "standard_error", "low", "high", "detected", "withheld")
        return {name: getattr(self, name) for name in names}

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame, largest count first. It needs the extra shoal[pandas]."""
        import pandas

        columns = {
            name: column if name == "value" else column.tolist()
            for name, column in self.columns().items()
        }
        frame = pandas.DataFrame(columns)
        return frame.sort_values("count", ascending=False, kind="stable", ignore_index=True)

    def to_arrow(self) -> pyarrow.Table:
        """A table of Arrow, in the order of the question. It needs the extra shoal[arrow].

        pyarrow.parquet.write_table writes it as Parquet.
        """
        import pyarrow

        columns = {
            name: column if name == "value" else column.tolist()
            for name, column in self.columns().items()
        }
        facts = {"shoal": version(), "n": str(self.n_reports), "confidence": repr(self.confidence)}
        types = {"value": pyarrow.string(), "detected": pyarrow.bool_(), "withheld": pyarrow.bool_()}
        fields = [pyarrow.field(name, types.get(name, pyarrow.float64())) for name in columns]
        table: pyarrow.Table = pyarrow.table(columns, schema=pyarrow.schema(fields, metadata=facts))
        return table

    def plot(self, top: int = 20, ax: matplotlib.axes.Axes | None = None) -> matplotlib.axes.Axes:
        """Draws the largest counts with their intervals. It needs the extra shoal[plot]."""
        if ax is None:
            import matplotlib.pyplot

            ax = matplotlib.pyplot.subplots()[1]
        shown = [i for i in range(len(self)) if not self.withheld[i]]
        rows = sorted(shown, key=lambda i: -self.count[i])[:top][::-1]
        counts = [self.count[i] for i in rows]
        bars = [
            [self.count[i] - self.low[i] for i in rows],
            [self.high[i] - self.count[i] for i in rows],
        ]
        ax.errorbar(counts, range(len(rows)), xerr=bars, fmt="o", capsize=3)
        ax.set_yticks(range(len(rows)), [self.value[i] for i in rows])
        ax.axvline(0, color="grey", linewidth=0.8)
        ax.set_xlabel(f"reports, with {self.confidence:.0%} intervals")
        return ax

    def __repr__(self) -> str:
        return f"<shoal.Estimate: {len(self)} values of {self.n_reports} reports>"


# ---- all other commands ----


def run(
    command: str,
    options: Mapping[str, Any] | None = None,
    words: Iterable[PathText] = (),
    *,
    format: str | None = None,
    log: Callable[[str], None] | None = None,
) -> bytes:
    """Runs a command of `shoal` in this process. Returns what it prints.

    options: long options without dashes, such as {"recipe": "fish.json", "top": 10}
    words: what stands on a command line without an option: files and the like
    log: takes the lines of the command's log
    """
    asked = {**(options or {}), "words": [os.fspath(word) for word in words]}
    made, error = _c.BytesStruct(), _c.ErrorStruct()
    context = c_void_p()
    # The function lives as long as the call, which is as long as the library may call it.
    take = _c.LogFunction(lambda _, text: log(text.decode("utf-8", "replace")) if log else None)
    if log is not None:
        _c.call("context_new", byref(context))
        library.shoal_agg_context_set_log(context, take, None)
    try:
        code = library.shoal_agg_run(
            context,
            command.encode(),
            json.dumps(asked, default=os.fspath).encode(),
            format.encode() if format is not None else None,
            byref(made),
            byref(error),
        )
    finally:
        library.shoal_agg_context_free(context)
    output = _c.take_bytes(made)
    if code:
        raise _c.make_error(code, error, output)
    return output


def run_arrow(
    command: str,
    options: Mapping[str, Any] | None = None,
    words: Iterable[PathText] = (),
    *,
    log: Callable[[str], None] | None = None,
) -> pyarrow.Table:
    """Runs a command that prints rows, and returns them as a table of Arrow with its metadata.

    It needs the extra shoal[arrow]. docs/formats.md states the columns of each command.
    """
    import pyarrow

    stream = run(command, options, words, format="arrow", log=log)
    with pyarrow.ipc.open_stream(stream) as reader:
        table: pyarrow.Table = reader.read_all()
    return table


def _options(given: Mapping[str, Any]) -> Json:
    return {name.replace("_", "-"): value for name, value in given.items() if value is not None}


def _json(command: str, options: Mapping[str, Any], words: Iterable[PathText] = ()) -> Json:
    answer: Json = json.loads(run(command, options, words, format="json"))
    return answer


class _Folder(tempfile.TemporaryDirectory[str]):
    """A private folder for what a command reads as files."""

    def write(self, name: str, text: str) -> str:
        path = Path(self.name, name)
        path.write_text(text, encoding="utf-8")
        return str(path)

    def recipe(self, recipe: Recipe, name: str = "recipe.json") -> str:
        return self.write(name, recipe.json)

    def save(self, accumulator: Accumulator, name: str) -> str:
        path = str(Path(self.name, name))
        accumulator.save(path)
        return path

    def lines(self, values: Iterable[str], name: str = "dictionary.txt") -> str:
        return self.write(name, "".join(f"{value}\n" for value in values))


def simulate(
    recipe: Recipe, counts: Mapping[str, int], *, devices: int, seed: int, **options: Any
) -> bytes:
    """Batches of simulated devices, whose values have these frequencies."""
    folder = _Folder()
    with folder:
        lines = (f"{value}\t{count}" for value, count in counts.items())
        asked = {
            "recipe": folder.recipe(recipe),
            "counts": folder.lines(lines, "counts.tsv"),
            "devices": devices,
            "seed": seed,
            "output": "-",
        }
        return run("simulate", {**asked, **_options(options)})


def plan(**options: Any) -> Json:
    """Chooses a mechanism and its parameters, as `shoal plan` does.

    >>> plan(devices=100_000, size=50, epsilon=1)["schema"]
    1
    """
    return _json("plan", _options(options))


def account(**options: Any) -> Json:
    """The central guarantee of a collection, as `shoal account` computes it."""
    return _json("account", _options(options))


def discover(accumulator: Accumulator, **options: Any) -> Json:
    """Finds strings that nobody listed."""
    folder = _Folder()
    with folder:
        words = [folder.save(accumulator, "a.acc")]
        asked = {"recipe": folder.recipe(accumulator.recipe), **_options(options)}
        return _json("discover", asked, words)


def joint(accumulator: Accumulator, **options: Any) -> Json:
    """Estimates the variables of a joint recipe together."""
    folder = _Folder()
    with folder:
        words = [folder.save(accumulator, "a.acc")]
        asked = {"recipe": folder.recipe(accumulator.recipe), **_options(options)}
        return _json("joint", asked, words)


def compare(
    a: Accumulator, b: Accumulator, values: Sequence[str] | None = None, **options: Any
) -> Json:
    """Tells which counts changed between two accumulators."""
    folder = _Folder()
    with folder:
        asked = {"recipe": folder.recipe(a.recipe), **_options(options)}
        if b.recipe.hash != a.recipe.hash:
            asked["recipe-b"] = folder.recipe(b.recipe, "b.json")
        if values is not None:
            asked["dictionary"] = folder.lines(values)
        return _json("compare", asked, [folder.save(a, "a.acc"), folder.save(b, "b.acc")])
