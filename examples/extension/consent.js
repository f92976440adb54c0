// SPDX-License-Identifier: Apache-2.0
// The consent page. It asks the worker, which holds the client.

const STATES = {
  none: 'You have not answered yet. Nothing is stored or sent.',
  granted: 'You said yes.',
  outdated: 'This version asks for more than you said yes to. Please answer again.',
  withdrawn: 'You said no. Nothing is recorded or sent.',
  gpc: 'Your browser says no for you (Global Privacy Control). Nothing is recorded or sent.',
};

const find = (id) => document.getElementById(id);

/** Sends a call to the worker, and shows what it answers. */
async function ask(call) {
  const answer = await chrome.runtime.sendMessage(call);
  if (answer.error) {
    find('state').textContent = `That did not work: ${answer.error}`;
    return;
  }
  find('state').textContent = STATES[answer.state];
  const lines = answer.reports.map(({ state, report }) => {
    const line = document.createElement('li');
    line.textContent = `${report.key}: record ${report.records[0]}, ${state}`;
    return line;
  });
  find('sent').replaceChildren(...lines);
  find('nothing').hidden = lines.length > 0;
  const isYes = answer.state === 'granted';
  find('why').textContent = isYes ? answer.reasons.map(({ text }) => text).join(' ') : '';
}

find('yes').addEventListener('click', () => ask('grant'));
find('no').addEventListener('click', () => ask('withdraw'));
find('erase').addEventListener('click', () => ask('erase'));
document.addEventListener('visibilitychange', () => document.hidden || ask('show'));
void ask('show');
