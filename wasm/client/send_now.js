// SPDX-License-Identifier: Apache-2.0
// Sends a record from a page that may be gone in the next moment. A part of the chunk of windows.js,
// apart from outbox.js, which every page loads.
import { uniform } from './basics.js';
import { ACCEPTED, FIRST_RETRY_MS, refusalOf } from './outbox.js';

/**
 * Sends a record that is in no queue. The request begins before this returns. A page that lives on
 * keeps the record for another try, if nothing accepted it; a page that does not has sent it once or
 * lost it.
 * @param {import('./context.js').Context} context
 * @param {import('./outbox.js').Outbox} outbox
 * @param {string} id
 * @param {import('./storage.js').Row} row
 * @param {number} era of the consent that the record was made under
 * @param {boolean} isTried false for a record that only goes to the queue
 * @param {(signal: AbortSignal) => Promise<Response>} [send] where it was sealed for a relay ahead
 */
export async function sendNow(context, outbox, id, row, era, isTried, send) {
  const { deps } = context;
  const { report } = row;
  const answering = isTried ? outbox.post(id, row, null, send) : null;
  /** @param {(tx: import('./storage.js').Transaction) => Promise<unknown>} task */
  const write = (task) => context.exclusive(async (tx) => era === context.era && task(tx));
  try {
    await write((tx) => outbox.list(tx, id, { report, state: 'sent', at: deps.now() }));
    const answer = await answering;
    if (answer?.status === ACCEPTED) return;
    const refusal = refusalOf(answer?.status);
    const code = refusal ?? (answer ? 'edge-busy' : 'offline');
    context.note(code, report.key);
    const due = deps.now() + Math.floor(FIRST_RETRY_MS * (1 + uniform(deps)));
    await write(async (tx) => {
      if (!(await tx.get('done', id))) return; // erased meanwhile
      if (refusal) return tx.put('done', id, { report, state: 'refused', at: deps.now(), code });
      await tx.delete('done', id);
      await tx.put('queue', id, { ...row, due, tries: 1 });
    });
    if (!refusal) outbox.wake(due);
  } catch (error) {
    context.noteError(error, report.key);
  }
}
