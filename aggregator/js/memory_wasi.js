// SPDX-License-Identifier: Apache-2.0
// The part of WASI (preview 1) that the shoal command imports, in memory, with one flat folder of
// files. It depends on no host: the caller gives clock and randomness. Source: WASI preview 1's
// witx, which defines the numbers below.
//
// A file grows by doubling, because an accumulator arrives in thousands of small writes. The
// caller's own bytes are never written to.

const BADF = 8;
const EXIST = 20;
const INVAL = 28;
const NOENT = 44;
const NOTSUP = 58;
const SPIPE = 70;
const NOTCAPABLE = 76;

const TYPE_UNKNOWN = 0;
const TYPE_DIRECTORY = 3;
const TYPE_FILE = 4;
const OPEN_CREATE = 1;
const OPEN_DIRECTORY = 2;
const OPEN_EXCLUSIVE = 4;
const OPEN_TRUNCATE = 8;
const FLAG_APPEND = 1;
const ALL_RIGHTS = 0xffffffffffffffffn;
const ROOT = 3; // the descriptor of the folder, after the three standard streams

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Bytes that may grow. */
export class MemoryFile {
  #bytes;
  #length;
  #isShared = true; // still the caller's array

  /** @param {Uint8Array} [bytes] */
  constructor(bytes = new Uint8Array(0)) {
    this.#bytes = bytes;
    this.#length = bytes.length;
    this.isWritten = false;
  }

  get length() {
    return this.#length;
  }

  clear() {
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
    this.isWritten = true;
  }

  /** @param {number} at @param {number} len */
  read(at, len) {
    return this.#bytes.subarray(Math.min(at, this.#length), Math.min(at + len, this.#length));
  }

  /** @param {number} at @param {Uint8Array} data */
  write(at, data) {
    const end = at + data.length;
    if (this.#isShared || end > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.#bytes.length, 4096));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
      this.#isShared = false;
    }
    this.#bytes.set(data, at);
    this.#length = Math.max(this.#length, end);
    this.isWritten = true;
  }

  /** The content; a copy if the command wrote it. */
  content() {
    return this.isWritten ? this.#bytes.slice(0, this.#length) : this.#bytes;
  }
}

/** @typedef {{file: MemoryFile | null, type: number, at: number}} Descriptor */

/** Thrown through the module by proc_exit. */
class Exit extends Error {
  /** @param {number} code */
  constructor(code) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/**
 * Returns a path below the folder, or null when it leads out of it.
 * @param {string} path
 */
export function normalize(path) {
  /** @type {string[]} */
  const parts = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts.join('/');
}

/**
 * @typedef {{ args: string[], files: Map<string, MemoryFile>, stdin: Uint8Array, now: () => number,
 *   random: (bytes: Uint8Array) => void, }} Host `args` from the program's name on; `now` in
 *   milliseconds; `random` fills at most 65,536 bytes
 */

export class MemoryWasi {
  #host;
  #args;
  /** @type {WebAssembly.Memory | undefined} */ #memory;
  /** @type {Map<number, Descriptor>} */ #open = new Map();
  stdout = new MemoryFile();
  stderr = new MemoryFile();

  /** @param {Host} host */
  constructor(host) {
    this.#host = host;
    this.#args = host.args.map((arg) => encoder.encode(arg + '\0'));
    const streams = [new MemoryFile(host.stdin), this.stdout, this.stderr];
    streams.forEach((file, fd) => this.#open.set(fd, { file, type: TYPE_UNKNOWN, at: 0 }));
    this.#open.set(ROOT, { file: null, type: TYPE_DIRECTORY, at: 0 });
  }

  /** Runs a command to its end. Returns its exit code. @param {WebAssembly.Instance} instance */
  start(instance) {
    const { memory, _start } = /** @type {{memory: WebAssembly.Memory, _start: () => void}} */ (
      /** @type {unknown} */ (instance.exports)
    );
    this.#memory = memory;
    try {
      _start();
      return 0;
    } catch (error) {
      if (error instanceof Exit) return error.code;
      throw error;
    }
  }

  // Views are made anew for each call, because a module's memory moves when it grows.
  get #bytes() {
    return new Uint8Array(/** @type {WebAssembly.Memory} */ (this.#memory).buffer);
  }

  get #view() {
    return new DataView(/** @type {WebAssembly.Memory} */ (this.#memory).buffer);
  }

  /** @param {number} at @param {number} len */
  #name(at, len) {
    return normalize(decoder.decode(this.#bytes.subarray(at, at + len)));
  }

  /**
   * Lists the pieces of memory that a scattered read or write names.
   * @param {number} at
   * @param {number} count
   */
  *#pieces(at, count) {
    for (let i = 0; i < count; i++) {
      const view = this.#view;
      const start = view.getUint32(at + 8 * i, true);
      yield this.#bytes.subarray(start, start + view.getUint32(at + 8 * i + 4, true));
    }
  }

  /** @param {Uint8Array[]} strings @param {number} count @param {number} size */
  #sizes(strings, count, size) {
    this.#view.setUint32(count, strings.length, true);
    this.#view.setUint32(
      size,
      strings.reduce((sum, s) => sum + s.length, 0),
      true,
    );
    return 0;
  }

  /** @param {Uint8Array[]} strings @param {number} pointers @param {number} at */
  #strings(strings, pointers, at) {
    for (const s of strings) {
      this.#view.setUint32(pointers, at, true);
      this.#bytes.set(s, at);
      pointers += 4;
      at += s.length;
    }
    return 0;
  }

  /**
   * @param {number} at
   * @param {number} len
   * @param {number} flags
   * @param {number} fdFlags
   * @param {number} out
   */
  #pathOpen(at, len, flags, fdFlags, out) {
    const name = this.#name(at, len);
    if (name === null) return NOTCAPABLE;
    if (flags & OPEN_DIRECTORY || fdFlags & FLAG_APPEND) return NOTSUP; // no command needs it
    let file = this.#host.files.get(name);
    if (file && flags & OPEN_EXCLUSIVE) return EXIST;
    if (!file) {
      if (!(flags & OPEN_CREATE)) return NOENT;
      file = new MemoryFile();
      file.isWritten = true;
      this.#host.files.set(name, file);
    }
    if (flags & OPEN_TRUNCATE) file.clear();
    let fd = ROOT + 1;
    while (this.#open.has(fd)) fd++;
    this.#open.set(fd, { file, type: TYPE_FILE, at: 0 });
    this.#view.setUint32(out, fd, true);
    return 0;
  }

  /** @param {number} fd @param {bigint} offset @param {number} whence @param {number} out */
  #seek(fd, offset, whence, out) {
    const open = this.#open.get(fd);
    if (!open) return BADF;
    if (open.type !== TYPE_FILE || !open.file) return SPIPE;
    const at = [0, open.at, open.file.length][whence] + Number(offset);
    if (!(at >= 0)) return INVAL;
    open.at = at;
    this.#view.setBigUint64(out, BigInt(at), true);
    return 0;
  }

  /** @param {number} fd @param {number} pieces @param {number} count @param {number} out */
  #read(fd, pieces, count, out) {
    const open = this.#open.get(fd);
    if (!open?.file) return BADF;
    let sum = 0;
    for (const piece of this.#pieces(pieces, count)) {
      const data = open.file.read(open.at, piece.length);
      piece.set(data);
      open.at += data.length;
      sum += data.length;
    }
    this.#view.setUint32(out, sum, true);
    return 0;
  }

  /** @param {number} fd @param {number} pieces @param {number} count @param {number} out */
  #write(fd, pieces, count, out) {
    const open = this.#open.get(fd);
    if (!open?.file || fd === 0) return BADF;
    let sum = 0;
    for (const piece of this.#pieces(pieces, count)) {
      open.file.write(open.at, piece);
      open.at += piece.length;
      sum += piece.length;
    }
    this.#view.setUint32(out, sum, true);
    return 0;
  }

  /** @param {number} at @param {number} len @param {number} out */
  #pathStat(at, len, out) {
    const name = this.#name(at, len);
    if (name === null) return NOTCAPABLE;
    const file = this.#host.files.get(name);
    if (!file && name !== '') return NOENT;
    this.#bytes.fill(0, out, out + 64);
    this.#view.setUint8(out + 16, file ? TYPE_FILE : TYPE_DIRECTORY);
    this.#view.setBigUint64(out + 24, 1n, true);
    this.#view.setBigUint64(out + 32, BigInt(file?.length ?? 0), true);
    return 0;
  }

  /** @param {number} from @param {number} fromLen @param {number} to @param {number} toLen */
  #rename(from, fromLen, to, toLen) {
    const [old, fresh] = [this.#name(from, fromLen), this.#name(to, toLen)];
    const file = old === null ? undefined : this.#host.files.get(old);
    if (old === null || fresh === null) return NOTCAPABLE;
    if (!file) return NOENT;
    this.#host.files.delete(old);
    this.#host.files.set(fresh, file);
    return 0;
  }

  /** @param {number} fd @param {number} out */
  #fdStat(fd, out) {
    const open = this.#open.get(fd);
    if (!open) return BADF;
    this.#bytes.fill(0, out, out + 24);
    this.#view.setUint8(out, open.type);
    this.#view.setBigUint64(out + 8, ALL_RIGHTS, true);
    this.#view.setBigUint64(out + 16, ALL_RIGHTS, true);
    return 0;
  }

  /** @param {number} at @param {number} len */
  #random(at, len) {
    for (let done = 0; done < len; done += 65536) {
      // Some hosts cannot fill a view of a module's memory.
      const some = new Uint8Array(Math.min(65536, len - done));
      this.#host.random(some);
      this.#bytes.set(some, at + done);
    }
    return 0;
  }

  /** What a module imports as wasi_snapshot_preview1: numbers in, an error number out. */
  imports = {
    args_sizes_get: (/** @type {number} */ count, /** @type {number} */ size) =>
      this.#sizes(this.#args, count, size),
    args_get: (/** @type {number} */ pointers, /** @type {number} */ at) =>
      this.#strings(this.#args, pointers, at),
    environ_sizes_get: (/** @type {number} */ count, /** @type {number} */ size) =>
      this.#sizes([], count, size),
    environ_get: () => 0,
    clock_time_get: (
      /** @type {number} */ _id,
      /** @type {bigint} */ _precision,
      /** @type {number} */ out,
    ) => {
      this.#view.setBigUint64(out, BigInt(Math.round(this.#host.now() * 1e6)), true);
      return 0;
    },
    fd_close: (/** @type {number} */ fd) => (this.#open.delete(fd) ? 0 : BADF),
    fd_fdstat_get: (/** @type {number} */ fd, /** @type {number} */ out) => this.#fdStat(fd, out),
    fd_fdstat_set_flags: () => NOTSUP,
    fd_prestat_get: (/** @type {number} */ fd, /** @type {number} */ out) => {
      if (fd !== ROOT) return BADF;
      this.#view.setUint32(out, 0, true); // a folder
      this.#view.setUint32(out + 4, 1, true); // whose name, "/", has one byte
      return 0;
    },
    fd_prestat_dir_name: (
      /** @type {number} */ fd,
      /** @type {number} */ at,
      /** @type {number} */ len,
    ) => {
      if (fd !== ROOT || len < 1) return BADF;
      this.#bytes[at] = 0x2f;
      return 0;
    },
    fd_read: (
      /** @type {number} */ fd,
      /** @type {number} */ at,
      /** @type {number} */ n,
      /** @type {number} */ out,
    ) => this.#read(fd, at, n, out),
    fd_write: (
      /** @type {number} */ fd,
      /** @type {number} */ at,
      /** @type {number} */ n,
      /** @type {number} */ out,
    ) => this.#write(fd, at, n, out),
    fd_seek: (
      /** @type {number} */ fd,
      /** @type {bigint} */ offset,
      /** @type {number} */ whence,
      /** @type {number} */ out,
    ) => this.#seek(fd, offset, whence, out),
    // Folders are not in memory, so a command that reads or makes one (init, a run over epochs) gets
    // an error.
    fd_readdir: () => NOTSUP,
    path_create_directory: () => NOTSUP,
    path_remove_directory: () => NOTSUP,
    fd_sync: (/** @type {number} */ fd) => (this.#open.has(fd) ? 0 : BADF),
    path_filestat_get: (
      /** @type {number} */ _fd,
      /** @type {number} */ _flags,
      /** @type {number} */ at,
      /** @type {number} */ len,
      /** @type {number} */ out,
    ) => this.#pathStat(at, len, out),
    path_open: (
      /** @type {number} */ _fd,
      /** @type {number} */ _lookup,
      /** @type {number} */ at,
      /** @type {number} */ len,
      /** @type {number} */ flags,
      /** @type {bigint} */ _rights,
      /** @type {bigint} */ _inherited,
      /** @type {number} */ fdFlags,
      /** @type {number} */ out,
    ) => this.#pathOpen(at, len, flags, fdFlags, out),
    path_rename: (
      /** @type {number} */ _fd,
      /** @type {number} */ from,
      /** @type {number} */ fromLen,
      /** @type {number} */ _toFd,
      /** @type {number} */ to,
      /** @type {number} */ toLen,
    ) => this.#rename(from, fromLen, to, toLen),
    path_unlink_file: (
      /** @type {number} */ _fd,
      /** @type {number} */ at,
      /** @type {number} */ len,
    ) => {
      const name = this.#name(at, len);
      return name !== null && this.#host.files.delete(name) ? 0 : NOENT;
    },
    proc_exit: (/** @type {number} */ code) => {
      throw new Exit(code);
    },
    random_get: (/** @type {number} */ at, /** @type {number} */ len) => this.#random(at, len),
  };
}
