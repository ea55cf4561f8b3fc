// What the files of this folder hold: each text in every language of the console.
export type Language = 'en' | 'zh-CN';
export type Text = readonly [en: string, zh: string];
export type Texts = Readonly<Record<string, Text>>;

/** What the daemon says in English, by its code: Chinese, or both where the console has its own English. */
export type DaemonTexts = Readonly<Record<string, string | Text>>;

/** Returns the texts of one language by their keys. A text of the daemon has the key `said.KIND.CODE`. */
export function textsIn(language: Language, own: Texts, daemon: Readonly<Record<string, DaemonTexts>> = {}) {
  const said = Object.entries(daemon).flatMap(([kind, texts]) =>
    Object.entries(texts).map(([code, text]) => [`said.${kind}.${code}`, text] as const),
  );
  const texts = [...Object.entries(own), ...said].flatMap(([key, text]) => {
    const [en, zh] = typeof text === 'string' ? [undefined, text] : text;
    return [[key, language === 'en' ? en : zh]];
  });
  return Object.fromEntries(texts.filter(([, text]) => text !== undefined)) as Record<string, string>;
}
