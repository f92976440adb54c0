// SPDX-License-Identifier: Apache-2.0
// The commands in JavaScript: each says its version, its help ends with examples that run and lists every option that it
// reads, and the completions made of that help offer them in the shells that are here.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, test } from 'node:test';
import { bash, commandOf, fish, zsh } from '../../scripts/release/completions.mjs';
import { publicPackages } from '../../scripts/release/pack_npm.mjs';
import { hasProgram, native, root, version } from './release_helpers.mjs';

/** The programs of all packages that are written. @type {[name: string, file: string][]} */
const programs = publicPackages().flatMap(({ room, bin }) =>
  Object.entries(bin)
    .map(([name, file]) => /** @type {[string, string]} */ ([name, join(root, room, file)]))
    .filter(([, file]) => existsSync(file)),
);
const SERVICES = ['shoal-edge', 'shoal-relay', 'shoal-issuer'];
/** @param {string} name */
const fileOf = (name) => programs.find(([each]) => each === name)?.[1] ?? '';
/** @param {string} file @param {string[]} args */
const call = (file, ...args) => spawnSync(process.execPath, [file, ...args], { encoding: 'utf8' });

/** @type {string} */
let work;
before(() => (work = mkdtempSync(join(tmpdir(), 'shoal-commands-'))));
after(() => rmSync(work, { recursive: true, force: true }));

test('every command says its version', () => {
  assert.ok(programs.length >= 5);
  for (const [name, file] of programs) {
    const done = call(file, '--version');
    assert.equal(done.stdout, `${name} ${version}\n`, `${name}: ${done.stderr}`);
    assert.equal(done.status, 0, name);
  }
});

test('--help lists every option that a service reads, and completions list those', () => {
  for (const name of SERVICES) {
    const source = readFileSync(fileOf(name), 'utf8');
    const table = /options: \{\n([\s\S]*?)\n {6}\}/.exec(source)?.[1] ?? '';
    const read = [...table.matchAll(/^ +'?([a-z][a-z-]*)'?: \{ type: '(\w+)'/gm)].map(
      ([, option, type]) => `${option} ${type}`,
    );
    const listed = commandOf(name, fileOf(name)).options.map(
      ({ name: option, hasValue }) => `${option} ${hasValue ? 'string' : 'boolean'}`,
    );
    assert.ok(read.length >= 3, name);
    assert.deepEqual(listed.sort(), read.sort(), name);
  }
  assert.deepEqual(commandOf('shoal-issuer', fileOf('shoal-issuer')).actions, [
    'serve',
    'keys',
    'list',
    'directory',
  ]);
});

/** What bash offers for a command line, the last word of which is being typed. @param {string} script @param {string} line */
function offered(script, line) {
  const words = line.split(' ');
  const program = `source '${script}'
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
    $(complete -p '${words[0]}' | sed 's/.*-F \\([^ ]*\\).*/\\1/')
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const done = spawnSync('bash', ['-c', program], { encoding: 'utf8' });
  assert.equal(done.stderr, '', line);
  return done.stdout.trim().split('\n').filter(Boolean).sort();
}

test('bash completes the services', () => {
  const script = join(work, 'edge.bash');
  writeFileSync(script, bash(commandOf('shoal-edge', fileOf('shoal-edge'))));
  assert.deepEqual(offered(script, 'shoal-edge g'), ['gateway-key']);
  assert.deepEqual(offered(script, 'shoal-edge --conf'), ['--config']);
  assert.deepEqual(offered(script, 'shoal-edge --config -'), [], 'a file follows');
});

const skip = !existsSync(native) && `${native} is not built`;

test('bash completes shoal from its own tables', { skip }, () => {
  const script = join(work, 'shoal.bash');
  writeFileSync(script, spawnSync(native, ['completion', 'bash'], { encoding: 'utf8' }).stdout);
  assert.deepEqual(offered(script, 'shoal ing'), ['ingest']);
  assert.deepEqual(offered(script, 'shoal recipe ch'), ['check']);
  assert.deepEqual(offered(script, 'shoal merge --'), ['--help', '--memory', '--output', '--rows']);
  assert.deepEqual(offered(script, 'shoal merge --memory -'), [], 'a value follows');
  assert.deepEqual(offered(script, 'shoal completion '), [], 'files, which the shell adds');
  assert.ok(offered(script, 'shoal plan --').includes('--discover'), 'modes');
  // Every option that a help lists is offered, and no other.
  const names = (/** @type {string} */ text, /** @type {string} */ heading) =>
    [
      ...(text.split(`\n${heading}:\n`)[1] ?? '')
        .split('\n\n')[0]
        .matchAll(/^ {2}([a-z][a-z-]*) {2,}\S/gm),
    ].map((match) => match[1]);
  const help = (/** @type {string[]} */ ...args) =>
    spawnSync(native, ['help', ...args], { encoding: 'utf8' }).stdout;
  const commands = names(help(), 'Commands');
  assert.deepEqual(offered(script, 'shoal '), [...commands, 'help', '--help', '--version'].sort());
  let count = 0;
  for (const command of commands) {
    const text = help(command);
    if (text.includes('\nActions:\n')) {
      assert.deepEqual(
        offered(script, `shoal ${command} `),
        [...names(text, 'Actions'), '--help'].sort(),
      );
      continue;
    }
    const listed = [...text.matchAll(/(?<![\w-])--[a-z][a-z-]*(?![\w-])/g)].map(
      ([option]) => option,
    );
    const wanted = [...new Set([...listed, '--help'])].sort();
    assert.deepEqual(offered(script, `shoal ${command} --`), wanted, command);
    count++;
  }
  assert.ok(count > 10);
});

test('zsh and fish complete, too', { skip }, (t) => {
  const command = commandOf('shoal-issuer', fileOf('shoal-issuer'));
  const own = (/** @type {string} */ shell) =>
    spawnSync(native, ['completion', shell], { encoding: 'utf8' }).stdout;
  if (!hasProgram('fish')) t.diagnostic('SKIPPED fish: it is not installed');
  else {
    writeFileSync(join(work, 'all.fish'), own('fish') + fish(command));
    const fishOffers = (/** @type {string} */ line) =>
      spawnSync('fish', ['--no-config', '-c', `source '${work}/all.fish'; complete -C '${line}'`], {
        encoding: 'utf8',
        env: { ...process.env, HOME: work },
      }).stdout;
    assert.match(fishOffers('shoal recipe ch'), /^check\t/m);
    assert.match(fishOffers('shoal merge --m'), /^--memory/m);
    assert.match(fishOffers('shoal ing'), /^ingest\t/m);
    assert.match(fishOffers('shoal-issuer --rec'), /^--recipe/m);
  }
  if (!hasProgram('zsh')) t.diagnostic('SKIPPED zsh: it is not installed');
  else {
    writeFileSync(join(work, 'all.zsh'), `compdef() { }\n${own('zsh')}\n${zsh(command)}`);
    const zshOffers = (/** @type {string} */ line) => {
      const words = line.split(' ');
      const program = `source '${work}/all.zsh'
        _describe() { print -l -- $names; }; compadd() { shift; print -l -- "$@"; }; _files() { print FILES; }
        words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}; PREFIX='${words.at(-1)}'
        _${words[0].replaceAll('-', '_')}`;
      const done = spawnSync('zsh', ['-f', '-c', program], { encoding: 'utf8' });
      assert.equal(done.stderr, '', line);
      return done.stdout;
    };
    assert.match(zshOffers('shoal x'), /^ingest:/m);
    assert.match(zshOffers('shoal recipe x'), /^check:/m);
    assert.match(zshOffers('shoal recipe new -'), /^--expires$/m);
    assert.equal(zshOffers('shoal merge --memory -'), 'FILES\n');
    assert.match(zshOffers('shoal-issuer -'), /^--recipe$/m);
  }
});

test("the examples of the services' help run", async (t) => {
  const secret = join(work, 'batch.secret');
  writeFileSync(secret, 'ab'.repeat(32), { mode: 0o600 });
  writeFileSync(join(work, 'gateway.token'), '0123456789abcdef-a-token\n', { mode: 0o600 });
  /** @type {Record<string, unknown>} */
  const configs = {
    'words.json': {
      // first: the edge's configuration has its hash
      ...{ recipe: 'words', analysis: 'try', stream: 'words', value: 'word' },
      ...{ mechanism: 'cms', hash: 'poly1', seed: '24'.repeat(32) },
      parameters: { epsilon: 4, k: 16, m: 256 },
      limit: { per_day: 1 },
      expires: '2099-01-01',
    },
    'edge.json': {
      ...{ listen: '127.0.0.1:0', spool: 'spool', batch_secret_file: 'batch.secret' },
      recipes: [{ file: 'words.json', hash: '' }],
      origins: ['https://www.example.org'],
      aggregator: 'http://127.0.0.1:9/',
    },
    'relay.json': {
      listen: '127.0.0.1:0',
      routes: [
        { path: '/', gateway: 'https://edge.example.org/ohttp', token_file: 'gateway.token' },
      ],
    },
  };
  for (const [name, config] of Object.entries(configs)) {
    const hash = () => call(fileOf('shoal'), 'recipe', 'hash', join(work, 'words.json')).stdout;
    const text = JSON.stringify(config);
    writeFileSync(
      join(work, name),
      name === 'edge.json' ? text.replace('"hash":""', `"hash":"${hash().slice(0, 64)}"`) : text,
    );
  }
  for (const name of SERVICES) {
    writeFileSync(
      join(work, name),
      `#!/bin/sh\nexec '${process.execPath}' '${fileOf(name)}' "$@"\n`,
    );
    chmodSync(join(work, name), 0o755);
  }
  for (const name of SERVICES) {
    const examples = call(fileOf(name), '--help').stdout.split('\nexample:\n')[1];
    assert.ok(examples, `${name} --help ends with an example`);
    for (const line of examples.trimEnd().split('\n')) {
      assert.match(line, new RegExp(`^  ${name} `));
      const child = spawn('sh', ['-c', `exec ${line.trim()}`], {
        cwd: work,
        env: { ...process.env, PATH: `${work}${delimiter}${process.env.PATH}` },
      });
      let told = '';
      const see = (/** @type {Buffer} */ bytes) => {
        told += bytes;
        if (told.includes('listening on')) child.kill('SIGTERM');
      };
      child.stdout.on('data', see);
      child.stderr.on('data', see);
      const [code] = await once(child, 'close');
      assert.equal(code, 0, `${line}: ${told}`);
      t.diagnostic(`${line.trim()}: ${told.split('\n')[0].slice(0, 60)}`);
    }
  }
});
