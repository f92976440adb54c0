// SPDX-License-Identifier: Apache-2.0
// The account as the site's own proxy tells it: in a header that the proxy sets after its login, and
// that it takes away from every request that it did not log in. Depends on nothing.

/**
 * @param {string} name
 * @returns {import('./handler.js').HandlerDeps['account']}
 */
export function accountOfHeader(name) {
  return ({ headers }) => {
    const id = headers.get(name);
    return id ? { id, isReal: true } : null;
  };
}
