// SPDX-License-Identifier: Apache-2.0
// Tables and figures of the documentation, held to the code that they describe: recipe fields, configuration fields,
// statuses, metrics, reasons, calls, the policy, the standard errors. What the code does not export is read out of its source.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { MENDS } from '../../wasm/client/mends.js';
import { CSP, REASONS } from '../../wasm/client/reasons.js';
import { RUN_REASONS } from '../../wasm/client/tracking.js';
import { readRows } from '../../scripts/fields.mjs';
import { codes, read, root, tableBelow } from './markdown.mjs';

/** Everything between two marks. @param {string} path @param {string} from @param {string} to */
function part(path, from, to) {
  const text = read(path);
  const start = text.indexOf(from);
  assert.ok(start >= 0, `${path}: ${from}`);
  const end = text.indexOf(to, start + from.length);
  assert.ok(end >= 0, `${path}: ${to}`);
  return text.slice(start, end);
}

/** First groups of all matches. @param {string} text @param {RegExp} pattern */
function all(text, pattern) {
  const found = [...text.matchAll(pattern)].map((match) => match[1]);
  assert.ok(found.length > 0, String(pattern));
  return found;
}

/** What stands in code marks in a column of a table. @param {string} page @param {string} heading @param {number} [column] */
const named = (page, heading, column = 0) =>
  tableBelow(read(page), heading).flatMap((row) => codes(row[column]));

test("the policy is the client's", () => {
  assert.match(
    read('docs/embed.md'),
    new RegExp(`^ {4}Content-Security-Policy: ${CSP}; connect-src `, 'm'),
  );
  assert.ok(read('README.md').includes(`\`${CSP}\``));
});

test('the codes of explain() and their sentences', () => {
  const rows = tableBelow(read('docs/embed.md'), 'Why nothing was sent').map(([code, text]) => [
    codes(code)[0],
    text,
  ]);
  assert.deepEqual(rows, Object.entries(REASONS));
});

test('what debug says mends a page is what the documentation says', () => {
  const rows = new Map(
    tableBelow(read('docs/embed.md'), 'Why nothing was sent').map((row) => [
      codes(row[0])[0],
      row.slice(1).join(' '),
    ]),
  );
  const command =
    /shoal recipe \w+|curl -i \w+|connect-src 'self' ADDRESS|"origins": \["ORIGIN"\]|dist\/|script-src|option wasm|v1\/reports|unsafe-eval/g;
  for (const [code, mend] of Object.entries(MENDS)) {
    const row = (rows.get(code) ?? assert.fail(code)).replaceAll('`', '');
    for (const [part] of mend.replaceAll('`', '').matchAll(command))
      assert.ok(row.includes(part), `${code}: ${part}`);
  }
});

test('the codes of runs over epochs and their sentences', () => {
  const rows = tableBelow(read('docs/embed.md'), 'Why a sample or an epoch was refused').map(
    ([code, text]) => [codes(code)[0], text],
  );
  assert.deepEqual(rows, Object.entries(RUN_REASONS));
});

test('the calls of the client', async () => {
  const { init } = await import('../../wasm/client/client.js');
  const client = await init({ endpoint: 'https://edge.example', recipes: [] });
  const methods = [client, Object.getPrototypeOf(client)]
    .flatMap((each) => Object.getOwnPropertyNames(each))
    .filter((name) => !['constructor', 'start', 'track', 'exact', 'consent'].includes(name));
  client.close();
  const calls = named('docs/embed.md', 'Calls').map((call) => call.replace(/\(.*/, ''));
  assert.deepEqual(
    calls.sort(),
    [
      'start',
      'init',
      'consent.state',
      'consent.grant',
      'consent.asks',
      'consent.withdraw',
      ...methods,
    ].sort(),
  );
});

test('the options of the client', () => {
  const options = all(
    part('wasm/client/client_options.js', '@typedef {object} AllOptions', '@typedef {Omit'),
    /@property \{.*\} \[?(\w+)\]?/g,
  );
  const documented = named('docs/embed.md', 'Options').filter(
    (name) => /^[a-zA-Z]+$/.test(name) && !['load', 'start'].includes(name),
  );
  assert.deepEqual([...new Set(documented)].sort(), [...options, 'client'].sort());
});

const recipeFields = readRows(read('core/recipe/recipe_fields.def'));

// Fields with a form of their own that pages describe in sections of their own, by their tags.
const LATER = [42, 43, 44, 58, 59, 60];

test('the fields of a recipe', () => {
  const fields = recipeFields.filter(({ tag }) => !LATER.includes(tag));
  assert.equal(fields.length, recipeFields.length - LATER.length);
  const rows = tableBelow(read('docs/formats.md'), 'Recipe (JSON)');
  assert.deepEqual(
    rows.flatMap(([paths]) => codes(paths)),
    fields.map(({ path }) => path),
    'run node scripts/fields.mjs: it adds new rows',
  );
  for (const { path, isRequired } of fields) {
    const row = rows.find(([paths]) => codes(paths).includes(path));
    assert.equal(
      row?.[3].startsWith('required') ?? false,
      isRequired,
      `${path} is ${isRequired ? '' : 'not '}required`,
    );
  }
  assert.equal(new Set(recipeFields.map(({ tag }) => tag)).size, recipeFields.length);
});

test('the schema of recipes has the ranges, choices and defaults of the rows', () => {
  const schema = JSON.parse(read('docs/schema/recipe.schema.json'));
  for (const { path, kind, min, max, initial, choices, usual, isOwn } of recipeFields) {
    if (isOwn) continue;
    const at = path.split('.').join('.properties.').split('.');
    const held = at.reduce((node, name) => node?.[name], schema.properties);
    assert.ok(held, `run node scripts/fields.mjs: the schema lacks ${path}`);
    if ((kind === 'INTEGER' || kind === 'MICRO') && held.enum === undefined) {
      const unit = kind === 'MICRO' ? 1e6 : 1;
      assert.equal(held.type, kind === 'MICRO' ? 'number' : 'integer', path);
      assert.deepEqual([held.minimum, held.maximum], [min / unit, max / unit], path);
      assert.equal(held.default ?? 0, initial / unit, path);
    }
    if (kind !== 'CHOICE') continue;
    assert.deepEqual([...held.enum].sort(), choices.toSorted(), path);
    assert.equal(held.default, usual, path);
  }
});

test('the fields that come last in the canonical bytes', () => {
  const rows = tableBelow(read('docs/formats.md'), 'Canonical bytes and hash');
  assert.deepEqual(
    rows.map(([tag, path]) => [Number(tag), codes(path)[0]]),
    recipeFields.filter(({ tag }) => LATER.includes(tag)).map(({ tag, path }) => [tag, path]),
  );
});

test("the aggregator's configuration", () => {
  const source = part('aggregator/serve/serve_config.c', 'static const field fields[]', '};');
  const fields = [...source.matchAll(/^ {4}\{"([a-z_]+)", \w+, ([01])\}/gm)].map(
    ([, name, required]) => [name, required === '1'],
  );
  assert.ok(fields.length > 5);
  const rows = tableBelow(read('docs/operate.md'), 'Aggregator');
  assert.deepEqual(
    rows.map(([name, , initial]) => [codes(name)[0], initial === 'required']),
    fields,
  );
  const manual = all(
    part('docs/man/shoal-serve.1', '.Ss Configuration', '\n.Ss '),
    /^\.It Li (\w+)$/gm,
  );
  assert.deepEqual(manual.sort(), fields.map(([name]) => name).sort());
});

test('sample configurations hold fields that are documented', () => {
  const fields = named('docs/operate.md', 'Aggregator');
  for (const name of ['etc/aggregator', 'systemd/etc/aggregator']) {
    const sample = JSON.parse(read(`deploy/${name}.json`));
    assert.deepEqual(
      Object.keys(sample).filter((field) => !fields.includes(field)),
      [],
      name,
    );
  }
});

test("the edge worker's configuration", () => {
  const fields = [
    ...part('edge/config.js', 'const FIELDS', '};').matchAll(/^ {2}(\w+): (true|false),/gm),
  ].map(([, name, required]) => [name, required === 'true']);
  assert.ok(fields.length > 5);
  const rows = tableBelow(read('docs/operate.md'), 'On Node').map(([name, , initial]) => [
    codes(name)[0],
    initial === 'required',
  ]);
  assert.deepEqual(rows.sort(), fields.sort());
  const manual = all(
    part('docs/man/shoal-edge.1', '.Ss Configuration', '.Sh EXIT'),
    /^\.It Li (\w+)$/gm,
  );
  assert.deepEqual(manual.sort(), fields.map(([name]) => name).sort());
  const bindings = all(
    part('edge/worker.js', '@typedef {object} Env', '*/'),
    /@property \{.*\} \[?([A-Z_]+)\]?/g,
  );
  assert.deepEqual(
    named('docs/operate.md', 'On workerd')
      .filter((name) => /^[A-Z_]+$/.test(name) && name !== 'STORE_BYTES')
      .sort(),
    bindings.filter((name) => name !== 'STORE_BYTES').sort(),
  );
});

test("the relay's configuration, its answers and its counts", () => {
  const fields = [
    ...all(part('relay/settings.js', 'export const FIELDS', '];'), /^ {2}'(\w+)',$/gm),
    ...all(part('relay/config.js', 'const NODE_FIELDS', '];'), /^ {2}'(\w+)',$/gm),
    ...all(part('relay/connection_settings.js', 'CONNECTION_FIELDS', '];'), /^ {2}'(\w+)',$/gm),
  ].filter((name) => name !== 'connections_reserved');
  assert.ok(fields.length > 10);
  const page = read('docs/operate.md');
  const rows = tableBelow(page, 'A relay on Node').map(([name]) => codes(name)[0]);
  assert.deepEqual(rows.sort(), fields.sort());
  const manual = all(
    part('docs/man/shoal-relay.1', '.Ss Configuration', '.Sh EXIT'),
    /^\.It Li (\w+)$/gm,
  );
  assert.deepEqual(manual.sort(), fields.sort());
  const kinds = [
    ...part('relay/errors.js', 'const KINDS', '\n};').matchAll(/^ {2}'?([a-z-]+)'?: \[(\d{3}),/gm),
  ].map(([, code, status]) => `${status} ${code}`);
  assert.ok(kinds.length > 10);
  const answers = tableBelow(page, 'What a relay answers').flatMap(([statuses, code]) =>
    codes(code).flatMap((one) => statuses.split(', ').map((status) => `${status} ${one}`)),
  );
  const passedOn = ['429 gateway', '503 gateway']; // with the gateway's own status
  assert.deepEqual(answers.sort(), [...kinds, ...passedOn].sort());
  for (const name of all(read('relay/handler.js'), /(shoal_relay_\w+)/g))
    assert.ok(page.includes(`\`${name}\``), name);
});

test('what the edge worker answers', () => {
  const kinds = [
    ...part('edge/errors.js', 'const KINDS', '\n};').matchAll(/^ {2}'?([a-z-]+)'?: \[(\d{3}),/gm),
  ].map(([, code, status]) => `${status} ${code}`);
  assert.ok(kinds.length > 10);
  const rows = tableBelow(read('docs/operate.md'), 'What the worker answers');
  assert.deepEqual(
    rows.flatMap(([status, code]) => codes(code).map((one) => `${status} ${one}`)).sort(),
    kinds.sort(),
  );
});

test('what the aggregator answers', () => {
  const rows = tableBelow(read('docs/operate.md'), 'What the aggregator answers');
  const documented = rows.flatMap(([status, code]) => codes(code).map((one) => `${status} ${one}`));
  const sources = ['serve_request.c', 'serve_route.c', 'serve_metrics.c', 'serve_result.c']
    .map((name) => read(`aggregator/serve/${name}`))
    .join('\n');
  for (const [, status, code] of sources.matchAll(
    /agg_http_answer_error\([^;]*?(\d{3}),\s*"([a-z-]+)"/g,
  )) {
    assert.ok(documented.includes(`${status} ${code}`), `${status} ${code}`);
  }
});

test('the metrics', () => {
  const source = read('aggregator/serve/serve_metrics.c');
  const metrics = all(
    source,
    /put_(?:help|gauge|each)\(stream,(?: [a-z]+, [a-z]+,| r,)? "([a-z_]+)"/g,
  )
    .concat(all(read('aggregator/http/http_connections.c'), /HELP %s_(\w+)/g))
    .filter((name) => name !== 'gauge')
    .map((name) => `shoal_${name}`)
    .concat(all(source, /agg_metrics_(?:free|gauge)\(stream, "(\w+)"/g));
  const metricsBelow = (/** @type {string} */ heading) =>
    [
      ...new Set(
        named('docs/operate.md', heading).filter((name) => /^(shoal|process)_/.test(name)),
      ),
    ].sort();
  assert.deepEqual(metricsBelow('Metrics and health'), [...new Set(metrics)].sort());

  // The edge's table of metrics has all that its parts count, and the page has all of the table.
  const edge = read('edge/metrics.js');
  const described = all(edge, /^ {2}\['(\w+)',/gm);
  const stats = all(part('edge/collector.js', 'async stats()', '\n  }'), /^ {6}(\w+):/gm);
  const counters = ['collector.js', 'dap_forward.js', 'sqlite_store.js', 'spool_store.js'].flatMap(
    (name) => all(read(`edge/${name}`), /\b([a-z_]+_total|failures_in_a_row):/g),
  );
  assert.deepEqual([...new Set(described)].sort(), [...new Set([...stats, ...counters])].sort());
  assert.deepEqual(
    metricsBelow('Metrics'),
    [
      ...described.map((name) => `shoal_edge_${name}`),
      ...all(edge, /'(shoal_edge_\w+)'/g),
      ...all(read('edge/node.js'), /'(shoal_edge_\w+)'/g),
      ...all(read('relay/connections.js'), /`\$\{prefix\}(_\w+)`/g).map(
        (name) => `shoal_edge${name}`,
      ),
      ...all(read('relay/reload.js'), /`\$\{prefix\}(_\w+)`/g).map((name) => `shoal_edge${name}`),
    ].sort(),
  );

  const common = [
    ...all(read('aggregator/http/http_metrics.c'), /"((?:shoal|process)_\w+)"/g),
    ...all(read('relay/process_metrics.js'), /'(process_\w+)'/g),
    ...all(read('relay/exposition.js'), /'(shoal_\w+)'/g),
  ];
  assert.deepEqual(metricsBelow('Watching it'), [...new Set(common)].sort());

  const page = read('docs/operate.md');
  const others = [
    ...all(read('edge/gateway.js'), /^ {2}(\w+_total): '/gm).map(
      (name) => `shoal_edge_gateway_${name}`,
    ),
    ...all(read('relay/node.js'), /'(shoal_relay_\w+)'/g),
    ...all(read('relay/connections.js'), /`\$\{prefix\}(_\w+)`/g).map(
      (name) => `shoal_relay${name}`,
    ),
    ...all(read('issuer/metrics.js'), /'(shoal_\w+)'/g),
    ...all(read('aggregator/dap/dap_metrics.c'), /"([a-z_]+)",(?: "counter"|\s*"[A-Z])/g).map(
      (name) => `shoal_dap_${name}`,
    ),
    ...all(read('aggregator/dap/dap_route.c'), /"(shoal_dap_\w+)"/g),
  ].filter((name) => name !== 'shoal_relay');
  assert.ok(others.length > 20);
  for (const name of others) assert.ok(page.includes(`\`${name}\``), name);
});

test("the issuer's configuration", () => {
  const fields = [
    ...part('issuer/config.js', 'const FIELDS', '};').matchAll(/^ {2}(\w+): (true|false),/gm),
  ].map(([, name]) => name);
  assert.ok(fields.length > 8);
  const rows = tableBelow(read('docs/operate.md'), 'Issuing tokens').map(
    ([name]) => codes(name)[0],
  );
  assert.deepEqual(rows.sort(), fields.toSorted());
  const manual = all(
    part('docs/man/shoal-issuer.1', '.Ss Configuration', '.Sh EXIT'),
    /^\.It Li (\w+)$/gm,
  );
  assert.deepEqual(manual.sort(), fields.toSorted());
});

/** The members of "selection", of which a result has a confidence of its own. */
const SELECTION = all(read('aggregator/report/selection_print.c'), /\\"([a-z_]+)\\":/g);

test('the fields of a result', () => {
  const printed = [
    ...new Set([
      ...all(read('aggregator/report/estimate_print.c'), /\\"([a-z_]+)\\":/g).filter(
        (name) => name !== 's',
      ),
      ...all(read('aggregator/report/estimate_print.c'), /AGG_COLUMN\("([a-z_]+)"/g),
      ...all(read('aggregator/report/selection_print.c'), /AGG_COLUMN(?:_OR_NULL)?\("([a-z_]+)"/g),
      ...all(read('aggregator/report/estimate_print.c'), /\.group = \{"([a-z_]+)"/g),
      ...all(read('aggregator/report/incomplete_print.c'), /\\"([a-z]+)\\":/g),
      ...SELECTION.filter((name) => name !== 'confidence'),
      ...all(read('aggregator/report/estimate_print.c'), /print_field\(stream, "([a-z_]+)"/g),
      ...all(
        part('aggregator/report/estimate_print.c', 'static columns columns_of', '\n}'),
        /"([a-z]+)"/g,
      ),
    ]),
  ];
  const table = tableBelow(read('docs/analyse.md'), 'The commands').flatMap(([names]) =>
    codes(names),
  );
  assert.deepEqual(table.sort(), printed.sort());
});

test('the fields of a comparison', () => {
  const source = read('aggregator/report/compare_print.c');
  const printed = new Set([
    ...all(source, /\\"([a-z_]+)\\":/g),
    ...SELECTION,
    ...all(source, /AGG_COLUMN\("([a-z_]+)"/g),
    ...all(source, /\.name = \{"([a-z_]+)", \d+\}/g),
    ...all(
      part('aggregator/report/compare_print.c', 'static const char *const names', '}'),
      /"([a-z]+)"/g,
    ),
  ]);
  const known = new Set(
    tableBelow(read('docs/analyse.md'), 'The commands').flatMap(([names]) => codes(names)),
  );
  const table = tableBelow(read('docs/analyse.md'), 'What changed').flatMap(([names]) =>
    codes(names),
  );
  for (const name of table) assert.ok(printed.has(name) || ['a', 'b'].includes(name), name);
  for (const name of printed) assert.ok(table.includes(name) || known.has(name), name);
});

test('the fields of changes', () => {
  const source = read('aggregator/report/changes_print.c');
  const printed = [
    ...all(source, /AGG_COLUMN\("([a-z_]+)"/g),
    ...all(source, /\\"([a-z_]+)\\":/g).filter((name) => !['schema', 'rows'].includes(name)),
  ];
  const known = tableBelow(read('docs/analyse.md'), 'The commands').flatMap(([names]) =>
    codes(names),
  );
  const table = tableBelow(read('docs/changes.md'), 'From months to a picture').flatMap((row) =>
    row.flatMap((cell) => codes(cell)),
  );
  const manual = all(read('docs/man/shoal-changes.1'), /^\.Li (\w+)/gm);
  assert.ok(printed.length > 25);
  for (const name of printed) {
    assert.ok(table.includes(name) || known.includes(name), name);
    if (known.includes(name) || ['label', 'after', 'before'].includes(name)) continue;
    const stem = name.replace(/^(before|after)(_low|_high)$/, '$2');
    assert.ok(manual.includes(stem), `shoal-changes.1: ${name}`);
  }
});

test('exit codes', () => {
  const numbers = all(part('aggregator/base/agg_error.h', 'AGG_EXIT_OK = 0', '};'), /= (\d)/g);
  assert.deepEqual(
    tableBelow(read('docs/analyse.md'), 'Exit codes').map(([code]) => code),
    numbers,
  );
  assert.deepEqual(
    all(part('docs/man/shoal.1', '.Sh EXIT STATUS', '.Sh EXAMPLES'), /^\.It (\d)$/gm),
    numbers,
  );
});

test('the standard errors of a rare value', () => {
  const m = 1024;
  /** Variance for each report, where nobody holds the value and rows are many. @type {{[mechanism: string]: (epsilon: number) => number}} */
  const variances = {
    cms(epsilon) {
      const q = 1 / (Math.exp(epsilon / 2) + 1);
      return (m / (m - 1)) ** 2 * ((q * (1 - q)) / (1 - 2 * q) ** 2 + (1 / m) * (1 - 1 / m));
    },
    hcms(epsilon) {
      const q = 1 / (Math.exp(epsilon) + 1);
      return (m / (m - 1)) ** 2 * (1 / (1 - 2 * q) ** 2 - 1 / m ** 2);
    },
    'onehot-asymmetric'(epsilon) {
      const q = 1 / (Math.exp(epsilon) + 1);
      return (q * (1 - q)) / (0.5 - q) ** 2;
    },
  };
  const rows = tableBelow(read('docs/analyse.md'), 'Standard error of a rare value');
  assert.equal(rows.length, 12);
  for (const [mechanism, epsilon, ...errors] of rows) {
    const variance = variances[codes(mechanism)[0]](Number(epsilon));
    const expected = [1e4, 1e5, 1e6, 1e7].map((n) => Math.round(Math.sqrt(n * variance)));
    assert.deepEqual(
      errors.map((text) => Number(text.replaceAll(',', ''))),
      expected,
      `${mechanism} ${epsilon}`,
    );
  }
});

test('the recipes of docs/recipes are what pages say of them', () => {
  for (const name of ['words', 'domains', 'choices']) {
    assert.ok(existsSync(join(root, `docs/recipes/${name}.json`)), name);
    assert.ok(read('docs/embed.md').includes(`recipes/${name}.json`), name);
  }
});
