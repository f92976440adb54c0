// SPDX-License-Identifier: Apache-2.0
// Nothing here is for the client: webpack makes an asset of its module and a chunk of each import().
export default {
  mode: 'production',
  entry: './src/main.js',
  output: { clean: true },
};
