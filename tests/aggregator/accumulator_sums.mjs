// SPDX-License-Identifier: Apache-2.0
// What an accumulator's file holds apart from its claims: for tests that bring the same reports in different inputs.

const HEADER = 124; // bytes
const SHAPE = 12; // bytes a part

/**
 * Returns a file of version 1 or 2 with the same sums, without the checksum.
 * @param {Buffer} file
 */
export function sumsOf(file) {
  const end = HEADER + SHAPE * file.readUInt32LE(12);
  const head = Buffer.from(file.subarray(0, end));
  if (file.readUInt32LE(8) < 3) return file.subarray(0, -8);
  head.writeUInt32LE((file.readUInt32LE(end) & 1) + 1, 8);
  return Buffer.concat([head, file.subarray(end + 8 + 16 * file.readUInt32LE(end + 4), -8)]);
}
