// SPDX-License-Identifier: Apache-2.0
// Makes an extension of DuckDB of a shared library: appends the 534 bytes by which DuckDB knows for which platform and which
// version of its C API it was built. They hold no signature.
//   node duckdb_footer.mjs LIBRARY OUTPUT VERSION PROCESSOR
import { readFileSync, writeFileSync } from 'node:fs';

const [library, output, version, processor] = process.argv.slice(2);
if (!processor) {
  process.stderr.write('usage: duckdb_footer.mjs LIBRARY OUTPUT VERSION PROCESSOR\n');
  process.exit(2);
}
const platforms = /** @type {Record<string, string>} */ ({
  x86_64: 'linux_amd64',
  AMD64: 'linux_amd64',
  aarch64: 'linux_arm64',
});
if (!(processor in platforms)) {
  process.stderr.write(`duckdb_footer: no platform of DuckDB is known for ${processor}\n`);
  process.exit(1);
}

/** A text in 32 bytes. @param {string} text */
function field(text) {
  if (Buffer.byteLength(text) > 32) throw new Error(`${text} is longer than 32 bytes`);
  const bytes = Buffer.alloc(32);
  bytes.write(text);
  return bytes;
}

// The head of a custom section of WebAssembly, which DuckDB's reader skips in other files too: type 0, 531 bytes follow, a
// name of 16 bytes, 512 bytes of content.
const head = Buffer.concat([
  Buffer.from([0x00, 0x93, 0x04, 0x10]),
  Buffer.from('duckdb_signature'),
  Buffer.from([0x80, 0x04]),
]);
const fields = ['', '', '', 'C_STRUCT', version, 'v1.2.0', platforms[processor], '4'].map(field);
const signature = Buffer.alloc(256);
writeFileSync(output, Buffer.concat([readFileSync(library), head, ...fields, signature]));
