// SPDX-License-Identifier: Apache-2.0
// Where Debian's packages come from on this machine: what its apt asks.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = '/etc/apt/sources.list.d';

/** Debian's mirror as a URL that ends with /debian. */
export function mirror() {
  const names = existsSync(FOLDER) ? readdirSync(FOLDER).map((name) => join(FOLDER, name)) : [];
  for (const file of [...names, '/etc/apt/sources.list']) {
    if (!existsSync(file)) continue;
    const text = readFileSync(file, 'utf8');
    const found =
      /^URIs:\s*(\S+\/debian)\/?\s*$/m.exec(text) ??
      /^deb (?:\[.*?\] )?(\S+\/debian)\/? /m.exec(text);
    if (found) return found[1];
  }
  throw new Error('the sources of apt name no mirror of Debian');
}
