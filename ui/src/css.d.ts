declare module '*.css' {
  const text: string;
  export default text;
}

/** The files of lang/, by code; the build makes this list. */
declare module '#languages' {
  const languages: { [code: string]: () => Promise<any> };
  export default languages;
}
