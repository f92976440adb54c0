// SPDX-License-Identifier: Apache-2.0
// Nothing here is for the client. The root is named so that Next does not look for one above.
export default { turbopack: { root: import.meta.dirname } };
