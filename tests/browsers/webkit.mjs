// SPDX-License-Identifier: Apache-2.0
// WebKitGTK's small browser, driven over its WebDriver (https://www.w3.org/TR/webdriver2/). It has
// no headless mode, so that each browser gets a display of its own from Xvfb. Its window is never
// narrower than 447 px: a narrower page is shown in a frame of that size, where all calls go too.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepPicture } from './browsers.mjs';
import { freePort } from '../ports.mjs';

export const WEBKIT_DRIVER = process.env.SHOAL_WEBKIT_DRIVER ?? '/usr/bin/WebKitWebDriver';
export const MINI_BROWSER =
  process.env.SHOAL_WEBKIT ??
  `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/webkit2gtk-4.1/MiniBrowser`;

const SESSION_MS = 60_000;
const NARROWEST = 447;
const TALLEST = 4000; // pixels of the display: a whole page fits
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'; // the key of a reference, by the standard
const KEYS = {
  Tab: '\uE004',
  Enter: '\uE007',
  Space: ' ',
  Home: '\uE011',
  ArrowRight: '\uE014',
  ArrowDown: '\uE015',
};

/** Starts a program. It ends with the test process too. @param {string} file @param {string[]} args @param {any} [env] */
function start(file, args, env) {
  const stdio = /** @type {const} */ (['ignore', 'pipe', 'ignore']);
  const child = spawn(file, args, { stdio: [...stdio], env: { ...process.env, ...env } });
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  return {
    child,
    async stop() {
      process.off('exit', kill);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const late = setTimeout(kill, 5000);
      await ended;
      clearTimeout(late);
    },
  };
}

/** A display. Returns: its name, and what ends it. @param {number} width */
async function startDisplay(width) {
  const args = ['-displayfd', '1', '-screen', '0', `${width}x${TALLEST}x24`, '-nolisten', 'tcp'];
  const { child, stop } = start('/usr/bin/Xvfb', args);
  const [number] = await once(/** @type {any} */ (child.stdout), 'data');
  return { name: `:${String(number).trim()}`, stop };
}

/**
 * A call of the protocol.
 * @param {string} base @param {string} method @param {string} path @param {any} [body]
 * @param {AbortSignal} [signal]
 */
async function ask(base, method, path, body, signal) {
  const answer = await fetch(base + path, { method, body: body && JSON.stringify(body), signal });
  const { value } = /** @type {any} */ (await answer.json());
  if (!answer.ok) throw new Error(`WebDriver: ${path}: ${value.error}: ${value.message}`);
  return value;
}

/** A driver with a display and a home of its own. @param {'light' | 'dark'} scheme @param {number} width */
async function startDriver(scheme, width) {
  const home = await mkdtemp(join(tmpdir(), 'shoal-webkit-'));
  const display = await startDisplay(width);
  const port = await freePort();
  const driver = start(WEBKIT_DRIVER, [`--port=${port}`, '--host=127.0.0.1'], {
    DISPLAY: display.name,
    GDK_BACKEND: 'x11',
    GTK_THEME: scheme === 'dark' ? 'Adwaita:dark' : 'Adwaita',
    HOME: home,
    XDG_RUNTIME_DIR: home,
    XDG_CACHE_HOME: home,
    XDG_DATA_HOME: home,
    // Without a language `navigator.language` is "C", which Intl refuses.
    LANG: 'en_US.UTF-8',
    LC_ALL: 'en_US.UTF-8',
  });
  const base = `http://127.0.0.1:${port}`;
  for (const end = Date.now() + 30_000; ;) {
    if (
      await ask(base, 'GET', '/status').then(
        () => true,
        () => false,
      )
    )
      break;
    if (Date.now() > end) throw new Error('WebKitWebDriver does not answer');
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  const stop = async () => {
    await driver.stop();
    await display.stop();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  return { base, stop };
}

/** Pages that show another in a frame. @param {number} width @param {number} height */
async function startFrames(width, height) {
  const server = createServer((request, response) => {
    const page = new URL(request.url ?? '/', 'http://frame').searchParams.get('page') ?? '';
    const source = page.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
    response.setHeader('Content-Type', 'text/html');
    response.end(`<!doctype html><title>frame</title><body style="margin:0">
      <iframe style="width:${width}px;height:${height}px;border:0" src="${source}"></iframe>`);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    of: (/** @type {string} */ page) =>
      `http://127.0.0.1:${port}/?page=${encodeURIComponent(page)}`,
    stop: () => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))),
  };
}

/** The body of a script whose last argument is what ends it. @param {Function} task */
const scriptOf = (task) => `const [list, end] = arguments;
  (async () => (${task})(...list))().then((value) => end({ value }), (error) => end({ error: String(error) }));`;

/**
 * One tab of a session. Each call first goes to it, as another tab may have been the last.
 * @param {(method: string, path: string, body?: any) => Promise<any>} call of the session
 * @param {string} handle
 * @param {{of: (page: string) => string} | null} frames
 * @param {{width: number, height: number}} size
 * @returns {import('./browsers.mjs').Tab}
 */
function tabOf(call, handle, frames, size) {
  let isFramed = false;
  const enter = async (isPage = true) => {
    await call('POST', '/window', { handle });
    await call('POST', '/frame', { id: null });
    if (!isFramed || !isPage) return null;
    const frame = await call('POST', '/element', { using: 'css selector', value: 'iframe' });
    await call('POST', '/frame', { id: frame });
    return frame;
  };
  const runHere = async (/** @type {Function} */ task, /** @type {any[]} */ ...args) => {
    const script = scriptOf(task);
    const said = await call('POST', '/execute/async', { script, args: [args] });
    if ('error' in said) throw new Error(said.error);
    return said.value ?? undefined;
  };
  const act = (/** @type {any[]} */ actions) =>
    call('POST', '/actions', { actions }).then(() => call('DELETE', '/actions'));
  const strike = async (/** @type {string[]} */ keys) => {
    await enter();
    const actions = keys.flatMap((value) => ['keyDown', 'keyUp'].map((type) => ({ type, value })));
    await act([{ type: 'key', id: 'keyboard', actions }]);
  };
  return {
    async goto(url) {
      await enter(false);
      await call('POST', '/url', { url: frames ? frames.of(url) : url });
      isFramed = frames !== null;
    },
    async run(task, ...args) {
      await enter();
      return runHere(task, ...args);
    },
    async click(find, ...args) {
      await enter();
      const script = `const found = (${find})(...arguments[0]);
        found?.scrollIntoView({ block: 'center' }); return found;`;
      const element = await call('POST', '/execute/sync', { script, args: [args] });
      if (!element?.[ELEMENT]) throw new Error('there is nothing to click');
      await call('POST', `/element/${element[ELEMENT]}/click`, {});
    },
    press: (key) => strike([KEYS[key]]),
    type: (text) => strike([...text]),
    async picture(path, isWhole = false) {
      await enter();
      const height = isWhole
        ? Math.min(await runHere(() => document.documentElement.scrollHeight), TALLEST - 200)
        : size.height;
      const frame = await enter(false).then(
        () => isFramed && call('POST', '/element', { using: 'css selector', value: 'iframe' }),
      );
      if (frame)
        await runHere((/** @type {number} */ to) => {
          /** @type {any} */ (document.querySelector('iframe')).style.height = `${to}px`;
        }, height);
      await resize(call, Math.max(size.width, NARROWEST), height);
      const from = frame ? `/element/${frame[ELEMENT]}/screenshot` : '/screenshot';
      keepPicture(path, Buffer.from(await call('GET', from), 'base64'));
      await resize(call, Math.max(size.width, NARROWEST), size.height);
    },
    async close() {
      await enter(false);
      await call('DELETE', '/window');
    },
  };
}

/**
 * Gives the window's page a size, and waits until it is drawn: the window has a bar besides, and
 * follows in its own time. The call goes to the page itself, not to a frame of it.
 * @param {(method: string, path: string, body?: any) => Promise<any>} call
 * @param {number} width @param {number} height
 */
async function resize(call, width, height) {
  await call('POST', '/frame', { id: null });
  await call('POST', '/window/rect', { x: 0, y: 0, width, height: height + 38 });
  const script = scriptOf(async (/** @type {number} */ wanted) => {
    for (let i = 0; i < 100 && innerHeight !== wanted; i++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    for (let i = 0; i < 3; i++) await new Promise((resolve) => requestAnimationFrame(resolve));
    return innerHeight;
  });
  const run = () => call('POST', '/execute/async', { script, args: [[height]] });
  // The driver loses the result of a script now and then where a window changes its size.
  const { value } = await run().catch((error) => {
    if (!/Could not parse script result/.test(error.message)) throw error;
    return run();
  });
  if (value !== height) throw new Error(`the page is ${value} px high, not ${height}`);
}

/** @param {import('./browsers.mjs').Look} look @returns {Promise<import('./browsers.mjs').Browser>} */
export async function openWebKit({ width = 1280, height = 900, scheme = 'light' }) {
  const makeDriver = () => startDriver(scheme, Math.max(width, NARROWEST) + 100);
  let driver = await makeDriver();
  const frames = width < NARROWEST ? await startFrames(width, height) : null;
  const options = { binary: MINI_BROWSER, args: ['--automation'] };
  const wanted = { capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } } };
  /** The session that runs: the driver has one at a time. @type {string | null} */
  let open = null;
  const close = async () => {
    if (open) await ask(driver.base, 'DELETE', open).catch(() => undefined);
    open = null;
  };
  const connect = async () => {
    await close();
    // A driver that never answers a session's beginning has been seen; another one does.
    const session = () =>
      ask(driver.base, 'POST', '/session', wanted, AbortSignal.timeout(SESSION_MS));
    const { sessionId, capabilities } = await session().catch(async (error) => {
      if (error.name !== 'TimeoutError') throw error;
      await driver.stop();
      driver = await makeDriver();
      return session();
    });
    open = `/session/${sessionId}`;
    return capabilities.browserVersion;
  };
  const version = `WebKitGTK/${await connect()}`;
  let isFresh = true;
  return {
    name: 'webkit',
    version,
    async profile() {
      if (!isFresh) await connect(); // each session has storage of its own, in memory
      isFresh = false;
      const own = /** @type {string} */ (open);
      const call = (
        /** @type {string} */ method,
        /** @type {string} */ path,
        /** @type {any} */ body,
      ) => ask(driver.base, method, own + path, body);
      let isFirst = true;
      const tab = async () => {
        const handle = isFirst
          ? await call('GET', '/window', undefined)
          : (await call('POST', '/window/new', { type: 'tab' })).handle;
        if (isFirst) await resize(call, Math.max(width, NARROWEST), height);
        isFirst = false;
        return tabOf(call, handle, frames, { width, height });
      };
      return { tab, close: async () => void (own === open && (await close())) };
    },
    async close() {
      await close();
      await frames?.stop();
      await driver.stop();
    },
  };
}
