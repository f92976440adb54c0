// SPDX-License-Identifier: Apache-2.0
// The whole wiring: consent by two buttons, an event by three, and what became of it.
import { start } from 'shoal-client/loader';
import theme from '../theme.json';

const shoal = start({ endpoint: 'http://127.0.0.1:8787/', recipes: [theme] });

const STATES = {
  none: 'You have not answered yet. Nothing is stored or sent.',
  granted: 'You said yes.',
  outdated: 'The page asks for more than you said yes to. Please answer again.',
  withdrawn: 'You said no. Nothing is sent.',
  gpc: 'Your browser says no for you (Global Privacy Control). Nothing is sent.',
};

/** Shows what the person decided, and each report as it was sent. */
async function show() {
  document.querySelector('#state').textContent = STATES[shoal.consent.state];
  const lines = (await shoal.reports()).map(({ state, report }) => {
    const line = document.createElement('li');
    line.textContent = `${report.key}: record ${report.records[0]}, ${state}`;
    return line;
  });
  document.querySelector('#sent').replaceChildren(...lines);
}

/** Answers a click, then shows what came of it. */
const on = (button, task) =>
  button.addEventListener('click', async () => {
    await task();
    await show();
  });

on(document.querySelector('#yes'), () => shoal.consent.grant());
on(document.querySelector('#no'), () => shoal.consent.withdraw());
for (const button of document.querySelectorAll('[data-theme]'))
  on(button, async () => {
    await shoal.record('theme', button.dataset.theme);
    await shoal.flush(); // so that the list below says what came of it
  });
void show();
