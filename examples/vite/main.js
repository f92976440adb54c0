// SPDX-License-Identifier: Apache-2.0
// Counts page views of a single-page app by their routes.
import { start } from 'shoal-client/loader';
import { observeRoutes } from 'shoal-client/routes';
import { startRouter } from './routes.js';
import views from './views.json';

const shoal = start({ endpoint: 'http://127.0.0.1:8787/', recipes: [views] });

/** Shows what the person decided, and each report as it was sent. */
async function show() {
  document.querySelector('#state').textContent = `Consent: ${shoal.consent.state}`;
  const lines = (await shoal.reports()).map(({ state, report }) => {
    const line = document.createElement('li');
    line.textContent = `${report.key}: record ${report.records[0]}, ${state}`;
    return line;
  });
  document.querySelector('#sent').replaceChildren(...lines);
}

/** @param {string | null} route as the recipe lists it; null is counted as "none of them" */
async function count(route) {
  await shoal.record('views', route);
  await shoal.flush(); // so that the list says what came of it
  await show();
}

document.querySelector('#yes').onclick = async () => {
  await shoal.consent.grant();
  await show();
};
document.querySelector('#no').onclick = async () => {
  await shoal.consent.withdraw();
  await show();
};
startRouter();
observeRoutes(views.parameters.values, count);
void show();
