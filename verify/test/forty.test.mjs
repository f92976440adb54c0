// SPDX-License-Identifier: Apache-2.0
// Breaks a whole installation in more than forty ways, one at a time, and compares the codes that shoal-verify gives. Every code of the table
// in docs/verify.md is here, or says why not. The parts are the real ones; what a proxy does, a proxy between them does.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer as createHttps } from 'node:https';
import { after, before, describe, test } from 'node:test';
import { browserPath } from '../browser.js';
import { CODES } from '../codes.js';
import { sendHere } from '../probe.js';
import { verify } from '../verify.js';
import { gatewayKeys } from '../../edge/key_file.js';
import {
  ADMIN,
  DIST,
  Installation,
  PROBE,
  THEME,
  hashOf,
  says,
  shoal,
  startEdgeProcess,
  startServe,
  where,
} from './installation.mjs';

const skip = !existsSync(shoal) && 'shoal is not built';
process.env.SHOAL_BINARY = shoal;
const it = new Installation();
const notLong = process.env.SHOAL_LONG !== '1' && 'it waits for what does not happen: SHOAL_LONG=1';
const LONG = true;
const CLOSED = 'http://127.0.0.1:1/';
const covered = new Set();
const HTML = /** @type {const} */ ([
  404,
  '<!doctype html><title>Not here</title>',
  { 'Content-Type': 'text/html' },
]);
const AN_HOUR_AGO = () => new Date(Date.now() - 3_600_000).toUTCString();
const SOON = () => new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);

before(async () => void (skip || (await it.start())));
after(() => it.close());

/**
 * Verifies, and expects these codes and no others.
 * @param {string[]} codes
 * @param {import('../setup.js').Settings} [settings]
 * @param {string[]} [besides]  what follows from them
 */
async function finds(codes, settings = {}, besides = []) {
  const { report } = await verify({
    url: it.page.url,
    noBrowser: true,
    noClient: true, // 29 files each time: only where they are what is broken
    noProbe: true,
    visitors: 100,
    aggregator: it.aggregator.url,
    ...settings,
  });
  const found = report.results.filter(({ state }) => state === 'wrong');
  const said = report.toText('', 'http');
  for (const code of codes)
    assert.ok(
      found.some((one) => one.code === code),
      `${code} in\n${said}`,
    );
  for (const one of found) {
    assert.ok([...codes, ...besides].includes(String(one.code)), `only ${codes}, but\n${said}`);
    assert.doesNotMatch(
      `${one.what}${one.mend}`,
      /[{](party|detail|csp|origin|edge|target|hash|recipe|version|bytes|host|service|mend)[}]/,
    );
  }
  assert.equal(report.exitCode, codes.length ? 1 : report.exitCode);
  for (const secret of [ADMIN, readFileSync(it.at('batch.secret'), 'utf8').trim()])
    assert.ok(!said.includes(secret));
  codes.forEach((code) => covered.add(code));
  return report;
}

/**
 * A test that breaks something and puts it back.
 * @param {string} name
 * @param {() => Promise<unknown>} run
 * @param {boolean} [isLong]  it waits for what does not happen
 */
const breaks = (name, run, isLong = false) =>
  test(name, { skip: skip || (isLong && notLong), timeout: 120_000 }, async () => {
    const { csp } = it;
    try {
      await run();
    } finally {
      it.csp = csp;
      it.reset();
    }
  });

/** start() of the page with other options. @param {string} options @param {any} [recipes] */
const pageSays = (options, recipes) => void (it.files = it.pageFiles(options, recipes));
const endpoint = (/** @type {string} */ url) => `endpoint: '${url}'`;

describe('nothing is broken', () => {
  breaks('all is right, by the folder and with the probe', async () => {
    const { report } = await verify({
      url: it.page.url,
      config: it.folder,
      noBrowser: true,
      visitors: 100,
    });
    assert.equal(report.exitCode, 0, report.toText('', 'http'));
    assert.ok(report.results.some(({ what }) => /its block closed/.test(what)));
  });
  breaks('without the folder nothing is wrong, and what could not be checked is said', async () => {
    const { report } = await verify({ url: it.page.url, noBrowser: true, noProbe: true });
    assert.equal(report.exitCode, 3, report.toText('', 'http'));
  });
});

describe('the page', () => {
  breaks('a name that does not resolve', () =>
    finds(['page-dns'], { url: 'http://page.invalid/' }, ['page-http']),
  );
  breaks('nobody listens', () => finds(['page-refused'], { url: 'http://127.0.0.1:1/' }));
  breaks('a path with a typing error', () =>
    finds(['page-path'], { url: `${it.page.url}indx.html` }),
  );
  breaks('no page', async () => {
    it.page.hook = where(/GET \/$/, says(200, '{}', { 'Content-Type': 'application/json' }));
    await finds(['page-html']);
  });
  breaks('another origin', async () => {
    const other = String(it.page.url).replace('127.0.0.1', 'localhost');
    it.page.hook = (request, response) =>
      request.headers.host?.startsWith('127')
        ? says(301, '', { Location: other })(request, response)
        : false;
    await finds(['page-redirect', 'cors-origin']);
  });
  breaks('a clock that is an hour late', async () => {
    it.page.headers = (headers) => (headers.date = AN_HOUR_AGO());
    await finds(['page-clock']);
  });
  breaks('no policy', async () => {
    it.page.headers = (headers) => delete headers['content-security-policy'];
    await finds(['csp-missing']);
  });
  breaks('a policy without wasm-unsafe-eval', async () => {
    it.csp = () => `script-src 'self'; connect-src 'self' ${it.edge.url}`;
    const report = await finds(['csp-wasm']);
    const { mend } = /** @type {any} */ (report.results.find(({ code }) => code === 'csp-wasm'));
    assert.match(
      mend,
      /Content-Security-Policy: script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' http:\/\/127/,
    );
  });
  breaks('a policy without the edge worker', async () => {
    it.csp = () => "script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";
    await finds(['csp-connect']);
  });
  breaks('a policy that refuses the scripts of the client', async () => {
    it.csp = () => `script-src 'wasm-unsafe-eval' https://cdn.example; connect-src *`;
    await finds(['csp-script']);
  });
  breaks('a page that takes too long', async () => {
    const { timeout } = AbortSignal;
    AbortSignal.timeout = () => timeout.call(AbortSignal, 50);
    it.page.hook = () => true;
    try {
      await finds(['page-timeout'], {}, ['aggregator-timeout']);
    } finally {
      AbortSignal.timeout = timeout;
    }
  });
});

describe('TLS', { skip }, () => {
  /** A page over https with a certificate of its own authority. @param {number} days */
  async function https(days) {
    const words = [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost',
      '-days',
      String(days),
    ];
    const done = spawnSync(
      'openssl',
      [...words, '-keyout', it.at('tls.key'), '-out', it.at('tls.pem')],
      { encoding: 'utf8' },
    );
    assert.equal(done.status, 0, done.stderr);
    const server = createHttps(
      { key: readFileSync(it.at('tls.key')), cert: readFileSync(it.at('tls.pem')) },
      async (request, response) => {
        const answer = await fetch(new URL(request.url ?? '/', it.page.url));
        response.writeHead(answer.status, {
          'Content-Type': answer.headers.get('content-type') ?? '',
          'Content-Security-Policy': it.csp(),
        });
        response.end(Buffer.from(await answer.arrayBuffer()));
      },
    );
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
    server.unref();
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    return {
      url: `https://localhost:${port}/`,
      close: () => (server.closeAllConnections(), server.close()),
    };
  }

  /** Believes every certificate while it runs, as with NODE_EXTRA_CA_CERTS, which Node reads at its start only. @param {() => Promise<unknown>} run */
  async function trusting(run) {
    const { emitWarning } = process;
    process.emitWarning = () => {};
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      await run();
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      process.emitWarning = emitWarning;
    }
  }

  breaks('a certificate that nobody signed', async () => {
    const page = await https(90);
    await finds(['page-tls'], { url: page.url }).finally(page.close);
  });
  breaks('a certificate that ends soon', async () => {
    const edge = await https(3);
    pageSays(endpoint(edge.url));
    it.csp = () => "script-src 'self' 'wasm-unsafe-eval'; connect-src *";
    await trusting(() => finds(['edge-certificate'], {}, ['edge-path', 'edge-html'])).finally(
      edge.close,
    );
  });
  breaks('mixed content', async () => {
    const page = await https(90);
    pageSays(endpoint('http://edge.invalid/'));
    it.csp = () => "script-src 'self' 'wasm-unsafe-eval'; connect-src http: https:";
    await trusting(() => finds(['mixed-content', 'edge-dns'], { url: page.url })).finally(
      page.close,
    );
  });
});

const FILES = { noClient: false };

describe('the files of the client', () => {
  breaks('a chunk that is missing', async () => {
    it.page.hook = where(/statement\.js/, says(404, ''));
    await finds(['client-missing'], FILES);
  });
  breaks('a file that was changed', async () => {
    it.page.hook = where(
      /client\.js/,
      says(200, 'export const init = () => {};', { 'Content-Type': 'text/javascript' }),
    );
    await finds(['client-changed'], FILES);
  });
  breaks('a module of another version', async () => {
    const manifest = JSON.parse(readFileSync(`${DIST}/hashes.json`, 'utf8'));
    it.files['/shoal/hashes.json'] = JSON.stringify({ ...manifest, version: '0.0.9' });
    it.files['/shoal/client.js'] = 'export const init = () => {};';
    await finds(['client-old'], FILES);
  });
  breaks('a server that answers every path with its page', async () => {
    it.page.hook = where(
      /\/shoal\/(relay|dap)\.js/,
      says(200, '<!doctype html>', { 'Content-Type': 'text/html' }),
    );
    await finds(['client-html'], FILES);
  });
  breaks('modules as plain text', async () => {
    it.page.headers = (headers) =>
      headers['content-type'] === 'text/javascript' && (headers['content-type'] = 'text/plain');
    await finds(['mime-js'], FILES);
  });
  breaks('WebAssembly as octets', async () => {
    it.page.headers = (headers) =>
      headers['content-type'] === 'application/wasm' &&
      (headers['content-type'] = 'application/octet-stream');
    await finds(['mime-wasm'], FILES);
  });
});

describe('recipes', () => {
  const pinned = (/** @type {string} */ hash, url = '/theme.json') =>
    `endpoint: '${it.edge.url}', recipes: [{ url: '${url}', hash: '${hash}' }]`;
  const changed = { ...THEME, parameters: { ...THEME.parameters, epsilon: 3 } };

  breaks('a wrong hash on the page', async () => {
    pageSays(pinned('ab'.repeat(32)));
    await finds(['recipe-hash-page']);
  });
  breaks('a recipe that is not there', async () => {
    pageSays(pinned(it.hashes.theme, '/them.json'));
    await finds(['recipe-missing']);
  });
  breaks('a page in place of a recipe', async () => {
    pageSays(undefined, { '/theme.json': '<!doctype html>' });
    await finds(['recipe-invalid']);
  });
  breaks('another recipe at the edge', async () => {
    const hash = await hashOf(changed);
    pageSays(pinned(hash), { '/theme.json': JSON.stringify(changed) });
    await finds(['recipe-hash-edge']);
  });
  breaks('a recipe that is not pinned at the edge', async () => {
    const other = { ...THEME, recipe: 'other' };
    pageSays(pinned(await hashOf(other)), { '/theme.json': JSON.stringify(other) });
    await finds(['recipe-not-at-edge']);
  });
  breaks('an expired recipe', async () => {
    const old = { ...THEME, recipe: 'old', expires: '2020-01-31' };
    pageSays(pinned(await hashOf(old)), { '/theme.json': JSON.stringify(old) });
    await finds(['recipe-expired'], {}, ['recipe-not-at-edge']);
  });
  breaks('a recipe that ends soon', async () => {
    const soon = { ...THEME, recipe: 'soon', expires: SOON() };
    pageSays(pinned(await hashOf(soon)), { '/theme.json': JSON.stringify(soon) });
    await finds(['recipe-expires'], {}, ['recipe-not-at-edge']);
  });
  breaks('a set is all right', async () => {
    const set = { budget: { epsilon: 8, days: 7 }, recipes: [THEME] };
    const done = spawnSync(shoal, ['recipe', 'hash', it.write('site.json', set)]);
    const site = `site: { url: '/site.json', hash: '${String(done.stdout).trim()}' }`;
    pageSays(`endpoint: '${it.edge.url}', ${site}`, { '/site.json': JSON.stringify(set) });
    const report = await finds([]);
    assert.match(report.toText('', 'http'), /have the same: theme/);
  });
  breaks('a set with another hash', async () => {
    pageSays(
      `endpoint: '${it.edge.url}', site: { url: '/site.json', hash: '${'cd'.repeat(32)}' }`,
      { '/site.json': JSON.stringify({ recipes: [THEME] }) },
    );
    await finds(['set-refused']);
  });
  breaks('another recipe, and one too few, at the aggregator', async () => {
    it.write('changed.json', changed);
    const config = it.aggregatorJson({ recipes: ['changed.json'], store: 'store-2' });
    const own = await startServe(it.write('aggregator-2.json', config));
    await finds(['recipe-hash-aggregator', 'recipe-not-at-aggregator'], {
      config: it.folder,
      aggregator: own.url,
    }).finally(own.stop);
  });
  breaks('a dictionary that is missing', async () => {
    const seed = '5a'.repeat(32);
    const words = {
      ...THEME,
      recipe: 'words',
      stream: 'typed-words',
      value: 'word',
      mechanism: 'cms',
      parameters: { epsilon: 4, k: 32, m: 64 },
      hash: 'poly1',
      seed,
    };
    const hash = await hashOf(words);
    it.write('words.json', words);
    const edge = await it.startEdge(
      'edge-words.json',
      it.edgeJson({ spool: 'spool-words', recipes: [{ file: 'words.json', hash }] }),
    );
    const kept = it.edge.target;
    it.edge.target = edge;
    pageSays(pinned(hash), { '/theme.json': JSON.stringify(words) });
    await finds(['dictionary-missing', 'recipe-not-at-aggregator'], { config: it.folder }).finally(
      () => (it.edge.target = kept),
    );
  });
  breaks('minimums out of reach', async () => {
    const last = { ...THEME, recipe: 'last', expires: SOON(), cohort: { minimum: 1e6 } };
    const small = { ...last, recipe: 'small', batch: { minimum: 1e5 }, cohort: { minimum: 1e5 } };
    const pins = await Promise.all(
      [last, small].map(async (one) => ({
        file: it.write(`${one.recipe}.json`, one),
        hash: await hashOf(one),
      })),
    );
    const kept = it.edge.target;
    it.edge.target = await it.startEdge(
      'edge-last.json',
      it.edgeJson({ spool: 'spool-last', recipes: pins }),
    );
    pageSays(endpoint(String(it.edge.url)));
    await finds(['minimum-cohort', 'minimum-batch'], { visitors: 100 }, ['recipe-expires']).finally(
      () => (it.edge.target = kept),
    );
  });
});

describe('the way to the edge worker', () => {
  const at = (/** @type {string} */ url) => {
    it.csp = () => "script-src 'self' 'wasm-unsafe-eval'; connect-src *";
    pageSays(endpoint(url));
  };

  breaks(
    'a name that does not resolve',
    async () => (at('http://edge.invalid/'), finds(['edge-dns'])),
  );
  breaks('nobody listens', async () => (at('http://127.0.0.1:1/'), finds(['edge-refused'])));
  breaks(
    'a path with a typing error',
    async () => (at(`${it.edge.url}shaol/`), finds(['edge-path'])),
  );
  breaks('a proxy that answers with its own page', async () => {
    it.edge.hook = says(...HTML);
    await finds(['edge-html']);
  });
  breaks('a redirect', async () => {
    it.edge.hook = says(308, '', { Location: 'https://www.example.org/' });
    await finds(['edge-redirect']);
  });
  breaks('a clock that is an hour late', async () => {
    it.edge.headers = (headers) => (headers.date = AN_HOUR_AGO());
    await finds(['edge-clock']);
  });
  breaks('the clock of this machine', async () => {
    for (const front of [it.page, it.edge, it.aggregator])
      front.headers = (headers) => (headers.date = AN_HOUR_AGO());
    await finds(['local-clock']);
  });
  breaks('an origin that may not report', async () => {
    const kept = it.edge.target;
    it.edge.target = await it.startEdge(
      'edge-origin.json',
      it.edgeJson({ spool: 'spool-origin', origins: ['https://www.example.org'] }),
    );
    const report = await finds(['cors-origin']).finally(() => (it.edge.target = kept));
    assert.match(
      report.toText('', 'http'),
      /add "http:\/\/127\.0\.0\.1:\d+" to `origins` of edge\.json/,
    );
  });
  breaks('a preflight that asks for a login', async () => {
    it.edge.hook = where(/^OPTIONS/, says(401, ''));
    await finds(['cors-preflight']);
  });
  breaks('a proxy that strips the headers of answers', async () => {
    it.edge.headers = (headers) =>
      Object.keys(headers).forEach(
        (name) => name.startsWith('access-control') && delete headers[name],
      );
    await finds(['cors-headers']);
  });
  breaks('a proxy that strips the headers of requests', async () => {
    it.edge.asked = (headers) => delete headers['idempotency-key'];
    await finds(['header-stripped']);
  });
  breaks('a limit for bodies', async () => {
    it.edge.hook = where(/^POST/, says(413, 'too large'));
    await finds(['body-limit']);
  });
  breaks('a limit for addresses', async () => {
    const kept = it.edge.target;
    it.edge.target = await it.startEdge(
      'edge-rate.json',
      it.edgeJson({
        spool: 'spool-rate',
        rate: { per_minute: 1, burst: 1 },
        proxies: ['192.0.2.1/32'],
      }),
    );
    const first = await fetch(`${it.edge.url}v1/reports`, { method: 'POST', body: '{}' });
    await first.arrayBuffer();
    await finds(['rate-limit']).finally(() => (it.edge.target = kept));
  });
  breaks('a wrong admin token', async () => {
    const file = it.write('wrong.token', 'another-token-for-tests\n');
    await finds(['edge-token', 'aggregator-token'], {
      config: it.folder,
      edgeTokenFile: file,
      aggregatorTokenFile: file,
    });
  });
});

describe('the aggregator', () => {
  breaks('it is down', () => finds(['aggregator-refused'], { aggregator: 'http://127.0.0.1:1/' }));
  breaks('a name that does not resolve', () =>
    finds(['aggregator-dns'], { aggregator: 'http://aggregator.invalid/' }),
  );
  breaks('a path with a typing error', () =>
    finds(['aggregator-path'], { aggregator: `${it.aggregator.url}shaol/` }),
  );
  breaks('a clock that is an hour late', async () => {
    it.aggregator.headers = (headers) => (headers.date = AN_HOUR_AGO());
    await finds(['aggregator-clock']);
  });
  breaks('a damaged store', async () => {
    it.aggregator.hook = where(/healthz/, says(503, '{"status":"damaged"}\n'));
    await finds(['aggregator-damaged']);
  });
  breaks('folds that fail', async () => {
    it.aggregator.hook = where(/healthz/, says(503, '{"status":"fold-failing"}\n'));
    await finds(['aggregator-fold-failing']);
  });
  breaks('another secret', async () => {
    it.write('other.secret', 'another-secret-for-tests\n');
    const own = await startServe(
      it.write(
        'aggregator-3.json',
        it.aggregatorJson({ batch_secret_file: 'other.secret', store: 'store-3' }),
      ),
    );
    await finds(['secret-differs'], { config: it.folder, aggregator: own.url }).finally(own.stop);
    const folder = new Installation();
    try {
      folder.write('edge.json', { ...it.edgeJson(), batch_secret_file: it.at('batch.secret') });
      folder.write(
        'aggregator.json',
        it.aggregatorJson({ batch_secret_file: it.at('other.secret') }),
      );
      await finds(['secret-differs'], { config: folder.folder }, [
        'config-edge',
        'config-aggregator',
      ]);
    } finally {
      await folder.close();
    }
  });
  breaks('a secret that is too short', async () => {
    const folder = new Installation();
    try {
      folder.write('edge.json', {
        ...it.edgeJson(),
        batch_secret_file: folder.write('short', 'short\n'),
      });
      await finds(['secret-unreadable', 'config-edge'], { config: folder.folder });
    } finally {
      await folder.close();
    }
  });
  breaks('a configuration with misspelt fields', async () => {
    const folder = new Installation();
    try {
      folder.write('aggregator.json', { ...it.aggregatorJson(), fold_intervall_s: 1 });
      folder.write('relay.json', { listen: '127.0.0.1:0', route: [] });
      const report = await finds(['config-aggregator', 'config-relay'], { config: folder.folder }, [
        'secret-unreadable',
      ]);
      assert.match(report.toText('', 'http'), /did you mean fold_interval_s\?/);
    } finally {
      await folder.close();
    }
  });
});

describe('the relay, the log and the issuer', () => {
  /** @param {string} relay @param {{name: string, key: string}} log */
  const through = (relay, log) => {
    it.csp = () => "script-src 'self' 'wasm-unsafe-eval'; connect-src *";
    pageSays(
      `endpoint: '${it.edge.url}', relay: '${relay}', log: { url: '/log', key: '${log.key}' }`,
    );
    it.page.hook = (request, response) => {
      const file = it.at(`${log.name}${String(request.url).slice('/log'.length)}`);
      if (!request.url?.startsWith('/log/')) return false;
      return existsSync(file)
        ? says(200, /** @type {any} */ (readFileSync(file)))(request, response)
        : says(404, '')(request, response);
    };
  };
  /** @type {{id: number, config: string}[]} */
  let keys = [];
  /** @type {{name: string, key: string}} */
  let log = { name: '', key: '' };
  before(async () => {
    if (skip) return;
    keys = await gatewayKeys(it.at('gateway.keys'), false);
    log = it.makeLog(keys);
  });

  breaks('all is right, and the probe goes through the relay', async () => {
    through(await it.startRelay(`${it.edge.url}ohttp`), log);
    const report = await finds([], { config: it.folder, noProbe: false });
    assert.match(report.toText('', 'http'), /sent a report through the relay/);
  });
  breaks(
    'the relay is down',
    async () => (through('http://127.0.0.1:1/r', log), finds(['relay-refused'])),
  );
  breaks(
    'its path has a typing error',
    async () => (
      through(`${await it.startRelay(`${it.edge.url}ohttp`)}elay`, log),
      finds(['relay-path'])
    ),
  );
  breaks(
    'it hands on to a wrong gateway',
    async () => (
      through(await it.startRelay(`${it.page.url}ohttp`), log),
      finds(['relay-gateway'])
    ),
  );
  breaks(
    'it takes nothing from this origin',
    async () => (
      through(await it.startRelay(`${it.edge.url}ohttp`, ['https://www.example.org']), log),
      finds(['relay-origin'])
    ),
  );
  breaks('the edge worker is no gateway', async () => {
    const kept = it.edge.target;
    it.edge.target = await it.startEdge(
      'edge-none.json',
      it.edgeJson({ spool: 'spool-none', gateway: undefined }),
    );
    through(await it.startRelay(`${it.edge.url}ohttp`), log);
    await finds(['gateway-missing', 'relay-gateway']).finally(() => (it.edge.target = kept));
  });
  breaks('the log lists another key of the gateway', async () => {
    const other = await gatewayKeys(it.at('other-gateway.keys'), true);
    through(await it.startRelay(`${it.edge.url}ohttp`), it.makeLog(other));
    await finds(['gateway-key-log'], { noProbe: false });
  });
  breaks('the page has the key of another log', async () => {
    const { key } = it.makeLog(keys);
    through(await it.startRelay(`${it.edge.url}ohttp`), { ...log, key });
    await finds(['log-untrusted']);
  });
  breaks('a file of the log is missing', async () => {
    through(await it.startRelay(`${it.edge.url}ohttp`), { ...log, name: 'no-log' });
    await finds(['log-path']);
  });
  breaks('the key list is over', async () => {
    through(await it.startRelay(`${it.edge.url}ohttp`), it.makeLog(keys, 1));
    await finds(['log-expired'], { now: () => Date.now() + 5 * 86_400_000 });
  });
  breaks('the issuer is down, or has no key for today', async () => {
    const kept = it.edge.target;
    const withTokens = async (/** @type {string} */ url, /** @type {string} */ name) => {
      const recipe = { ...THEME, recipe: name, send: { token: url } };
      const file = it.write(`${name}.json`, recipe);
      const directory = { 'issuer-request-uri': `${url}/token-request`, 'token-keys': [] };
      const config = it.edgeJson({
        spool: `spool-${name}`,
        recipes: [{ file, hash: await hashOf(recipe) }],
        token_keys: it.write(`${name}-directory.json`, directory),
      });
      it.edge.target = await it.startEdge(`${name}-edge.json`, config);
      pageSays(endpoint(String(it.edge.url)));
    };
    try {
      await withTokens('http://127.0.0.1:1/t', 'down');
      await finds(['issuer-refused']);
      await withTokens(`${it.page.url}t`, 'empty');
      it.page.hook = where(/well-known/, says(200, '{"token-keys":[]}'));
      await finds(['issuer-keys']);
      it.page.hook = where(/well-known/, says(404, ''));
      await finds(['issuer-path']);
    } finally {
      it.edge.target = kept;
    }
  });
});

describe('in a browser', () => {
  const browser = browserPath();
  const why = skip || (!browser && 'there is no browser') || false;
  const inBrowser = { noBrowser: false, noClient: false };

  test('all is right, and the page sends the probe', { skip: why, timeout: 120_000 }, async () => {
    await finds([], { ...inBrowser, config: it.folder, noProbe: false });
  });
  test(
    'WebAssembly is blocked, and the client does not start',
    { skip: why, timeout: 120_000 },
    async () => {
      const { csp } = it;
      it.csp = () => `script-src 'self'; connect-src 'self' ${new URL(String(it.edge.url)).origin}`;
      it.page.hook = where(/client\.js/, says(404, ''));
      try {
        await finds(['wasm-blocked', 'client-failed', 'csp-wasm', 'client-missing'], inBrowser);
      } finally {
        it.csp = csp;
        it.reset();
      }
    },
  );
});

describe('the probe', () => {
  const probed = { noProbe: false, patienceS: 0.7 };
  const followed = { noProbe: false, patienceS: 10 };

  breaks('another server takes the reports', async () => {
    it.edge.hook = where(/^POST/, (request, response) =>
      says(202, '{"status":"accepted"}', { 'Access-Control-Allow-Origin': '*' })(request, response),
    );
    await finds(['probe-not-taken'], { ...probed, config: it.folder }, ['edge-html']);
  });
  breaks('reports are refused', async () => {
    it.edge.hook = where(
      /^POST/,
      says(400, '{"error":{"code":"record","message":"no"}}', {
        'Content-Type': 'application/json',
      }),
    );
    await finds(['probe-refused'], probed, ['edge-html']);
  });
  breaks('nothing can be sent', async () => {
    it.edge.hook = (request) => request.method === 'POST' && (request.socket.destroy(), true);
    await finds(['probe-not-sent'], probed, ['edge-refused']);
  });
  breaks('the store of the edge worker is full', async () => {
    const kept = it.edge.target;
    const config = it.edgeJson({ spool: 'spool-full', store_bytes: 1024, aggregator: CLOSED });
    it.edge.target = await it.startEdge('edge-full.json', config);
    const url = `${it.edge.target}v1/recipes/${it.hashes.probe}`;
    const one = () =>
      sendHere({
        endpoint: it.edge.target,
        recipe: { url, hash: it.hashes.probe },
        value: 'probe-a',
      });
    try {
      for (let i = 0; i < 200; i++) if ((await one()).answers.at(-1)?.status === 503) break;
      await finds(['edge-full'], probed);
    } finally {
      it.edge.target = kept;
    }
  });
  breaks('the disk of the edge worker is full', async () => {
    const kept = it.edge.target;
    const own = await startEdgeProcess(
      it.write('edge-disk.json', it.edgeJson({ spool: 'spool-disk' })),
    );
    own.full();
    it.edge.target = own.url;
    await finds(['edge-store'], probed).finally(() => ((it.edge.target = kept), own.stop()));
  });
  breaks('the disk of the aggregator is full', async () => {
    const config = it.write('aggregator-4.json', it.aggregatorJson({ store: 'store-4' }));
    const own = await startServe(config);
    own.full();
    const kept = it.aggregator.target;
    it.aggregator.target = own.url;
    try {
      const isTold = async () => (await (await fetch(`${own.url}healthz`)).text()).includes('fail');
      for (const end = Date.now() + 30_000; !(await isTold()) && Date.now() < end;)
        await new Promise((resolve) => setTimeout(resolve, 20));
      await finds(['aggregator-fold-failing']);
    } finally {
      it.aggregator.target = kept;
      own.stop();
    }
  });
  breaks(
    'another aggregator gets the batches',
    async () => {
      it.aggregator.hook = where(/^POST/, (request, response) =>
        request.headers['content-length'] === '0'
          ? false
          : says(201, '{"status":"stored"}')(request, response),
      );
      await finds(['probe-not-folded'], { ...followed, config: it.folder }, [
        'edge-cannot-forward',
      ]);
    },
    LONG,
  );
  breaks(
    'the block does not close',
    async () => {
      const slow = { ...PROBE, block: { tick_s: 86_400 } };
      const hash = await hashOf(slow);
      const file = it.write('slow.json', slow);
      const own = await startServe(
        it.write(
          'aggregator-5.json',
          it.aggregatorJson({ recipes: ['slow.json'], store: 'store-5' }),
        ),
      );
      const kept = [it.edge.target, it.aggregator.target];
      it.aggregator.target = own.url;
      it.edge.target = await it.startEdge(
        'edge-slow.json',
        it.edgeJson({ spool: 'spool-slow', recipes: [{ file, hash }] }),
      );
      pageSays(endpoint(String(it.edge.url)));
      await finds(['probe-no-result'], { ...followed, config: it.folder }).finally(
        () => (([it.edge.target, it.aggregator.target] = kept), own.stop()),
      );
    },
    LONG,
  );
  breaks(
    'batches that the aggregator refuses, or does not get',
    async () => {
      it.aggregator.hook = where(/^POST/, (request, response) =>
        request.headers['content-length'] === '0' ? false : says(503, '')(request, response),
      );
      await finds(['probe-not-forwarded'], { ...followed, config: it.folder }, [
        'edge-cannot-forward',
        'aggregator-store',
      ]);
      await finds(['edge-cannot-forward'], { config: it.folder });
      it.aggregator.hook = where(/^POST/, says(503, ''));
      await finds(['aggregator-store'], { config: it.folder }, ['edge-cannot-forward']);
      const kept = it.edge.target;
      it.aggregator.hook = where(/^POST/, says(400, '{}'));
      it.edge.target = await it.startEdge(
        'edge-refused.json',
        it.edgeJson({ spool: 'spool-refused' }),
      );
      await finds(['probe-not-forwarded'], { ...followed, config: it.folder }, ['edge-quarantine']);
      await finds(['edge-quarantine'], { config: it.folder }).finally(
        () => (it.edge.target = kept),
      );
    },
    LONG,
  );
});

/** Codes that no test here brings about, and why: another code of the same row of code is. */
const NOT_BROKEN = [
  /^(edge|aggregator|relay|issuer|log)-(timeout|tls|certificate|http|html|redirect|dns|clock|token|refused|path)$/,
  /^page-(certificate|http)$/,
];

/** Codes of the tests that wait. */
const WAITED =
  /^(probe-not-folded|probe-no-result|probe-not-forwarded|edge-cannot-forward|edge-quarantine|aggregator-store)$/;

test('every code of the table is brought about', { skip }, () => {
  const kinds = new Set([...covered].map((code) => code.split('-').slice(1).join('-')));
  for (const code of Object.keys(CODES)) {
    if (covered.has(code) || (notLong && WAITED.test(code))) continue;
    assert.ok(
      NOT_BROKEN.some((pattern) => pattern.test(code)),
      `${code} is never brought about`,
    );
    const kind = code.split('-').slice(1).join('-');
    assert.ok(kinds.has(kind) || kind === 'http', `nor is ${kind} of another party`);
  }
  assert.ok(covered.size >= 60, `${covered.size} codes`);
});
