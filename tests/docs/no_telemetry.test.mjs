// SPDX-License-Identifier: Apache-2.0
// "shoal itself sends nobody anything": no source names a host to send to, and connections are opened in the few places that are
// listed here with where their address comes from.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { read, root } from './markdown.mjs';

/** Hosts that a source may name: none of them is ever asked for anything. @type {[RegExp, string][]} */
const NAMED = [
  [/(^|\.)example(\.(org|com|net))?$|\.(invalid|example)$/, 'stand for hosts in comments and help'],
  [/^(www\.)?w3\.org$/, 'names the vocabulary of SVG'],
  [/^www\.wikipedia\.org$/, 'is a link of the sample page that init writes'],
  [/^iana\.org$/, 'names the types of problem documents'],
];
/** What opens a connection, or lets the system do it. */
const OPENS =
  /(?<!async )\bfetch\(|(?<![\w.])connect\(|curl_easy_perform|getaddrinfo|https?\.request\(|sendBeacon|XMLHttpRequest|new WebSocket|new EventSource/;
/** Files of the services that do, and where the address is from. @type {Record<string, string>} */
const OPENERS = {
  'aggregator/dap/dap_http.c': 'URLs of the task or recipe, and helper_url of the configuration',
  'aggregator/http/http_address.c': 'reads numeric addresses of the configuration (AI_NUMERICHOST)',
  'aggregator/serve/refresh_script.h': 'the page asks its own server for itself',
  'edge/bucket_s3.js': 'the bucket of the configuration',
  'edge/dap_forward.js': 'the leader of the recipe',
  'edge/forward.js': 'the aggregator of the configuration',
  'edge/log_files.js': 'a binding of the platform, for files',
  'edge/spool_lock.js': 'a socket in the spool, for its lock',
  'edge/worker.js': 'hands fetch to the two above',
  'issuer/counts_lock.js': 'a socket in the folder of counts, for its lock',
  'relay/handler.js': 'the gateway of the route',
  'relay/node.js': 'hands fetch to the handler',
  'relay/worker.js': 'the gateway of the route',
};

const sources = (/** @type {string[]} */ ...folders) =>
  spawnSync('git', ['ls-files', '-co', '--exclude-standard', ...folders], {
    cwd: root,
    encoding: 'utf8',
  })
    .stdout.split('\n')
    .filter((path) => /\.(c|h|js|mjs|def)$/.test(path))
    .filter((path) => !/(^|\/)(test|dist|types)\//.test(path) && !path.endsWith('build.mjs'));

/** A text without its comments; strings stay. @param {string} text */
const withoutComments = (text) =>
  text.replace(/\/\*[\s\S]*?\*\//g, ' ').replace(/(^|[\s;{}(,])\/\/[^\n]*/g, '$1');

test('no source names a host to send to', () => {
  const paths = sources('core', 'aggregator', 'edge', 'relay', 'issuer', 'wasm', 'ui');
  assert.ok(paths.length > 500);
  for (const path of paths)
    for (const [, host] of read(path).matchAll(/\b(?:https?|wss?):\/\/([\w-]+(?:\.[\w-]+)+)/g)) {
      if (/^\d+(\.\d+){3}$/.test(host)) assert.match(host, /^127\./, `${path}: ${host}`);
      else
        assert.ok(
          NAMED.some(([known]) => known.test(host)),
          `${path} names ${host}`,
        );
    }
});

test('the services open connections in these places, and nowhere else', () => {
  const found = sources('core', 'aggregator', 'edge', 'relay', 'issuer')
    .filter((path) => OPENS.test(withoutComments(read(path))))
    .sort();
  assert.deepEqual(found, Object.keys(OPENERS).sort());
  assert.match(read('aggregator/http/http_address.c'), /AI_NUMERICHOST/);
});

test('the pages say so', () => {
  for (const page of ['README.md', 'docs/operate.md', 'docs/privacy.md'])
    assert.match(read(page).replace(/\s+/g, ' '), /sends nobody anything/i, page);
});
