// SPDX-License-Identifier: Apache-2.0
// Finds the registrable domain of a host by the public suffix list (tldts). This is a chunk of its
// own (47 KB), loaded when a recipe first asks for a site.
import { getDomain } from 'tldts';

/** @param {string} host @returns {string | null} null for addresses, single labels and suffixes */
export const siteOf = (host) => getDomain(host, { allowPrivateDomains: true });
