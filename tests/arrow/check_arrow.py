# SPDX-License-Identifier: Apache-2.0
"""Compares results as Arrow with the same results as JSON, row for row, and schemas with docs/formats.md.

Usage: check_arrow.py CASES.json FORMATS.md; a case is {"name", "arrow", "rows", "schema", "columns"}.
Prints the number of rows of each case.
"""

import json
import math
import re
import sys

import pyarrow as pa


def stated(path):
    """Returns the schemas that the document states: {name: [(column, type, nullable, unit)]}."""
    schemas, name = {}, None
    for line in open(path, encoding="utf-8"):
        head = re.match(r"^#+ Arrow of `?([a-z -]+?)`?$", line)
        row = re.match(r"^\| `([^`]+)` +\| (utf8|float64|int64|bool) +\| (yes|no|) *\| ([a-z,` ]*?) *\|", line)
        if line.startswith("#"):
            name = head.group(1) if head else None
            if name:
                schemas[name] = []
        elif name and row:
            schemas[name].append((row.group(1), row.group(2), row.group(3) == "yes", row.group(4)))
    return schemas


TYPES = {pa.string(): "utf8", pa.float64(): "float64", pa.int64(): "int64", pa.bool_(): "bool"}


def check_schema(name, schema, rows):
    """Every column is stated, in the stated order."""
    at = 0
    for field in schema:
        left = range(at, len(rows))
        found = [i for i in left if rows[i][0] == field.name] or [i for i in left if fits(rows[i][0], field.name)]
        assert found, f"{name}: column {field.name} is not stated, or out of order"
        at = found[0]
        _, kind, nullable, unit = rows[at]
        assert TYPES[field.type] == kind, f"{name}.{field.name}: {field.type}, stated {kind}"
        assert field.nullable == nullable, f"{name}.{field.name}: nullable {field.nullable}"
        found = (field.metadata or {}).get(b"unit", b"").decode()
        units = unit.replace("`", "").split(" or ") if unit else [""]
        assert found in units or (found == "" and "none" in units), f"{name}.{field.name}: unit {found!r}, stated {units}"
        if not rows[at][0].endswith("*"):
            at += 1


def fits(pattern, name):
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else pattern == name


def flat(row):
    """A row of JSON with its objects unfolded: cell.age."""
    out = {}
    for key, value in row.items():
        if isinstance(value, dict):
            out.update({f"{key}.{inner}": v for inner, v in value.items()})
        else:
            out[key] = value
    return out


def same(a, b):
    if isinstance(a, float) and isinstance(b, (int, float)) and not isinstance(b, bool):
        return a == b or (math.isnan(a) and b is None)
    return type(a) is type(b) and a == b


def main():
    schemas = stated(sys.argv[2])
    for case in json.load(open(sys.argv[1], encoding="utf-8")):
        with pa.ipc.open_stream(case["arrow"]) as reader:
            table = reader.read_all()
        table.validate(full=True)
        meta = {k.decode(): v.decode() for k, v in (table.schema.metadata or {}).items()}
        assert meta.get("schema") == "1" and meta.get("shoal"), meta
        for key, value in case.get("facts", {}).items():
            assert meta.get(key) == value, (case["name"], key, meta.get(key), value)
        check_schema(case["name"], table.schema, schemas[case["schema"]])
        got, rows = table.to_pylist(), [flat(row) for row in case["rows"]]
        assert len(got) == len(rows), (case["name"], len(got), len(rows))
        names = case.get("columns", {})
        for i, (mine, theirs) in enumerate(zip(got, rows)):
            for key, value in theirs.items():
                key = names.get(key, key)
                assert key in mine, (case["name"], i, key)
                exact = case.get("digits") is None or value is None or not isinstance(value, float)
                good = same(mine[key], value) if exact else math.isclose(mine[key], value, rel_tol=case["digits"])
                assert good, (case["name"], i, key, mine[key], value)
            extra = set(mine) - {names.get(k, k) for k in theirs} - set(case.get("extra", []))
            assert not extra, (case["name"], extra)
        print(case["name"], len(got))


if __name__ == "__main__":
    main()
