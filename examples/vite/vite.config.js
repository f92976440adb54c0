// SPDX-License-Identifier: Apache-2.0
export default {
  // Vite 7 and earlier lose the WebAssembly where the development server copies packages about.
  optimizeDeps: { exclude: ['shoal-client'] },
};
