// SPDX-License-Identifier: Apache-2.0
// A small npm registry on loopback, over folders of tarballs: packuments and their files, read only. What it lacks
// is answered with 404, so an installation from it cannot reach any other.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { readTarball } from '../../scripts/release/tar.mjs';

/** @typedef {{about: any, file: string, data: Buffer}} Published */

/** The packages of a folder's tarballs. @param {string} folder @returns {Published[]} */
const packagesIn = (folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.tgz'))
    .map((file) => {
      const data = readFileSync(join(folder, file));
      const about = readTarball(data).get('package/package.json')?.data;
      if (!about) throw new Error(`${file} is no npm package`);
      return { about: JSON.parse(String(about)), file, data };
    });

/** What a registry says of a package. @param {Published[]} versions @param {string} base */
const packument = (versions, base) => ({
  name: versions[0].about.name,
  'dist-tags': { latest: versions[versions.length - 1].about.version },
  versions: Object.fromEntries(
    versions.map(({ about, file, data }) => [
      about.version,
      {
        ...about,
        dist: {
          tarball: `${base}/-/files/${file}`,
          integrity: `sha512-${createHash('sha512').update(data).digest('base64')}`,
          shasum: createHash('sha1').update(data).digest('hex'),
        },
      },
    ]),
  ),
});

/**
 * Starts it.
 * @param {string[]} folders of tarballs
 * @returns {Promise<{url: string, asked: string[], close: () => Promise<void>}>} `asked` has the names that it was asked for and lacks
 */
export async function startRegistry(folders) {
  const all = folders.flatMap(packagesIn);
  /** @type {string[]} */
  const asked = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname);
    const base = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
    const file = all.find((each) => path === `/-/files/${each.file}`);
    const versions = all.filter(({ about }) => path === `/${about.name}`);
    if (request.method !== 'GET') return void response.writeHead(405).end();
    if (file) return void response.end(file.data);
    if (versions.length) {
      response.setHeader('Content-Type', 'application/json');
      return void response.end(JSON.stringify(packument(versions, base)));
    }
    asked.push(path.slice(1));
    response.writeHead(404, { 'Content-Type': 'application/json' }).end('{"error":"not found"}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}/`,
    asked,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
