// SPDX-License-Identifier: Apache-2.0
// The bundler turns style sheets into strings.
declare module '*.css' {
  const text: string;
  export default text;
}
