// SPDX-License-Identifier: Apache-2.0
/** What the elements call of a client: `start` and `init` of shoal-client give all of it. */
export interface ShoalClient {
  readonly consent: {
    readonly state: string;
    grant(): Promise<string>;
    withdraw(): Promise<string>;
    asks(): Promise<unknown[]>;
  };
  reports(): Promise<unknown[]>;
  ledger(): Promise<unknown[]>;
  log(): Promise<unknown[]>;
  explain(): Promise<unknown[]>;
  erase(): Promise<void>;
}

/** The options of the client, as far as the elements read them. */
export interface ShoalOptions {
  endpoint: string;
  relay?: string;
  recipes?: object[];
  site?: object;
  /** For recipes whose epsilon does not stand in them: what `shoal recipe check` prints, by id. */
  promises?: { [recipe: string]: { report: number } };
  [option: string]: unknown;
}

export interface ShoalElement extends HTMLElement {
  client: ShoalClient | null;
  options: ShoalOptions | null;
  /** Shows what is asked, whatever was answered. Only `<shoal-consent>` has something to show. */
  open(): Promise<void>;
}

/** Connects the elements of a page with its client. */
export function connect(client: ShoalClient, options: ShoalOptions, root?: ParentNode): void;

/** Adds a language, or puts other words in the place of one. What it lacks is English. */
export function addLanguage(
  code: string,
  strings: { [key: string]: string },
  reasons?: { [code: string]: string },
): void;

/** Tells the elements that the page changed something, so that they look at once. */
export function refresh(): void;

declare global {
  interface HTMLElementTagNameMap {
    'shoal-consent': ShoalElement;
    'shoal-panel': ShoalElement;
    'shoal-try': ShoalElement;
  }
}
