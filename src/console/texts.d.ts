// The modules that the build makes of locales/: the texts of one language.
declare module 'texts:*' {
  const texts: Readonly<Record<string, string>>;
  export default texts;
}
