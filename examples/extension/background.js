// SPDX-License-Identifier: Apache-2.0
// The worker: hands visited addresses to the client, and answers the consent page. It has no DOM,
// and Chrome stops and starts it as it likes, so it keeps nothing in memory: consent, budget and
// records are in the extension's IndexedDB.
import { init } from 'shoal-client';
import recipe from './recipe.json';
import { clearTimer, ring, setTimer } from './timers.js';

const WAKE = 'wake';

const starting = init({
  endpoint: 'http://127.0.0.1:8787/',
  recipes: [recipe],
  setTimer,
  clearTimer,
  // A worker is no page that can be seen. The browser is in use while it runs, so its windows open.
  document: Object.assign(new EventTarget(), { visibilityState: 'visible' }),
});

/** Wakes the worker every hour under consent, whether or not anything was visited. */
async function keepWaking(client) {
  if (client.consent.state !== 'granted') await chrome.alarms.clearAll();
  else if (!(await chrome.alarms.get(WAKE))) {
    await chrome.alarms.create(WAKE, { periodInMinutes: 60 });
  }
}

// Listeners are added at once: Chrome wakes the worker for those that its last start added.
chrome.webNavigation.onCommitted.addListener(
  async ({ url, frameId, documentLifecycle }) => {
    // A frame, or a page loaded ahead, is no site that the person visited.
    if (frameId !== 0 || documentLifecycle === 'prerender') return;
    await (await starting).visit(url);
  },
  { url: [{ schemes: ['http', 'https'] }] },
);

chrome.alarms.onAlarm.addListener(async ({ name }) => {
  ring(name);
  await (await starting).flush();
});

chrome.runtime.onInstalled.addListener(({ reason }) => {
  if (reason === 'install') void chrome.runtime.openOptionsPage();
});

/** What the consent page may ask for. */
const calls = {
  show: () => {},
  grant: (client) => client.consent.grant(),
  withdraw: (client) => client.consent.withdraw(),
  erase: (client) => client.erase(),
};

chrome.runtime.onMessage.addListener((call, _sender, answer) => {
  void (async () => {
    const client = await starting;
    await calls[call]?.(client);
    await keepWaking(client);
    answer({
      state: client.consent.state,
      asks: (await client.consent.asks()).length,
      reports: await client.reports(),
      reasons: await client.explain(),
    });
  })().catch((error) => answer({ error: String(error) }));
  return true; // the answer comes later
});
