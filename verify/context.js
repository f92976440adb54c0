// SPDX-License-Identifier: Apache-2.0
// What the checks share: the report, what is known of the installation, and asking a party, with a
// name for everything that can go wrong on the way.
import { SERVICES } from './codes.js';
import { daysLeft, isHtml, isLoopback, request } from './net.js';

/**
 * @typedef {import('./setup.js').PageOptions} PageOptions
 * @typedef {import('./setup.js').Settings} Settings
 * @typedef {'page' | 'edge' | 'aggregator' | 'relay' | 'issuer' | 'log'} Party
 *
 * @typedef {object} Installation
 * @property {URL | null} page
 * @property {PageOptions | null} options  what the page's scripts say; null: the page was not read
 * @property {URL | null} client
 * @property {URL | null} edge
 * @property {URL | null} relay
 * @property {URL | null} aggregator
 * @property {import('./setup.js').Folder} folder
 * @property {{batch: string | null, edge: string | null, aggregator: string | null, reader: string |
 *   null}} secrets
 */

const CLOCK_MS = 120_000; // a client's random delays and days stand a little

export class Context {
  /** Clocks of parties less ours. @type {Map<Party, number>} */ skews = new Map();
  /** Parties that cannot be reached, so that nothing more is asked of them. @type {Set<Party>} */
  lost = new Set();

  /**
   * @param {import('./report.js').Report} report
   * @param {Installation} installation
   * @param {Settings} settings
   */
  constructor(report, installation, settings) {
    this.report = report;
    this.at = installation;
    this.settings = settings;
  }

  /** The policy that the page needs, and addresses, for what mends. @returns {Record<string, string | undefined>} */
  get vars() {
    const { page, edge } = this.at;
    return { csp: this.policy, origin: page?.origin, edge: edge?.href };
  }

  /** @type {string} */ policy = "script-src 'self' 'wasm-unsafe-eval'";

  /**
   * Asks a party, and reports what is wrong with the way to it. Returns its answer, or null.
   * @param {Party} party
   * @param {URL} url
   * @param {RequestInit} [init]
   * @returns {Promise<import('./net.js').Answer | null>}
   */
  async ask(party, url, init) {
    const answer = await request(url.href, init);
    const { report } = this;
    if (!answer.ok) {
      const vars = { detail: `${url.host} (${answer.why})`, host: url.hostname };
      report.wrong(party, `${party}-${answer.kind}`, vars);
      this.lost.add(party);
      return null;
    }
    if (Number.isFinite(answer.skewMs)) this.skews.set(party, answer.skewMs);
    return answer;
  }

  /**
   * Reaches a party: the way to it, and that it is what it should be.
   * @param {Party} party
   * @param {URL} url
   * @param {(answer: import('./net.js').Answer) => boolean} isIt
   * @returns {Promise<import('./net.js').Answer | null>}
   */
  async reach(party, url, isIt) {
    const { report } = this;
    const answer = await this.ask(party, url);
    if (answer === null) return null;
    if (url.protocol === 'http:' && !isLoopback(url))
      report.wrong(party, `${party}-http`, { detail: url.href });
    const days = await daysLeft(url);
    if (days !== null)
      report.wrong(party, `${party}-certificate`, {
        detail: `in ${days} days`,
        host: url.hostname,
      });
    if (isIt(answer)) return answer;
    this.lost.add(party);
    const { status, headers } = answer;
    const detail = `${url.href} answers ${status}`;
    const location = headers.get('location');
    if (status >= 300 && status < 400 && location)
      report.wrong(party, `${party}-redirect`, { detail, target: new URL(location, url).href });
    else if (status === 404 && !isHtml(answer)) report.wrong(party, `${party}-path`, { detail });
    else
      report.wrong(party, `${party}-html`, { detail: `${detail}, not as ${SERVICES[party]} does` });
    return null;
  }

  /** Judges the clocks once all parties were asked. */
  clocks() {
    const { report, skews } = this;
    const off = [...skews].filter(([, skew]) => Math.abs(skew) > CLOCK_MS);
    const said = (/** @type {number} */ skew) =>
      `${Math.round(Math.abs(skew) / 1000)} s ${skew > 0 ? 'ahead of' : 'behind'} this machine`;
    const isLocal =
      skews.size > 1 && off.length === skews.size && new Set(off.map(([, s]) => s > 0)).size === 1;
    if (isLocal)
      return report.wrong('clocks', 'local-clock', {
        detail: `${[...skews.keys()].join(', ')} are all ${said(off[0][1])}`,
      });
    for (const [party, skew] of off)
      if (['page', 'edge', 'aggregator', 'relay'].includes(party))
        report.wrong('clocks', `${party}-clock`, { detail: said(skew) });
    if (!off.length && skews.size)
      report.right('clocks', `the clocks of ${[...skews.keys()].join(', ')} are right`);
  }
}
