# SPDX-License-Identifier: Apache-2.0
"""The C library libshoal_aggregate, by ctypes.

ctypes releases the interpreter's lock during every call, so calls of several threads run at the
same time.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    byref,
    c_char,
    c_char_p,
    c_double,
    c_size_t,
    c_uint8,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path
from typing import Any


class ErrorStruct(Structure):
    _fields_ = [("code", c_uint32), ("exit_code", c_uint32), ("text", c_char * 512)]


class BytesStruct(Structure):
    _fields_ = [("data", c_void_p), ("len", c_size_t)]


class FactsStruct(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("epsilon", c_double),
        ("n_values", c_uint64),
        ("release_threshold", c_uint64),
        ("record_size", c_uint32),
        ("report_size", c_uint32),
        ("cohort_minimum", c_uint32),
        ("n_variables", c_uint32),
        ("is_mean", c_uint32),
    ]


class AddedStruct(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("records", c_uint64),
        ("batches", c_uint64),
        ("held", c_uint64),
        ("rejected", c_uint64),
    ]


class OptionsStruct(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("confidence", c_double),
        ("multiple", c_uint32),
        ("n_threads", c_uint32),
        ("incomplete", c_uint32),
    ]


class TextStruct(Structure):
    _fields_ = [("bytes", c_void_p), ("len", c_size_t)]


class ColumnsStruct(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("n_rows", c_size_t),
        ("n_reports", c_uint64),
        ("confidence", c_double),
        ("n_withheld", c_uint64),
        ("n_alarms", c_uint64),
        ("count", c_void_p),
        ("standard_error", c_void_p),
        ("low", c_void_p),
        ("high", c_void_p),
        ("detected", c_void_p),
        ("withheld", c_void_p),
        ("value", POINTER(TextStruct)),
        ("n_shards", c_uint64),
        ("n_missing_shards", c_uint64),
    ]


LogFunction = CFUNCTYPE(None, c_void_p, c_char_p)

_E = POINTER(ErrorStruct)
_H = c_void_p
_CODE: dict[str, list[Any]] = {
    "recipe_from_json": [POINTER(_H), c_char_p, c_char_p, c_size_t, _E],
    "recipe_from_file": [POINTER(_H), c_char_p, _E],
    "recipe_facts_of": [POINTER(FactsStruct), _H, _E],
    "accumulator_new": [POINTER(_H), _H, _E],
    "accumulator_add_batches": [_H, _H, c_size_t, c_uint32, POINTER(AddedStruct), _E],
    "accumulator_add_reports": [_H, _H, c_size_t, c_double, POINTER(AddedStruct), _E],
    "accumulator_add_records": [_H, _H, c_uint64, c_char_p, _E],
    "accumulator_merge": [_H, _H, _E],
    "accumulator_save": [_H, c_char_p, _E],
    "accumulator_to_bytes": [_H, POINTER(BytesStruct), _E],
    "accumulator_load": [POINTER(_H), _H, c_char_p, _E],
    "accumulator_from_bytes": [POINTER(_H), _H, _H, c_size_t, _E],
    "estimate_new": [POINTER(_H), _H, POINTER(TextStruct), c_size_t, POINTER(OptionsStruct), _E],
    "estimate_columns": [POINTER(ColumnsStruct), _H, _E],
    "context_new": [POINTER(_H), _E],
    "run": [_H, c_char_p, c_char_p, c_char_p, POINTER(BytesStruct), _E],
}
_OTHER: dict[str, tuple[Any, list[Any]]] = {
    "version": (c_char_p, []),
    "error_name": (c_char_p, [c_uint32]),
    "bytes_free": (None, [POINTER(BytesStruct)]),
    "recipe_free": (None, [_H]),
    "recipe_id": (c_char_p, [_H]),
    "recipe_hash": (c_char_p, [_H]),
    "recipe_mechanism": (c_char_p, [_H]),
    "recipe_json": (c_char_p, [_H]),
    "recipe_value": (c_void_p, [_H, c_uint64, POINTER(c_size_t)]),
    "accumulator_free": (None, [_H]),
    "accumulator_set_threads": (None, [_H, c_uint32]),
    "accumulator_n": (c_uint64, [_H]),
    "accumulator_n_claims": (c_uint64, [_H]),
    "accumulator_claims": (POINTER(c_uint8), [_H]),
    "accumulator_is_claimed": (c_uint32, [_H]),
    "estimate_free": (None, [_H]),
    "context_free": (None, [_H]),
    "context_set_log": (None, [_H, LogFunction, c_void_p]),
}


def _load() -> ctypes.CDLL:
    path = os.environ.get("SHOAL_LIBRARY") or str(
        Path(__file__).with_name("libshoal_aggregate.so.0")
    )
    library = ctypes.CDLL(path)
    for name, arguments in _CODE.items():
        function = getattr(library, f"shoal_agg_{name}")
        function.restype, function.argtypes = c_uint32, arguments
    for name, (result, arguments) in _OTHER.items():
        function = getattr(library, f"shoal_agg_{name}")
        function.restype, function.argtypes = result, arguments
    return library


library = _load()


class ShoalError(Exception):
    """What the library refused.

    `code` is its number and `name` its name, as in shoal_aggregate.h; `exit_code` is the exit code
    of the command for the same error. `output` is what a command printed before it failed.
    """

    def __init__(self, code: int, exit_code: int, text: str, output: bytes = b"") -> None:
        super().__init__(text)
        self.code = code
        self.exit_code = exit_code
        self.name: str = library.shoal_agg_error_name(code).decode()
        self.output = output

    def __str__(self) -> str:
        return f"{self.name}: {super().__str__()}"


class CohortError(ShoalError):
    """Fewer reports than the recipe's minimum cohort: nothing is shown."""


class DuplicateError(ShoalError):
    """What is counted already, or would count twice."""


_CLASSES: dict[int, type[ShoalError]] = {103: CohortError, 6: DuplicateError}


def call(name: str, *arguments: Any) -> None:
    """Calls a function that returns a code, and raises what it refuses."""
    error = ErrorStruct()
    code = getattr(library, f"shoal_agg_{name}")(*arguments, byref(error))
    if code:
        raise make_error(code, error)


def make_error(code: int, error: ErrorStruct, output: bytes = b"") -> ShoalError:
    text = error.text.decode("utf-8", "replace")
    return _CLASSES.get(code, ShoalError)(code, error.exit_code, text, output)


def take_bytes(made: BytesStruct) -> bytes:
    """Copies bytes that the library made, and gives them back."""
    try:
        return ctypes.string_at(made.data, made.len) if made.len else b""
    finally:
        library.shoal_agg_bytes_free(byref(made))


class _PyBuffer(Structure):
    _fields_ = [
        ("buf", c_void_p),
        ("obj", c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", c_char_p),
        ("shape", c_void_p),
        ("strides", c_void_p),
        ("suboffsets", c_void_p),
        ("internal", c_void_p),
    ]


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, POINTER(_PyBuffer), ctypes.c_int]
_get_buffer.restype = ctypes.c_int
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [POINTER(_PyBuffer)]
_release_buffer.restype = None


class Buffer:
    """The bytes of an object with the buffer protocol, where they lie: nothing is copied.

    Bytes that do not lie together, such as every second row of an array, are refused.
    """

    def __init__(self, data: object) -> None:
        self._data: object = data
        self._buffer = _PyBuffer()

    def __enter__(self) -> Buffer:
        _get_buffer(self._data, byref(self._buffer), 0)
        self.address: int | None = self._buffer.buf
        self.len: int = self._buffer.len
        return self

    def __exit__(self, *_: object) -> None:
        _release_buffer(byref(self._buffer))
        self._data = None
