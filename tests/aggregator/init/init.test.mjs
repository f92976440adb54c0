// SPDX-License-Identifier: Apache-2.0
// `shoal init`: what it writes for every combination of answers is what edge, server and commands take; the same seed gives
// the same bytes natively and as create-shoal; nothing is overwritten, nothing is left half done, and nobody else can read a
// secret. Hostile values and options break nothing.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../../../edge/config.js';
import { readConfig as readRelay } from '../../../relay/config.js';
import { freePort } from '../../ports.mjs';
import {
  LEVELS,
  SIZES,
  WHATS,
  call,
  create,
  filesOf,
  init,
  makeFolder,
  modesOf,
  native,
  root,
} from './init_helpers.mjs';

const SECRETS = ['aggregator-admin.token', 'batch.secret', 'edge-admin.token', 'reader.token'];
const EDGE = join(root, 'edge/bin/shoal-edge.js');

/** Whether a program checks configurations by itself. @param {string[]} command @param {string[]} help */
const canCheck = (command, help) => call(command, root, help).out.includes('--check');

/** Does what follows from a folder's files: hashes agree, origins and secrets are in place. @param {string} folder @param {string} id */
function checkFolder(folder, id) {
  const json = (/** @type {string} */ name) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const names = [`recipes/${id}.json`, 'recipes/probe.json', 'site.json'];
  const hashes = call(native, folder, ['recipe', 'hash', ...names])
    .out.trim()
    .split('\n')
    .map((line) => /[0-9a-f]{64}/.exec(line)?.[0]);
  const edge = json('edge.json');
  assert.deepEqual(
    edge.recipes.map((/** @type {any} */ each) => each.hash),
    hashes.slice(0, 2),
  );
  const page = readFileSync(join(folder, 'page/shoal.js'), 'utf8');
  assert.ok(page.includes(`hash: "${hashes[2]}"`), 'the page pins the set');
  assert.deepEqual(json('site.json').recipes, [json(`recipes/${id}.json`)]);
  const probe = json('recipes/probe.json');
  assert.deepEqual([probe.recipe, probe.mechanism], ['shoal-probe', 'grr']);
  assert.deepEqual(probe.parameters.values, ['probe-a', 'probe-b']);
  const texts = SECRETS.map((name) => readFileSync(join(folder, 'secrets', name), 'utf8'));
  assert.equal(new Set(texts).size, SECRETS.length);
  for (const text of texts) assert.match(text, /^[0-9a-f]{64}\n$/);
  for (const [name, text] of filesOf(folder)) {
    if (name.startsWith('secrets/')) continue;
    for (const secret of texts) assert.ok(!text.includes(secret.trim()), `${name} holds a secret`);
    assert.doesNotMatch(text, /\{\{|\}\}\}/, `${name} has an unfilled place`);
    if (name.endsWith('.json')) JSON.parse(text);
  }
  const checked = call(native, folder, ['recipe', 'check', 'site.json']);
  assert.equal(checked.code, 0, checked.out);
}

test('every combination of answers passes the checks of edge and recipes', async (t) => {
  const folder = makeFolder(t);
  for (const what of WHATS)
    for (const strict of LEVELS)
      for (const size of SIZES) {
        const name = `${what}-${strict}-${size}`;
        const args = ['--what', what, '--visitors', String(size), '--strict', strict, '--anyway'];
        const done = init(folder, name, ...args);
        assert.equal(done.code, 0, done.err);
        checkFolder(join(folder, name), `${what}-1`);
        const config = await readConfig(join(folder, name, 'edge.json'));
        assert.deepEqual(config.origins, ['https://www.example.org']);
        const recipe = config.recipes[0].recipe;
        assert.ok(recipe.batch.minimum * 2 <= recipe.cohort.minimum);
        const epsilon = recipe.parameters.epsilon + (recipe.parameters.epsilon_fragment ?? 0);
        const expected = 2 ** LEVELS.indexOf(strict) * (what === 'new-words' ? 2 : 1);
        assert.ok(Math.abs(epsilon - expected) < 1e-9, `${name}: epsilon ${epsilon}`);
        const readme = readFileSync(join(folder, name, 'README.md'), 'utf8');
        assert.match(readme, /After 14 days you will (see|find|know)/);
      }
});

/** Gives the folder free ports. @param {string} folder @returns {Promise<number[]>} of edge and aggregator */
async function useFreePorts(folder) {
  const ports = [await freePort(), await freePort()];
  for (const name of ['edge.json', 'aggregator.json']) {
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, text.replaceAll('8472', `${ports[0]}`).replaceAll('8471', `${ports[1]}`));
  }
  return ports;
}

/** Starts a service and waits until it answers. @param {string[]} command @param {string} cwd @param {number} port */
async function start(command, cwd, port) {
  const child = spawn(command[0], command.slice(1), { cwd, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (said += text));
  for (const end = Date.now() + 60_000; Date.now() < end;) {
    assert.equal(child.exitCode, null, said);
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null);
    if (answer?.ok) return child;
    await new Promise((done) => setTimeout(done, 20));
  }
  child.kill('SIGKILL');
  throw new Error(`no answer: ${said}`);
}

test('what create-shoal writes is the same, byte by byte, and services start with it', async (t) => {
  const folder = makeFolder(t);
  const checks = { edge: canCheck([process.execPath, EDGE], ['--help']) };
  for (const [i, what] of WHATS.entries()) {
    const strict = LEVELS[i % LEVELS.length];
    const args = ['--what', what, '--visitors', '2000', '--strict', strict, '--anyway'];
    const more = ['--seed', 'the same', '--relay', 'https://relay.example.net'];
    const expires = ['--expires', '2099-12-31'];
    const first = call(native, folder, ['init', `n-${what}`, ...args, ...more, ...expires]);
    const second = call(create, folder, [`w-${what}`, ...args, ...more, ...expires]);
    assert.equal(first.code, 0, first.err);
    assert.equal(second.code, 0, second.err);
    assert.equal(second.out.replaceAll(`w-${what}`, `n-${what}`), first.out);
    const [n, w] = [join(folder, `n-${what}`), join(folder, `w-${what}`)];
    assert.deepEqual(filesOf(w), filesOf(n));
    assert.deepEqual(modesOf(w), modesOf(n));
    assert.equal((await readRelay(join(w, 'relay.json'))).port, 8473);
    const [edgePort, port] = await useFreePorts(w);
    if (checks.edge) {
      const checked = call([process.execPath, EDGE], w, ['--check', '--config', 'edge.json']);
      assert.equal(checked.code, 0, checked.out + checked.err);
    }
    const checked = call(native, w, ['serve', '--check', '--config', 'aggregator.json']);
    assert.equal(checked.code, 0, checked.out + checked.err);
    const services = [
      await start([...native, 'serve', '--config', 'aggregator.json'], w, port),
      await start([process.execPath, EDGE, '--config', 'edge.json'], w, edgePort),
    ];
    for (const service of services) {
      service.kill('SIGTERM');
      if (service.exitCode === null) await once(service, 'exit');
    }
  }
});

test('secrets are readable for their owner alone, whatever the umask', (t) => {
  const folder = makeFolder(t);
  const old = process.umask(0);
  t.after(() => process.umask(old));
  for (const [name, command] of [
    ['native', [...native, 'init']],
    ['wasi', create],
  ]) {
    const done = call(/** @type {string[]} */ (command), folder, [String(name), '--yes']);
    assert.equal(done.code, 0, done.err);
    const mode = (/** @type {string} */ path) =>
      statSync(join(folder, String(name), path)).mode & 0o777;
    for (const path of ['secrets', 'data', 'data/edge', 'data/aggregator'])
      assert.equal(mode(path), 0o700, path);
    for (const secret of SECRETS) assert.equal(mode(`secrets/${secret}`), 0o600, secret);
    assert.equal(mode('page/index.html'), 0o666, 'the umask decides on the rest');
    assert.equal(mode('.'), 0o777);
    assert.doesNotMatch(done.out + done.err, /[0-9a-f]{64}/, 'nothing secret is printed');
  }
});

test('nothing is overwritten, and a failure leaves nothing behind', (t) => {
  const folder = makeFolder(t);
  const refused = (/** @type {RegExp} */ says, /** @type {string[]} */ ...args) => {
    const before = readdirSync(folder);
    for (const command of [[...native, 'init'], create]) {
      const done = call(command, folder, args);
      assert.match(done.err, says);
      assert.ok([1, 2, 5].includes(Number(done.code)), `exit ${done.code}`);
      assert.equal(done.out, '');
    }
    assert.deepEqual(readdirSync(folder), before);
  };
  mkdirSync(join(folder, 'full'));
  writeFileSync(join(folder, 'full/thesis.txt'), 'mine');
  writeFileSync(join(folder, 'file'), 'mine');
  refused(/full: holds thesis.txt already; .*Nothing was written/s, 'full', '--yes');
  refused(/file: is there already and is no folder/, 'file', '--yes');
  refused(/\.: give the name of a new folder/, '.', '--yes');
  refused(/cannot write beside: No such file/, 'missing/below', '--yes');
  refused(/init takes one folder at most/, 'a', 'b', '--yes');
  refused(
    /nothing would be seen: .* It takes about [\d,]+ visitors a day.* --anyway writes it/,
    ...['small', '--what', 'words', '--visitors', '20', '--strict', 'high'],
  );
  refused(/--expires: this day has passed/, 'past', '--yes', '--expires', '2020-01-01');
  refused(/--what is missing, and there is no terminal to ask on/, 'quiet');
  assert.equal(readFileSync(join(folder, 'full/thesis.txt'), 'utf8'), 'mine');
  mkdirSync(join(folder, 'empty'));
  assert.equal(init(folder, 'empty', '--yes').code, 0, 'an empty folder is filled');
  assert.ok(existsSync(join(folder, 'empty/edge.json')));
  const before = readdirSync(folder);
  const full = `trap '' XFSZ; ulimit -f 1; exec '${native[0]}' init cut --yes`; // as if the disk were full
  const cut = call(['bash', '-c', full], folder, []);
  assert.match(cut.err, /cannot write: File too large/);
  assert.equal(cut.code, 5);
  assert.deepEqual(readdirSync(folder), before, 'what was written before the failure is gone');
  if (process.getuid?.() === 0) return; // root may write anywhere
  mkdirSync(join(folder, 'locked'));
  chmodSync(join(folder, 'locked'), 0o500);
  refused(/cannot write beside/, 'locked/new', '--yes');
});

test('questions are asked, by pipe with --ask, and asked again after a wrong answer', (t) => {
  const folder = makeFolder(t);
  const answers = 'tea\nchoices\nred, red\nred , green,blue\nmany\n20,000\n\n';
  for (const [name, command] of [
    ['n', [...native, 'init']],
    ['w', create],
  ]) {
    const args = [String(name), '--ask', '--seed', 'x', '--expires', '2099-12-31'];
    const done = call(/** @type {string[]} */ (command), folder, args, answers);
    assert.equal(done.code, 0, done.err);
    assert.match(done.err, /What do you want to know\?\n {2}1 words/);
    assert.match(done.err, /--what is words, sites.*What do you want/s);
    assert.match(done.err, /holds one value twice/);
    const recipe = JSON.parse(
      readFileSync(join(folder, String(name), 'recipes/choices-1.json'), 'utf8'),
    );
    assert.deepEqual(recipe.parameters.values, ['red', 'green', 'blue']);
    assert.equal(recipe.parameters.epsilon, 2);
  }
  assert.deepEqual(filesOf(join(folder, 'w')), filesOf(join(folder, 'n')));
  const short = call([...native, 'init'], folder, ['short', '--ask'], 'words\n');
  assert.match(
    short.err,
    /the input ended before all questions were answered; nothing was written/,
  );
  assert.equal(short.code, 2);
  const long = call([...native, 'init'], folder, ['long', '--ask'], `${'x'.repeat(5000)}\n`);
  assert.match(long.err, /an answer has at most 1023 bytes/);
  const small = ['small', '--ask', '--what', 'words', '--visitors', '20', '--strict', 'high'];
  assert.equal(call([...native, 'init'], folder, small, 'no\n').code, 1);
  assert.equal(call([...native, 'init'], folder, small, 'yes\n').code, 0);
  assert.match(readFileSync(join(folder, 'small/README.md'), 'utf8'), /Nothing will be seen yet/);
});

const HOSTILE = [
  '</script><script>alert(1)</script>',
  '"quoted" \'single\' & <b>',
  '`${x}` | * [x](y) {{id}} {{{set}}}',
  '-->',
  '\u202eesrever',
  ' lead: - # %',
  '\u0007bell',
  '😀',
];

test('hostile values are escaped wherever they are written', (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'values.txt'), `${HOSTILE.join('\n')}\n`);
  const field = '#a"]</script>\\\'`${1}';
  for (const [name, args] of /** @type {[string, string[]][]} */ ([
    ['choices', ['--what', 'choices', '--values', 'values.txt']],
    ['words', ['--what', 'words', '--field', field]],
  ])) {
    const packages = ['--packages', '/a "b"\\c/<d>'];
    const done = init(folder, name, ...args, ...packages, '--yes');
    assert.equal(done.code, 0, done.err);
    const files = filesOf(join(folder, name));
    const page = String(files.get('page/index.html'));
    assert.equal(page.match(/<script/g)?.length, 1);
    // eslint-disable-next-line no-control-regex
    assert.doesNotMatch(page, /[\u0000-\u0009\u000b-\u001f\u202a-\u202e]/);
    const code = String(files.get('page/shoal.js'));
    const parsed = spawnSync(process.execPath, ['--input-type=module', '--check'], { input: code });
    assert.equal(parsed.status, 0, String(parsed.stderr));
    assert.doesNotMatch(code, /<\//);
    const about = JSON.parse(String(files.get('package.json')));
    assert.equal(about.dependencies['shoal-edge'], 'file:/a "b"\\c/<d>/shoal-edge-0.1.0.tgz');
    if (name === 'words') {
      const literal = /querySelector\((".*?[^\\]")\)/.exec(code)?.[1] ?? '';
      assert.equal(JSON.parse(literal), field);
    }
  }
  const recipe = JSON.parse(readFileSync(join(folder, 'choices/recipes/choices-1.json'), 'utf8'));
  assert.deepEqual(recipe.parameters.values, HOSTILE);
});

test('hostile options are refused, and named', (t) => {
  const folder = makeFolder(t);
  const bad = {
    what: ['', 'word', '6', 'words\n', '0'],
    visitors: ['', '0', '-5', '1e99', '99999999999999999999', 'ten', '1.5', '0x10'],
    strict: ['', 'none', '4'],
    site: [
      'www.example.org',
      'http://www.example.org',
      'https://user@example.org',
      'https://EXAMPLE.org',
      'https://example.org/path',
      'https://example.org:443',
      'https://example.org:0',
      'https://a"b',
      'https://a b',
      'https://{evil}',
      'https://',
      'javascript:alert(1)',
      `https://${'a'.repeat(300)}`,
      'https://a\nb',
    ],
    edge: ['https://www.example.org', 'https://x/y', 'ftp://x'],
    relay: ['https://edge.example.org', 'x'],
    id: [
      '',
      '../up',
      'A',
      '-a',
      'a/b',
      'a b',
      'x'.repeat(65),
      'shoal-probe',
      'probe',
      'a\u0000'.slice(0, 1) + '"',
    ],
    expires: ['tomorrow', '2099-13-01', '2099-12-32', '2099-1-1', '"', '2099-12-310'],
    packages: ['', 'here', 'http://evil.example', '/a\nb', 'x'.repeat(999)],
    days: ['0', '366', 'x'],
    'taking-part': ['0', '1.1', 'nan', 'x'],
    active: ['0', '2'],
    values: ['missing.txt', 'one.txt', 'empty-line.txt', 'twice.txt', 'many.txt', 'broken.txt'],
    low: ['x', '5', '1e5'],
    field: ['', 'a\nb', 'x'.repeat(201)],
  };
  const write = (/** @type {string} */ name, /** @type {string | Buffer} */ text) =>
    writeFileSync(join(folder, name), text);
  write('one.txt', 'one\n');
  write('empty-line.txt', 'a\n\nb\n');
  write('twice.txt', 'a\nb\na\n');
  write('many.txt', Array.from({ length: 201 }, (_, i) => `${i}\n`).join(''));
  write('broken.txt', Buffer.from([0x61, 0x0a, 0xff, 0xfe, 0x0a]));
  const before = readdirSync(folder);
  for (const [name, texts] of Object.entries(bad))
    for (const text of texts) {
      const kind = name === 'values' ? 'choices' : name === 'low' ? 'numbers' : 'words';
      const more = name === 'low' ? ['--high', '1'] : [];
      const what = name === 'what' ? [] : ['--what', kind];
      const done = init(folder, 'new', '--yes', ...what, `--${name}`, text, ...more);
      assert.ok([1, 2, 5].includes(Number(done.code)), `--${name} ${text}: exit ${done.code}`);
      assert.match(
        done.err,
        new RegExp(`--${name}|--low|${text.slice(0, 4)}|expires|value`),
        done.err,
      );
      assert.deepEqual(readdirSync(folder), before, `--${name} ${text} left something`);
    }
  for (const args of [
    ['--what', 'words', '--values', 'twice.txt'],
    ['--what', 'words', '--low', '1', '--high', '2'],
    ['--what', 'numbers', '--low', '1'],
    ['--what', 'new-words', '--active', '0.5'],
    ['--pages', 'one'],
    ['--unknown'],
  ])
    assert.equal(init(folder, 'new', '--yes', ...args).code, 2, args.join(' '));
});

test('compose.yaml is YAML that says what the services need', (t) => {
  const folder = makeFolder(t);
  assert.equal(init(folder, 'x', '--yes').code, 0);
  const script =
    'import sys, json\ntry:\n  import yaml\nexcept ImportError:\n  sys.exit(77)\nprint(json.dumps(yaml.safe_load(sys.stdin)))';
  const done = spawnSync('python3', ['-c', script], {
    input: readFileSync(join(folder, 'x/compose.yaml')),
    encoding: 'utf8',
  });
  if (done.status === 77 || done.error) return t.skip('no YAML reader (python3-yaml) is here');
  const { services } = JSON.parse(done.stdout);
  assert.deepEqual(Object.keys(services), ['proxy', 'edge', 'aggregator']);
  for (const [name, service] of Object.entries(services)) {
    assert.match(service.image, new RegExp(`^shoal-${name}:`));
    for (const volume of service.volumes) {
      const [from] = volume.split(':');
      if (!from.startsWith('./node_modules'))
        assert.ok(existsSync(join(folder, 'x', from)), `${name} mounts ${from}`);
    }
  }
  assert.ok(!services.edge.volumes.some((/** @type {string} */ v) => v.includes('reader')));
  const caddy = readFileSync(join(folder, 'x/Caddyfile'), 'utf8');
  const [, own, sites] = /^(\{\n[^]*?\n\}\n)([^]*)$/m.exec(caddy) ?? [];
  assert.doesNotMatch(sites, /^\s*log\b/m, 'no access log');
  assert.match(
    own,
    /log \{\s+exclude http\.log\.access http\.log\.error http\.handlers http\.stdlib\s/,
  );
  assert.match(
    sites,
    /@operator path \/metrics \/delivery \/v1\/quarantine\/\*\n\s+respond @operator 404/,
  );
});

test('send.pick and numbers follow the options', (t) => {
  const folder = makeFolder(t);
  const recipe = (/** @type {string} */ name, /** @type {string[]} */ ...args) => {
    const done = init(folder, name, '--visitors', '20000', '--strict', 'medium', ...args);
    assert.equal(done.code, 0, done.err);
    return JSON.parse(readFileSync(join(folder, name, `recipes/${name}.json`), 'utf8'));
  };
  const windows = ['--active', '0.6', '--pages', 'one'];
  const sites = recipe('sites-1', '--what', 'sites', ...windows);
  assert.deepEqual(sites.send, { pick: 'uniform', window: 'visit', delay_s: 0 });
  assert.equal(recipe('words-1', '--what', 'words', '--active', '0.05').send, undefined);
  const spread = recipe(
    'numbers-1',
    '--what',
    'numbers',
    '--low',
    '-5',
    '--high',
    '5.5',
    '--buckets',
    '4',
  );
  assert.deepEqual(
    [spread.parameters.low, spread.parameters.high, spread.parameters.size],
    [-5, 5.5, 4],
  );
  const host = ['--site', 'http://127.0.0.1:8000'];
  recipe('other', '--what', 'choices', '--id', 'other', ...host);
  assert.match(
    readFileSync(join(folder, 'other/page/shoal.js'), 'utf8'),
    /"http:\/\/127\.0\.0\.1:8472\/"/,
  );
});

test('what is printed to be copied is one word of a shell, whatever the folder is called', (t) => {
  const folder = makeFolder(t);
  const name = "it's $(touch hit) `touch hit`";
  const done = init(folder, name, '--yes');
  assert.equal(done.code, 0, done.err);
  const [, line] = /\n( {2}cd .+)\n/.exec(done.out) ?? [];
  const went = spawnSync('sh', ['-c', `${line} && pwd`], { cwd: folder, encoding: 'utf8' });
  assert.equal(went.stdout, `${join(folder, name)}\n`);
  assert.deepEqual(readdirSync(folder), [name]);
});

test('verify gets the folder, and the operator a way to the edge past the proxy', (t) => {
  const folder = makeFolder(t);
  assert.equal(init(folder, 'a', '--yes').code, 0);
  const read = (/** @type {string} */ name) => readFileSync(join(folder, 'a', name), 'utf8');
  assert.match(JSON.parse(read('package.json')).scripts.verify, / --config \.$/);
  const [, published] = /"127\.0\.0\.1:8472:(\d+)"/.exec(read('compose.yaml')) ?? [];
  const site = new RegExp(
    `http://:${published} \\{\\s+bind \\{\\$SHOAL_RESULTS_BIND:127\\.0\\.0\\.1\\}\\s+reverse_proxy 127\\.0\\.0\\.1:8472 `,
  );
  assert.match(read('Caddyfile'), site);
});

test('a range that cannot be says which can', (t) => {
  const folder = makeFolder(t);
  const done = init(folder, 'a', '--yes', '--what', 'numbers', '--low', '0', '--high', '1e9');
  assert.equal(done.code, 2);
  assert.match(done.err, /no exponent, at most 9 digits before the point and 6 after/);
});
