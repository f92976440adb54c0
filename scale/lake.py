# SPDX-License-Identifier: Apache-2.0
"""Objects by key, in a folder or in a bucket (S3), and the names of batches among them.

A name is written once: `put_new` never replaces an object. So a task that runs twice, or dies and
runs again, changes nothing. Keys come from outside, so `is_key` judges each before it becomes a path.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
import shutil
import struct
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterator, Protocol

# The largest batch has 2^28 bytes. Compressing bytes that do not compress adds a little to them.
OBJECT_MAX = (1 << 28) + (1 << 20)
_PART = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
_BATCH = re.compile(
    r"(?P<recipe>[0-9a-f]{64})/(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})/(?P<two>[0-9a-f]{2})"
    r"/(?P<id>(?P=two)[0-9a-f]{30})(?P<ending>\.batch(?:\.gz|\.zst)?)"
)


class Missing(Exception):
    """The object is not there."""


class TooLarge(Exception):
    """The object is larger than any batch."""


class Differs(Exception):
    """Other bytes are stored under a name whose bytes are known."""


@dataclass(frozen=True)
class Item:
    key: str
    size: int


@dataclass(frozen=True)
class BatchKey:
    recipe: str
    day: str
    id: str
    ending: str

    @property
    def key(self) -> str:
        return f"{self.recipe}/{self.day}/{self.id[:2]}/{self.id}{self.ending}"

    def aside(self, checksum: str) -> str:
        """Where other bytes of this name go; the edge uses the same names."""
        name = f"{self.recipe}/{self.day}/{self.id[:2]}/{self.id}"
        return f"quarantine/{name}.{checksum[:16]}{self.ending}"


def parse_key(key: str) -> BatchKey | None:
    """The parts of a batch's key, or None for any other name."""
    match = _BATCH.fullmatch(key)
    if match is None:
        return None
    try:
        datetime.date.fromisoformat(match["day"])
    except ValueError:
        return None
    return BatchKey(match["recipe"], match["day"], match["id"], match["ending"])


HEADER = struct.Struct("<8sIIII32s16s")  # of a batch: docs/formats.md, up to the id


def name_of(header: bytes, ending: str = ".batch") -> BatchKey | None:
    """The name that the header of a batch of version 2 asks for; None for any other bytes."""
    if len(header) < HEADER.size:
        return None
    magic, version, _, _, day, recipe, id = HEADER.unpack_from(header)
    if magic != b"shoalbat" or version != 2 or not 1 <= day <= 84_370:
        return None
    sealed = datetime.date(1970, 1, 1) + datetime.timedelta(day)
    return BatchKey(recipe.hex(), sealed.isoformat(), id.hex(), ending)


def is_key(key: str) -> bool:
    """Whether a key is safe as a path: no part is empty, `.` or `..`, or begins with a dot."""
    return len(key) <= 1024 and all(_PART.fullmatch(part) for part in key.split("/"))


def checksum_of(file: Path) -> str:
    with open(file, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class Store(Protocol):
    def list(self, prefix: str) -> Iterator[Item]:
        """All objects whose key begins with a prefix that ends in a slash, in any order."""

    def local(self, key: str, folder: Path) -> Path:
        """A file with the object's bytes; it may lie in `folder`. Raises Missing, TooLarge."""

    def put_new(self, key: str, file: Path) -> bool:
        """Stores a file, whole or not at all. False where the key is taken: nothing changes."""

    def has(self, key: str) -> bool: ...

    def delete(self, key: str) -> None:
        """Deletes an object; one that is gone already is no error."""

    def move(self, key: str, to: str) -> None:
        """Renames an object. One that is gone already is no error."""


class Folder:
    """Objects as files below a folder."""

    def __init__(self, root: str) -> None:
        self.root = Path(root)

    def _path(self, key: str) -> Path:
        if not is_key(key):
            raise ValueError(f"{key!r} is not a key")
        return self.root / key

    def list(self, prefix: str) -> Iterator[Item]:
        top = self._path(prefix.rstrip("/"))
        for folder, folders, names in os.walk(top):
            folders.sort()
            for name in sorted(names):
                path = Path(folder, name)
                if name.startswith(".tmp-"):
                    continue  # somebody writes it, or died writing it
                try:
                    size = path.stat(follow_symlinks=False).st_size
                except FileNotFoundError:
                    continue
                # A link or a device is listed, and has the size that no batch has.
                is_file = path.is_file() and not path.is_symlink()
                yield Item(
                    path.relative_to(self.root).as_posix(), size if is_file else OBJECT_MAX + 1
                )

    def local(self, key: str, folder: Path) -> Path:
        path = self._path(key)
        if not path.is_file() or path.is_symlink():
            raise Missing(key)
        if path.stat().st_size > OBJECT_MAX:
            raise TooLarge(key)
        return path.resolve()

    def put_new(self, key: str, file: Path) -> bool:
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".tmp-", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as target, open(file, "rb") as source:
                shutil.copyfileobj(source, target, 1 << 20)
                target.flush()
                os.fsync(target.fileno())
            os.link(temporary, path)  # fails where the name is taken, unlike a rename
        except FileExistsError:
            return False
        finally:
            os.unlink(temporary)
        parent = os.open(path.parent, os.O_RDONLY)
        os.fsync(parent)
        os.close(parent)
        return True

    def has(self, key: str) -> bool:
        return self._path(key).is_file()

    def delete(self, key: str) -> None:
        self._path(key).unlink(missing_ok=True)

    def move(self, key: str, to: str) -> None:
        target = self._path(to)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(self._path(key), target)
        except FileNotFoundError:
            pass


class Bucket:
    """Objects in a bucket. Where it is and who may use it, the AWS environment variables say."""

    def __init__(self, bucket: str, prefix: str = "") -> None:
        import boto3
        from botocore.config import Config

        self.bucket = bucket
        self.prefix = prefix.strip("/") + "/" if prefix.strip("/") else ""
        retries: Any = {"mode": "standard", "max_attempts": 6}
        self.client: Any = boto3.client("s3", config=Config(retries=retries))

    def _key(self, key: str) -> str:
        if not is_key(key):
            raise ValueError(f"{key!r} is not a key")
        return self.prefix + key

    @staticmethod
    def _code(error: Any) -> int:
        return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))

    def list(self, prefix: str) -> Iterator[Item]:
        pages = self.client.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self.bucket, Prefix=self.prefix + prefix):
            for entry in page.get("Contents", []):
                yield Item(entry["Key"][len(self.prefix) :], entry["Size"])

    def local(self, key: str, folder: Path) -> Path:
        from botocore.exceptions import ClientError

        path = folder / key.rsplit("/", 1)[-1]
        try:
            answer = self.client.get_object(Bucket=self.bucket, Key=self._key(key))
        except ClientError as error:
            if self._code(error) == 404:
                raise Missing(key) from None
            raise
        if answer["ContentLength"] > OBJECT_MAX:
            answer["Body"].close()
            raise TooLarge(key)
        with open(path, "wb") as target:  # a body that ends too early raises
            shutil.copyfileobj(answer["Body"], target, 1 << 20)
        return path

    def put_new(self, key: str, file: Path) -> bool:
        from botocore.exceptions import ClientError

        for _ in range(8):
            try:
                with open(file, "rb") as body:
                    self.client.put_object(
                        Bucket=self.bucket,
                        Key=self._key(key),
                        Body=body,
                        IfNoneMatch="*",
                        ChecksumAlgorithm="SHA256",
                    )
                return True
            except ClientError as error:
                if self._code(error) == 412:
                    return False
                if self._code(error) != 409:  # 409: another PUT of this name is under way
                    raise
        raise OSError(f"{key}: the bucket says again and again that another PUT is under way")

    def has(self, key: str) -> bool:
        from botocore.exceptions import ClientError

        try:
            self.client.head_object(Bucket=self.bucket, Key=self._key(key))
            return True
        except ClientError as error:
            if self._code(error) == 404:
                return False
            raise

    def delete(self, key: str) -> None:
        self.client.delete_object(Bucket=self.bucket, Key=self._key(key))

    def move(self, key: str, to: str) -> None:
        from botocore.exceptions import ClientError

        source = {"Bucket": self.bucket, "Key": self._key(key)}
        try:
            self.client.copy_object(Bucket=self.bucket, Key=self._key(to), CopySource=source)
        except ClientError as error:
            if self._code(error) != 404:
                raise
        self.delete(key)


def open_store(url: str) -> Store:
    """`s3://bucket/prefix`, or a folder."""
    if url.startswith("s3://"):
        bucket, _, prefix = url[len("s3://") :].partition("/")
        if prefix and not is_key(prefix.strip("/")):
            raise ValueError(f"{url}: a prefix has letters, digits and ._- between slashes")
        return Bucket(bucket, prefix)
    if "://" in url:
        raise ValueError(f"{url}: a store is a folder, or s3://bucket/prefix")
    return Folder(os.path.abspath(url))


def put_same(store: Store, key: str, file: Path, scratch: Path) -> bool:
    """Stores a file under a name that says what its bytes are. False where the same bytes were there.

    Raises Differs where the name holds other bytes.
    """
    if store.put_new(key, file):
        return True
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        there = store.local(key, Path(folder))
        if checksum_of(there) != checksum_of(file):
            raise Differs(key)
    return False
