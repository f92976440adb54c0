# SPDX-License-Identifier: Apache-2.0
"""The Python package's tables of Arrow, in a folder with grr.json, grr.acc and file.arrows."""

import pyarrow as pa
import pyarrow.parquet
import shoal

stream = shoal.run("estimate", {"recipe": "grr.json"}, ["grr.acc"], format="arrow")
assert stream == open("file.arrows", "rb").read()
table = shoal.run_arrow("estimate", {"recipe": "grr.json"}, ["grr.acc"])
assert table.schema.metadata[b"recipe"] == b"grr"
assert table.schema.field("count").metadata == {b"unit": b"reports"}

recipe = shoal.Recipe.from_json(open("grr.json", encoding="utf-8").read())
estimate = shoal.Accumulator.load(recipe, "grr.acc").estimate()
mine = estimate.to_arrow()
shown = {row["value"]: row for row in mine.to_pylist() if not row["withheld"]}
assert shown and len(shown) == len(table) < len(mine)
for row in table.to_pylist():
    assert row["count"] == shown[row["value"]]["count"], row
    assert row["stderr"] == shown[row["value"]]["standard_error"], row
pa.parquet.write_table(mine, "mine.parquet")
again = pa.parquet.read_table("mine.parquet")
assert str(again.to_pylist()) == str(mine.to_pylist()) and again.schema.metadata[b"n"] == b"3000"
