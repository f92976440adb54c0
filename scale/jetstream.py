# SPDX-License-Identifier: Apache-2.0
"""Carries batches over NATS JetStream: from a folder or bucket to a lake.

    python jetstream.py publish --from out/ ...    sends each batch, then deletes it
    python jetstream.py consume --lake lake/ ...   stores each batch, then acknowledges it

Both may be killed at any time and run again. What is sent or delivered twice has the same id, so it
meets its own object in the lake and changes nothing. The broker is not what makes this true: it
knows message ids for a while only. Batches are raw or compressed by gzip, as the edge sends them.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

import nats
from nats.js.api import ConsumerConfig, RetentionPolicy, StreamConfig
from nats.js.errors import BadRequestError, NotFoundError

from fold import Job, Refused, judge
from drive import hash_of
from lake import HEADER, BatchKey, Differs, Missing, Store, TooLarge, checksum_of, name_of
from lake import open_store, parse_key, put_same

STREAM, SUBJECT, DURABLE = "SHOAL", "shoal.batches", "lake"
ACK_S = 60.0


def key_of(data: bytes) -> BatchKey | None:
    """The key that a batch's header asks for. Whether the batch is good, `judge` says."""
    ending = ".batch"
    if data[:2] == b"\x1f\x8b":
        ending = ".batch.gz"
        try:
            data = zlib.decompressobj(31).decompress(data, HEADER.size)
        except zlib.error:
            return None
    return name_of(data, ending)


async def open_stream(server: str) -> tuple[Any, Any]:
    client = await nats.connect(server, connect_timeout=10, max_reconnect_attempts=-1)
    stream = client.jetstream(timeout=30)
    # A message is deleted once it is acknowledged. Storage is a file: a broker that dies keeps it.
    config = StreamConfig(name=STREAM, subjects=[SUBJECT], retention=RetentionPolicy.WORK_QUEUE)
    try:
        await stream.stream_info(STREAM)
    except NotFoundError:
        try:
            await stream.add_stream(config)
        except BadRequestError:  # the other side made it meanwhile
            await stream.stream_info(STREAM)
    return client, stream


async def publish(source: Store, prefix: str, server: str) -> int:
    """Sends every batch below a prefix, and deletes it once the broker has stored it."""
    client, stream = await open_stream(server)
    sent = 0
    for item in source.list(f"{prefix}/"):
        key = parse_key(item.key)
        if key is None or key.ending == ".batch.zst":
            print(
                f"publish: {item.key[:200]!r} is no batch, raw or gzip, and stays", file=sys.stderr
            )
            continue
        if item.size > client.max_payload:
            limit = f"max_payload of the broker is {client.max_payload}"
            print(f"publish: {item.key} has {item.size} bytes and stays: {limit}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as name:
            try:
                data = source.local(item.key, Path(name)).read_bytes()
            except Missing:
                continue  # another publisher sent it
        await stream.publish(SUBJECT, data, stream=STREAM, headers={"Nats-Msg-Id": key.id})
        source.delete(item.key)
        sent += 1
    await client.close()
    return sent


def keep(data: bytes, job: Job, lake: Store) -> str:
    """Stores one message in the lake. Returns what was wrong, or nothing."""
    with tempfile.TemporaryDirectory(prefix="shoal-queue-") as name:
        scratch = Path(name)
        (scratch / "recipe.json").write_bytes(job.recipe)
        key = key_of(data)
        if key is None or key.recipe != job.hash:
            nothing = BatchKey(job.hash, "1970-01-01", "0" * 32, ".batch")
            (scratch / "message").write_bytes(data)
            aside = nothing.aside(checksum_of(scratch / "message"))
            put_same(lake, aside, scratch / "message", scratch)
            return f"a message is no batch of the recipe; it lies at {aside}"
        file = scratch / f"{key.id}{key.ending}"
        file.write_bytes(data)
        bad, sum = judge(job, key, file, scratch), checksum_of(file)
        if bad is None:
            try:
                put_same(lake, key.key, file, scratch)
                return ""
            except Differs:
                why = "the lake has other bytes under this name"
        else:
            why = bad.why
        put_same(lake, key.aside(sum), file, scratch)
        return f"{key.key}: {why}; it lies at {key.aside(sum)}"


async def consume(job: Job, server: str, until_empty: bool) -> int:
    """Stores messages and acknowledges each after the write. With until_empty it ends after the last."""
    lake = open_store(job.lake)
    client, stream = await open_stream(server)
    config = ConsumerConfig(ack_wait=ACK_S if not until_empty else 5.0)
    pull = await stream.pull_subscribe(SUBJECT, DURABLE, STREAM, config)
    stored = 0
    while True:
        try:
            messages = await pull.fetch(8, timeout=2)
        except (nats.errors.TimeoutError, asyncio.TimeoutError):
            info = await pull.consumer_info()
            if until_empty and info.num_pending == 0 and info.num_ack_pending == 0:
                break
            continue
        for message in messages:
            wrong = await asyncio.to_thread(keep, message.data, job, lake)
            if wrong:
                print(f"consume: {wrong}", file=sys.stderr, flush=True)
            # Only now: a consumer that dies before this line gets the message again.
            await message.ack_sync(timeout=30)
            stored += not wrong
    await client.close()
    return stored


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Carries batches over NATS JetStream.", allow_abbrev=False
    )
    parser.add_argument("action", choices=("publish", "consume"))
    parser.add_argument("--recipe", required=True, help="the collection's recipe, JSON")
    parser.add_argument(
        "--server", default="nats://127.0.0.1:4222", help="default nats://127.0.0.1:4222"
    )
    parser.add_argument("--from", dest="source", help="publish: a folder, or s3://bucket")
    parser.add_argument("--lake", help="consume: a folder, or s3://bucket")
    parser.add_argument("--shoal", default="shoal", help="the command")
    parser.add_argument(
        "--until-empty", action="store_true", help="consume: end after the last message"
    )
    args = parser.parse_args()
    try:
        recipe = Path(args.recipe).read_bytes()
        hash = hash_of(recipe, args.shoal)
        if args.action == "publish":
            if args.source is None:
                parser.error("publish needs --from")
            print(asyncio.run(publish(open_store(args.source), hash, args.server)))
        else:
            if args.lake is None:
                parser.error("consume needs --lake")
            job = Job(recipe, hash, args.lake, args.lake, 1, args.shoal)
            print(asyncio.run(consume(job, args.server, args.until_empty)))
        return 0
    except Refused as error:
        print(f"{args.action}: {error}", file=sys.stderr)
        return error.code
    except (OSError, ValueError, TooLarge, nats.errors.Error) as error:
        print(f"{args.action}: {error or type(error).__name__}", file=sys.stderr)
        return 5


if __name__ == "__main__":
    sys.exit(main())
