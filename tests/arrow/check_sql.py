# SPDX-License-Identifier: Apache-2.0
"""shoal's functions in DuckDB. Usage: check_sql.py EXTENSION SQL.md, in a folder with grr.json, grr.ndjson,
grr.batch (several batches), grr.acc of that file, later.acc, cms.json, cms.ndjson and sum.json; prints "ok"."""

import json
import re
import struct
import sys

import duckdb

extension = sys.argv[1]
sql = duckdb.connect(config={"allow_unsigned_extensions": "true"})
sql.execute(f"LOAD '{extension}'")
sql.execute("SET threads = 4")
recipe = open("grr.json").read()
reports = open("grr.ndjson").read().splitlines()


def batches():
    """The file's batches, one each (docs/formats.md)."""
    data, at = open("grr.batch", "rb").read(), 0
    while at < len(data):
        version, size, count = struct.unpack_from("<3I", data, at + 8)
        end = at + (72 if version == 1 else 88) + size * count + 8
        yield data[at:end]
        at = end


def refused(words, query, values=()):
    try:
        sql.execute(query, values).fetchall()
    except duckdb.Error as error:
        assert re.search(words, str(error)), (words, str(error))
        return
    raise AssertionError(f"not refused: {query}")


def one(query, values=()):
    return sql.execute(query, values).fetchone()[0]


sql.execute("CREATE TABLE reports (day INTEGER, report VARCHAR)")
sql.executemany("INSERT INTO reports VALUES (?, ?)", [(i % 3, line) for i, line in enumerate(reports)])
sql.execute("CREATE TABLE batches (sealed BLOB)")
sql.executemany("INSERT INTO batches VALUES (?)", [(batch,) for batch in batches()])

# reports and batches give the counts of the command
command = {row["value"]: row for row in json.load(open("grr.rows.json"))["rows"]}
for source in ("SELECT shoal_fold($r, report) AS sum FROM reports", "SELECT shoal_fold($r, sealed) AS sum FROM batches"):
    rows = sql.execute(
        f"SELECT unnest(shoal_estimate($r, sum), recursive := true) FROM ({source})", {"r": recipe}
    ).fetchall()
    assert len(rows) == len(command) > 0
    for value, count, stderr, low, high, detected in rows:
        theirs = command[value]
        assert (count, stderr, low, high) == tuple(theirs[k] for k in ("count", "stderr", "low", "high")), value
        assert detected is theirs["detected"]

# the bytes are the command's, and do not depend on order and threads
folded = one("SELECT shoal_fold($r, sealed) FROM batches", {"r": recipe})
assert folded == open("grr.acc", "rb").read()
whole = one("SELECT shoal_fold($r, report) FROM reports", {"r": recipe})
assert whole == one("SELECT shoal_fold($r, report) FROM (SELECT * FROM reports ORDER BY report)", {"r": recipe})
sql.execute("SET threads = 1")
assert whole == one("SELECT shoal_fold($r, report) FROM reports", {"r": recipe})
sql.execute("SET threads = 4")

# groups, merging, doubles
sql.execute("CREATE TABLE sums AS SELECT day, shoal_fold(?, report) AS sum FROM reports GROUP BY day", [recipe])
assert one("SELECT count(DISTINCT sum) FROM sums") == 3
sql.execute("CREATE TABLE merged AS SELECT shoal_merge(?, sum) AS sum FROM sums", [recipe])
parts = one("SELECT shoal_estimate(?, sum) FROM merged", [recipe])
assert parts == one("SELECT shoal_estimate(?, ?::BLOB)", [recipe, whole])
refused(r"shoal_merge: .*(twice|already|both)", "SELECT shoal_merge(?, sum) FROM (SELECT * FROM sums UNION ALL SELECT * FROM sums)", [recipe])
refused(r"shoal_merge: .*(twice|already|both)", "SELECT shoal_merge(?, sum) FROM (FROM merged UNION ALL SELECT sum FROM sums)", [recipe])
before = one("SELECT shoal_estimate(?, ?::BLOB)", [recipe, folded])
assert before == one("SELECT shoal_estimate(?, shoal_fold(?, sealed)) FROM (FROM batches UNION ALL FROM batches)", [recipe, recipe])

# values that are asked about, NULLs, empty groups
words = open("cms.json").read()
sql.execute("CREATE TABLE words AS SELECT report FROM read_csv('cms.ndjson', columns = {'report': 'VARCHAR'}, delim = '\\x01', quote = '', escape = '', header = false)")
asked = one("SELECT shoal_estimate($r, shoal_fold($r, report), ['cat', NULL, 'nobody']) FROM words", {"r": words})
assert [row["value"] for row in asked] == ["cat", "nobody"] and asked[0]["detected"] and not asked[1]["detected"]
assert one("SELECT shoal_fold(?, report) FROM reports WHERE false", [recipe]) is None
assert one("SELECT shoal_fold(?, NULL::VARCHAR)", [recipe]) is None
assert one("SELECT shoal_estimate(?, NULL::BLOB)", [recipe]) is None
assert whole == one("SELECT shoal_fold(?, report) FROM (SELECT report FROM reports UNION ALL SELECT NULL)", [recipe])

# refusals, in the library's words
refused(r"shoal_fold: recipe.*JSON", "SELECT shoal_fold('{', report) FROM reports")
refused(r"shoal_fold: .*two recipes", "SELECT shoal_fold(CASE WHEN day = 1 THEN $r ELSE $w END, report) FROM reports", {"r": recipe, "w": words})
refused(r"shoal_fold: ", "SELECT shoal_fold(?, 'no report') FROM reports", [recipe])
refused(r"shoal_fold: a report has one line", "SELECT shoal_fold(?, report || chr(10)) FROM reports", [recipe])
refused(r"shoal_fold: ", "SELECT shoal_fold(?, 'no batch'::BLOB)", [recipe])
refused(r"shoal_merge: ", "SELECT shoal_merge(?, 'no sum'::BLOB)", [recipe])
refused(r"shoal_estimate: ", "SELECT shoal_estimate(?, 'no sum'::BLOB)", [recipe])
refused(r"shoal_estimate: .*minimum cohort", "SELECT shoal_estimate($r, shoal_fold($r, report)) FROM (FROM reports LIMIT 5)", {"r": recipe})
for end in range(0, len(whole), max(1, len(whole) // 40)):
    refused(r"shoal_estimate: ", "SELECT shoal_estimate(?, ?::BLOB)", [recipe, whole[:end]])
for protocol in ("sum", "dap"):
    refused(r"may not be stored in tables", "SELECT shoal_fold(?, report) FROM reports", [open(f"{protocol}.json").read()])

# the examples of docs/sql.md
sql.execute("DROP TABLE sums")
blocks = re.findall(r"^```sql\n(.*?)^```", open(sys.argv[2], encoding="utf-8").read(), re.S | re.M)
statements = [text for block in blocks for text in block.split(";") if text.strip()]
assert len(statements) >= 3
answers = [sql.execute(text, {"recipe": recipe}).fetchall() for text in statements]
assert [row[0] for row in answers[0]] and answers[2][0][0] == one("FROM merged")
print("ok")
