// SPDX-License-Identifier: Apache-2.0
// What the client tells a person: reports, budgets, and why something was not sent, each code with its sentence. No
// sentence holds a value. A chunk of its own, loaded when somebody asks.

import { spentOf } from '../bindings/ledger_sum.js';

/** The header that a page needs, as the documentation prints it. */
export const CSP = "script-src 'self' 'wasm-unsafe-eval'";

/** @type {{[code: string]: string}} */
export const REASONS = {
  'no-consent': 'Consent has not been given.',
  gpc: 'The browser sends Global Privacy Control, which counts as no.',
  storage: 'Storage on this device failed, so no budget can be kept.',
  'wasm-blocked': `The page's policy refuses WebAssembly. Add the header Content-Security-Policy: ${CSP}`,
  'core-missing': 'The WebAssembly module could not be loaded.',
  'recipe-refused': 'The recipe could not be loaded, or is not the one that was pinned.',
  'no-signature': 'The recipe is not signed, and this page takes signed ones only.',
  'unknown-key': 'The recipe is signed by a key that this page does not know.',
  'bad-signature': "The recipe's signature is bad: it is not what its key signed.",
  'no-ed25519': "This browser cannot check the recipe's signature (Ed25519), so it is not used.",
  'unknown-stream': 'No recipe reads this stream.',
  budget: "The day's reports are spent.",
  fresh: 'Storage is fresh; reports begin on the next UTC day.',
  erased: 'Everything was erased today; reports begin on the next UTC day.',
  expired: "The recipe's last day has passed.",
  ledger: 'The budget ledger cannot be read, so nothing may be spent.',
  'sampled-out': "The recipe's random sample left this event out.",
  'not-a-number': 'The value is not a finite number.',
  'text-rule': "The text is not one that the recipe's rule counts.",
  'too-long': 'The text has more bytes than the recipe takes.',
  'no-variables': 'The recipe takes its variables by name, in one object.',
  'unknown-variable': 'The event names a variable that the recipe has not.',
  run: 'The recipe is an epoch of a run, which is answered from its samples: it belongs to the option runs.',
  'not-a-site': 'This is not the address of a public web site.',
  'refused-field': 'Words are not read from this kind of field.',
  'private-list-missing': 'The list of registrable domains could not be loaded.',
  'segmenter-missing': 'This browser cannot split text into words.',
  'not-yet-due': 'Records wait for their random delay.',
  'no-keys':
    'A key of the two servers that add up could not be fetched, so nothing is spent or sent.',
  'no-x25519':
    'This browser cannot seal to the keys of the two servers (X25519), so nothing is spent or sent.',
  'too-heavy':
    'The record has more bits set than the two servers take, as about one in a million has; it is not sent.',
  'task-refused': 'The task of the two servers is not one that can be shared to.',
  'not-a-measurement': 'The value is not one that the task measures.',
  offline: 'The edge worker could not be reached; the records are kept.',
  'edge-busy': 'The edge worker asked to wait; the records are kept.',
  'edge-refused':
    'The edge worker, or the server behind it, refused a report for good; it was dropped.',
};

/**
 * @typedef {import('./client.js').Recipe} Recipe
 * @typedef {import('./client.js').View} View
 * @typedef {{state: string, at: number, report: import('../bindings/device.js').ReportJson, code?: string}} Told
 */

/** @param {Told} told @returns {import('./client.js').Entry} */
function entry({ state, at, report, code }) {
  const time = new Date(at).toISOString();
  const { servers, records } = report;
  const { epsilon: whole, epsilon_fragment: fragment = 0, epochs } = report.parameters; // some recipes state the chances that it follows from instead
  const epsilon = whole && Math.round((whole + fragment) * 1e6) / 1e6;
  const how = !epsilon
    ? 'on this device'
    : epochs
      ? `within epsilon ${epsilon} for all ${epochs} epochs`
      : `with epsilon ${epsilon}`;
  const split = servers
    ? `, split into two sealed shares, for ${servers.leader} and ${servers.helper}`
    : '';
  const what = records.length
    ? `a record of "${report.key}", randomized ${how}${split}`
    : `an exact value for "${report.key}", not randomized${split}`;
  /** @type {{[state: string]: string}} */
  const texts = {
    queued: `Waits until ${time}: ${what}.`,
    sent: `Sent at ${time}: ${what}.`,
    refused: `Not accepted at ${time}: ${what}. ${REASONS[code ?? ''] ?? ''}`,
  };
  return { state: /** @type {any} */ (state), at: time, text: texts[state], report };
}

/** @param {View} view */
export async function reports({ deps: { storage } }) {
  if (!(await storage.open(false))) return [];
  const [done, queue] = await storage.transaction((tx) =>
    Promise.all([tx.entries('done'), tx.entries('queue')]),
  );
  const rows = [
    ...queue.map(([, row]) => ({ ...row, state: 'queued', at: row.due })),
    ...done.map(([, row]) => row),
  ];
  return rows.sort((a, b) => b.at - a.at).map(entry);
}

/** @param {View} view */
const today = ({ deps }) => Math.floor(deps.now() / 86_400_000);

/** @param {View} view @returns {Promise<any[]>} */
export async function ledger(view) {
  const { policy, runs } = view.options;
  const isOn = view.state === 'granted';
  const lists = await Promise.all([
    balancesOf(view),
    policy && isOn ? import('./queries.js').then((queries) => queries.charges(view)) : [],
    runs && isOn ? import('./tracking.js').then((tracking) => tracking.balances(view)) : [],
  ]);
  return lists.flat();
}

/** @param {View} view @returns {Promise<import('./client.js').Balance[]>} */
async function balancesOf(view) {
  const ready = await view.core();
  if (!ready) return [];
  const { core, recipes } = ready;
  const day = today(view);
  const balances = await view.exclusive(async (tx) => {
    const bytes = await view.ledgerOf(tx, core);
    /** @param {Recipe} recipe @param {number} first */
    const spent = (recipe, first) => {
      const { count, epsMicro } = spentOf(bytes, recipe, first, day);
      return { count, epsilon: epsMicro / 1e6 };
    };
    return recipes.map((recipe) => ({
      recipe: recipe.id,
      perDay: recipe.limit.perDay,
      today: spent(recipe, day),
      year: spent(recipe, day - 364),
    }));
  });
  return balances ?? [];
}

/** @param {View} view @returns {Promise<import('./client.js').Reason[]>} */
export async function explain(view) {
  /** @type {Map<string, import('./client.js').Note>} */
  const reasons = new Map();
  /** @param {string} code @param {string | null} recipe @param {number} count @param {string} [text] */
  const add = (code, recipe, count, text) =>
    reasons.set(`${code} ${recipe}`, { code, recipe, count, text });
  if (view.state !== 'granted') add(view.state === 'gpc' ? 'gpc' : 'no-consent', null, 0);
  try {
    await explainState(view, add);
    if (view.options.runs && view.state === 'granted')
      await (await import('./tracking.js')).explain(view, add);
  } catch {
    view.note('storage');
  }
  for (const [key, note] of view.notes) if (!reasons.get(key)?.count) reasons.set(key, note);
  return [...reasons.values()].map((note) => ({ ...note, text: note.text ?? REASONS[note.code] }));
}

/** @param {View} view @param {(code: string, recipe: string | null, count: number) => void} add */
async function explainState({ deps, notes, url, core, exclusive, refusal }, add) {
  const ready = await core();
  if (ready) {
    await exclusive(async (tx) => {
      for (const recipe of ready.recipes) {
        const code = await refusal(tx, ready.core, recipe);
        if (code) add(code, recipe.id, notes.get(`${code} ${recipe.id}`)?.count ?? 0);
      }
    });
  }
  if (!(await deps.storage.open(false))) return;
  const rows = await deps.storage.transaction((tx) => tx.entries('queue'));
  const waiting = rows.filter(([, row]) => row.endpoint === url && row.due > deps.now());
  if (waiting.length) add('not-yet-due', null, waiting.length);
}
