// SPDX-License-Identifier: Apache-2.0
// The files of the deployment kit agree with each other, with the programs and with docs/deploy.md: names, versions, ports, paths, secrets.
// What starts images is in images.test.mjs.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { NAMES, pinned, version } from '../../deploy/images/build.mjs';
import { readCompose, readYaml } from './compose_file.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (/** @type {string} */ path) => readFileSync(join(root, path), 'utf8');
const json = (/** @type {string} */ path) => JSON.parse(read(path));
const compose = readCompose();
const docs = read('docs/deploy.md');
const PORTS = { aggregator: 8471, edge: 8472, relay: 8473, issuer: 8474 };
const SERVICES = /** @type {(keyof typeof PORTS)[]} */ (Object.keys(PORTS));
const UNITS = 'deploy/systemd';

/** The files that a configuration names, in any member. @param {any} value @returns {string[]} */
function filesNamed(value) {
  if (Array.isArray(value)) return value.flatMap(filesNamed);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    if (/^(.*_file|file)$/.test(name)) return [each];
    if (name === 'recipes' && typeof each[0] === 'string') return each;
    return name === 'dictionaries' ? Object.values(each) : filesNamed(each);
  });
}
const FOLDER_FIELDS = ['spool', 'store', 'counts'];

/** A Containerfile's last stage, by instruction. @param {string} name */
function lastStage(name) {
  const source = read(`deploy/images/${name}.Containerfile`).replaceAll(/\\\n\s*/g, '');
  const instructions = source
    .slice(source.lastIndexOf('\nFROM '))
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);
  const of = (/** @type {string} */ wanted) =>
    instructions.filter(([instruction]) => instruction === wanted).map(([, rest]) => rest);
  return { source, of };
}

/** A unit's lines by key. @param {string} name @returns {Record<string, string[]>} */
function unit(name) {
  /** @type {Record<string, string[]>} */
  const keys = {};
  for (const line of read(`${UNITS}/${name}`).split('\n')) {
    if (line === '' || /^[#[]/.test(line)) continue;
    const [, key, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
    assert.ok(key !== undefined, `${name}: ${line}`);
    (keys[key] ??= []).push(value);
  }
  return keys;
}

test('compose: every service is confined, and only the proxy is reached from outside', () => {
  assert.deepEqual(Object.keys(compose.services).sort(), [...NAMES].sort());
  for (const [name, service] of Object.entries(compose.services)) {
    assert.equal(service.image, `shoal-${name}:${version}`);
    assert.equal(service.user, '10001:10001', name);
    assert.equal(service.read_only, true, name);
    assert.deepEqual(service.cap_drop, ['ALL'], name);
    assert.deepEqual(service.security_opt, ['no-new-privileges:true'], name);
    assert.equal(service.logging.driver, 'local', name);
    assert.equal(service.ports !== undefined, name === 'proxy', name);
    for (const network of service.networks) {
      assert.ok(Object.hasOwn(compose.networks, network), `${name}: ${network}`);
      if (name !== 'proxy') assert.equal(compose.networks[network].internal, true, name);
    }
  }
  const { proxy, aggregator, edge } = compose.services;
  assert.deepEqual(aggregator.networks, ['batches']);
  assert.ok(!proxy.networks.includes('batches') && edge.networks.includes('batches'));
});

test('compose: what is declared is used, and what is used is declared', () => {
  const services = /** @type {any[]} */ (Object.values(compose.services));
  const volumes = services.flatMap(({ volumes = [] }) =>
    volumes.map((/** @type {string} */ each) => each.split(':')[0]),
  );
  const named = volumes.filter((each) => !each.startsWith('.'));
  assert.deepEqual(named.sort(), Object.keys(compose.volumes).sort());
  for (const each of volumes.filter((each) => /^\.\/etc\/.*\./.test(each)))
    assert.ok(existsSync(join(root, 'deploy', each)), each);
  const secrets = services.flatMap(({ secrets = [] }) =>
    secrets.map((/** @type {any} */ each) => each.source),
  );
  assert.deepEqual([...new Set(secrets)].sort(), Object.keys(compose.secrets).sort());
  for (const [name, { file }] of Object.entries(compose.secrets))
    assert.equal(file, `./secrets/${name}`);
});

for (const name of SERVICES)
  test(`${name}: image, compose file and configuration agree`, () => {
    const config = json(`deploy/etc/${name}.json`);
    const service = compose.services[name];
    const { of, source } = lastStage(name);
    assert.match(source, /\nFROM scratch\n/);
    assert.equal(config.listen, `0.0.0.0:${PORTS[name]}`);
    assert.deepEqual(of('EXPOSE'), [`${PORTS[name]}`]);
    assert.deepEqual(of('USER'), [service.user]);
    assert.deepEqual(JSON.parse(of('CMD')[0]), service.command);
    const [health] = of('HEALTHCHECK');
    assert.deepEqual(
      ['CMD', ...JSON.parse(health.slice(health.indexOf('CMD ') + 4))],
      service.healthcheck.test,
    );
    assert.match(health, new RegExp(`127\\.0\\.0\\.1:${PORTS[name]}/`));
    const times = /--interval=(\w+) --timeout=(\w+) --start-period=(\w+)/.exec(health)?.slice(1);
    const { interval, timeout, start_period: period } = service.healthcheck;
    assert.deepEqual(times, [interval, timeout, period]);
    assert.equal(service.command.at(-1), `/etc/shoal/${name}.json`);
    const mounted = [
      ...(service.volumes ?? []).map((/** @type {string} */ each) => each.split(':')[1]),
      ...(service.secrets ?? []).map((/** @type {any} */ each) => each.target),
    ];
    const isMounted = (/** @type {string} */ path) =>
      mounted.some((each) => path === each || path.startsWith(`${each}/`));
    assert.ok(isMounted(`/etc/shoal/${name}.json`));
    for (const file of filesNamed(config))
      assert.ok(isMounted(posix.join('/etc/shoal', file)), file);
    for (const field of FOLDER_FIELDS.filter((each) => each in config)) {
      assert.ok(isMounted(config[field]), `${field} is not kept`);
      assert.deepEqual(of('VOLUME'), [dirname(config[field])]);
    }
  });

test('the proxy: names and ports of the services, no log of requests', () => {
  const caddy = read('deploy/etc/Caddyfile').replaceAll(/#.*$/gm, '');
  const { http, https } = /** @type {any} */ (
    /http_port (?<http>\d+)[^]*https_port (?<https>\d+)/.exec(caddy)?.groups
  );
  assert.deepEqual(compose.services.proxy.ports, [`80:${http}`, `443:${https}`]);
  assert.deepEqual(lastStage('proxy').of('EXPOSE'), [`${http} ${https}`]);
  const upstreams = [...caddy.matchAll(/reverse_proxy (\w+):(\d+)/g)].map(([, name, port]) => [
    name,
    Number(port),
  ]);
  const { aggregator, ...outside } = PORTS;
  assert.deepEqual(Object.fromEntries(upstreams), outside);
  assert.ok(!upstreams.flat().includes(aggregator));
  const logs = [...caddy.matchAll(/^(\s*)log\b/gm)].map(([, indent]) => indent.replace('\n', ''));
  assert.deepEqual(logs, ['\t'], 'a site has a log of its own');
  for (const logger of ['http.log.access', 'http.log.error'])
    assert.match(caddy, new RegExp(`exclude .*${logger.replaceAll('.', '\\.')}`));
  for (const [, variable] of caddy.matchAll(/\{\$(\w+)\}/g))
    assert.ok(Object.hasOwn(compose.services.proxy.environment, variable), variable);
});

test('the samples are configurations that the programs take', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-kit-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const recipe = { recipe: 'words-en-7' }; // read later than the configuration
  for (const kind of ['etc', 'systemd/etc'])
    for (const name of /** @type {const} */ (['edge', 'relay', 'issuer'])) {
      const here = join(folder, kind);
      mkdirSync(join(here, 'recipes'), { recursive: true });
      mkdirSync(join(here, 'secrets'), { recursive: true });
      let text = read(`deploy/${kind}/${name}.json`);
      text = text
        .replaceAll(`/run/credentials/shoal-${name}.service/`, 'secrets/')
        .replaceAll('/etc/shoal/', '');
      writeFileSync(join(here, `${name}.json`), text);
      writeFileSync(join(here, 'recipes/words-en-7.json'), JSON.stringify(recipe));
      for (const file of filesNamed(JSON.parse(text)).filter((each) => /secrets/.test(each))) {
        const keys = JSON.stringify({ keys: [{ id: 1, secret: '11'.repeat(32) }] });
        writeFileSync(join(here, file), file.endsWith('.keys') ? keys : 'a'.repeat(40));
        chmodSync(join(here, file), 0o600);
      }
      /** Types of the packages are checked there. @type {any} */
      const { readConfig } = await import(new URL(`../../${name}/config.js`, import.meta.url).href);
      const config = await readConfig(join(here, `${name}.json`));
      assert.equal(config.port, PORTS[name], `${kind} ${name}`);
    }
});

test('keys that systemd hands over may show the mode of their access list, and others may not', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-credentials-'));
  t.after(() => rmSync(folder, { recursive: true }));
  t.after(() => delete process.env.CREDENTIALS_DIRECTORY);
  const path = join(folder, 'gateway.keys');
  writeFileSync(path, '{"keys": []}');
  /** @type {any[]} */
  const [{ readKeys }, { readSigners }] = await Promise.all(
    ['edge/config.js', 'issuer/node.js'].map(
      (each) => import(new URL(`../../${each}`, import.meta.url).href),
    ),
  );
  const refused = (/** @type {Promise<any>} */ reading) =>
    reading.then(
      () => false,
      (error) => /only its owner|others may read/.test(error.message),
    );
  for (const reader of [readKeys, readSigners]) {
    delete process.env.CREDENTIALS_DIRECTORY;
    chmodSync(path, 0o440);
    assert.equal(await refused(reader(path)), true, 'a group may read it');
    process.env.CREDENTIALS_DIRECTORY = folder;
    assert.equal(await refused(reader(path)), false);
    chmodSync(path, 0o444);
    assert.equal(await refused(reader(path)), true, 'everybody may read it');
    process.env.CREDENTIALS_DIRECTORY = join(folder, 'other');
    chmodSync(path, 0o440);
    assert.equal(await refused(reader(path)), true, 'it is not what systemd hands over');
  }
});

test('units: one a service, hardened, with the secrets that its configuration reads', () => {
  const names = SERVICES.map((name) => `shoal-${name}.service`);
  assert.deepEqual(
    readdirSync(join(root, UNITS))
      .filter((each) => each.endsWith('.service'))
      .sort(),
    names.sort(),
  );
  /** @type {Record<string, string>} */
  const PROGRAMS = {
    aggregator: 'shoal serve',
    edge: 'shoal-edge',
    relay: 'shoal-relay',
    issuer: 'shoal-issuer serve',
  };
  for (const name of SERVICES) {
    const keys = unit(`shoal-${name}.service`);
    const config = json(`${UNITS}/etc/${name}.json`);
    assert.equal(config.listen, `127.0.0.1:${PORTS[name]}`);
    assert.deepEqual(keys.ExecStart, [`${PROGRAMS[name]} --config /etc/shoal/${name}.json`]);
    if (name !== 'aggregator') {
      const [command] = PROGRAMS[name].split(' ');
      assert.ok(Object.hasOwn(json(`${name}/package.json`).bin, command));
    }
    assert.deepEqual(
      [keys.DynamicUser, keys.NoNewPrivileges, keys.ProtectSystem, keys.CapabilityBoundingSet],
      [['yes'], ['yes'], ['strict'], ['']],
    );
    assert.deepEqual([keys.Restart, keys.LimitCORE, keys.UMask], [['on-failure'], ['0'], ['0077']]);
    assert.equal(keys.LogsDirectory, undefined, 'nothing is logged to files');
    const handed = `/run/credentials/shoal-${name}.service/`;
    const secrets = filesNamed(config).filter((each) => each.startsWith('/run/'));
    assert.deepEqual(
      secrets.sort(),
      keys.LoadCredential.map((each) => handed + each.split(':')[0]).sort(),
    );
    for (const each of keys.LoadCredential) {
      const [credential, path] = each.split(':');
      assert.equal(path, `/etc/shoal/secrets/${credential}`);
    }
    for (const field of FOLDER_FIELDS.filter((each) => each in config))
      assert.ok(config[field].startsWith(`/var/lib/${keys.StateDirectory[0]}/`), config[field]);
  }
});

const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;
test('units: systemd takes them', { skip: !hasAnalyze && 'no systemd-analyze here' }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-units-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const name of SERVICES) {
    const file = `shoal-${name}.service`;
    // The programs are not installed here.
    const text = read(`${UNITS}/${file}`).replaceAll(/^(ExecStart(?:Pre)?=)\S+/gm, '$1/bin/true');
    writeFileSync(join(folder, file), text);
    const verified = spawnSync('systemd-analyze', ['verify', '--man=no', join(folder, file)], {
      encoding: 'utf8',
    });
    assert.deepEqual([verified.status, verified.stderr], [0, ''], file);
    const scored = execFileSync(
      'systemd-analyze',
      ['security', '--offline=true', '--no-pager', join(folder, file)],
      { encoding: 'utf8' },
    );
    const score = /Overall exposure level for \S+ ([\d.]+)/.exec(scored)?.[1];
    t.diagnostic(`${file}: exposure ${score}`);
    assert.match(docs, new RegExp(`\`${file}\` *\\| ${score} `), 'docs/deploy.md says another');
  }
});

test('what images take from npm is what the lock file has', () => {
  const { packages } = json('package-lock.json');
  /** @type {Record<string, any>} */
  const needed = {};
  const visit = (/** @type {string} */ name) => {
    const entry = packages[`node_modules/${name}`];
    if (!entry.link) needed[name] = { version: entry.version, integrity: entry.integrity };
    const { dependencies = {} } = entry.link ? packages[entry.resolved] : entry;
    for (const each of Object.keys(dependencies)) if (!(each in needed)) visit(each);
  };
  for (const name of ['shoal-edge', 'shoal-relay', 'shoal-issuer']) visit(name);
  assert.deepEqual(pinned.packages, needed);
  assert.match(pinned.node.integrity, /^sha512-[\w+/]{86}==$/);
});

test('docs/deploy.md names images, ports, secrets, units and versions', () => {
  for (const name of NAMES) assert.ok(docs.includes(`\`shoal-${name}\``), name);
  for (const [name, port] of Object.entries(PORTS))
    assert.match(docs, new RegExp(`\`shoal-${name}\`.*\\| ${port} `), name);
  for (const name of Object.keys(compose.secrets)) assert.ok(docs.includes(`\`${name}\``), name);
  assert.ok(docs.includes(`Node ${pinned.node.version}`));
});

const hasShellcheck = spawnSync('shellcheck', ['--version']).status === 0;
test('scripts pass shellcheck', { skip: !hasShellcheck && 'no shellcheck here' }, () => {
  const done = spawnSync('shellcheck', [join(root, 'deploy/images/gather.sh')], {
    encoding: 'utf8',
  });
  assert.equal(done.status, 0, done.stdout);
});

test('what the reader of the compose file does not know is an error', () => {
  for (const [source, where] of [
    ['a: 1\n  b: 2', /line 2/],
    ['a: [1, 2', /line 1/],
    ['a: 1\na: 2', /line 2: a is there twice/],
    ['a: *none', /line 1/],
    ['<<: *none', /no such anchor/],
    ['a:', /a has no value/],
    ["a: 'single'", /line 1/],
  ])
    assert.throws(() => readYaml(/** @type {string} */ (source)), /** @type {RegExp} */ (where));
});
