# SPDX-License-Identifier: Apache-2.0
"""Puts files of batches into a lake, each batch as one object under its own name.

    python put.py --recipe words.json --lake s3://lake FILE...

It is for batches that came another way than through an edge with a bucket: a backup, or what
`shoal simulate` wrote. A batch that is there already changes nothing, so it may run again. What a
batch holds, the fold checks; here its header is read and its length.
"""

from __future__ import annotations

import argparse
import struct
import sys
import tempfile
from pathlib import Path
from typing import BinaryIO, Iterator, Sequence

from drive import hash_of
from fold import Refused
from lake import OBJECT_MAX, BatchKey, Differs, name_of, open_store, put_same

HEAD, CHECKSUM = 88, 8  # bytes before and behind the records
SIZES = struct.Struct("<II")  # of a record, and how many; at byte 12


def batches(stream: BinaryIO, name: str) -> Iterator[tuple[BatchKey, bytes]]:
    """The batches of a file, with their names. Raises Refused for what is no batch of version 2."""
    at = 0
    while head := stream.read(HEAD):
        key = name_of(head)
        if key is None or len(head) < HEAD:
            raise Refused(f"{name}: no batch of version 2 at byte {at}")
        size, count = SIZES.unpack_from(head, 12)
        length = HEAD + size * count + CHECKSUM
        if length > OBJECT_MAX:
            raise Refused(f"{name}: the batch at byte {at} is larger than any")
        data = head + stream.read(length - HEAD)
        if len(data) < length:
            raise Refused(f"{name}: ends within the batch at byte {at}")
        yield key, data
        at += length


def put(recipe: str, lake: str, files: Sequence[str]) -> tuple[int, int]:
    """Returns: how many batches are new, and how many were there."""
    new = known = 0
    store = open_store(lake)
    with tempfile.TemporaryDirectory(prefix="shoal-put-") as folder:
        at = Path(folder) / "batch"
        for name in files:
            with open(name, "rb") as stream:
                for key, data in batches(stream, name):
                    if key.recipe != recipe:
                        raise Refused(f"{name}: a batch of another recipe, {key.recipe}")
                    at.write_bytes(data)
                    if put_same(store, key.key, at, Path(folder)):
                        new += 1
                    else:
                        known += 1
    return new, known


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Puts files of batches into a lake.", allow_abbrev=False
    )
    parser.add_argument("--recipe", required=True, help="the collection's recipe, JSON")
    parser.add_argument("--lake", required=True, help="a folder, or s3://bucket")
    parser.add_argument("--shoal", default="shoal", help="the command")
    parser.add_argument("files", nargs="+", metavar="FILE", help="batches of version 2")
    args = parser.parse_args()
    try:
        recipe = hash_of(Path(args.recipe).read_bytes(), args.shoal)
        new, known = put(recipe, args.lake, args.files)
    except Differs as other:
        print(f"put: other bytes are stored under {other}", file=sys.stderr)
        return 1
    except (Refused, OSError) as error:
        print(f"put: {error}", file=sys.stderr)
        return 1
    print(f"{new} new, {known} known")
    return 0


if __name__ == "__main__":
    sys.exit(main())
