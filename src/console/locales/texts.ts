// What the files of this folder hold: each text in every language of the console.
export type Text = readonly [en: string, zh: string];
export type Texts = Readonly<Record<string, Text>>;
