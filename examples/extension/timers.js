// SPDX-License-Identifier: Apache-2.0
// Timers that outlive a sleeping service worker. Chrome stops the worker after 30 idle seconds, and
// its setTimeout with it; an alarm wakes it. The tasks themselves are lost with the worker, and that
// is all right: a client that starts anew looks by itself for what is due.

const ALARM_MS = 30_000; // Chrome's shortest alarm
/** @type {Map<string, () => void>} */
const tasks = new Map();
let count = 0;

/** @param {() => void} task @param {number} ms */
export function setTimer(task, ms) {
  if (ms < ALARM_MS) return setTimeout(task, ms);
  const name = `timer-${count++}`;
  tasks.set(name, task);
  void chrome.alarms.create(name, { when: Date.now() + ms });
  return name;
}

/** @param {any} timer */
export function clearTimer(timer) {
  if (!tasks.delete(timer)) return clearTimeout(timer);
  void chrome.alarms.clear(timer);
}

/** Runs the task of an alarm, if this life of the worker set it. @param {string} name */
export function ring(name) {
  const task = tasks.get(name);
  tasks.delete(name);
  task?.();
}
