// Reads a list of accounts pasted from a spreadsheet, a file or a chat: one account per line. Recognises what separates the fields.
import { tooManyBytes } from '../fields/field-words.js';

export const SEPARATORS = ['\t', ',', ';', ':', ' '] as const;
export type Separator = (typeof SEPARATORS)[number];
type FieldName = 'username' | 'password' | 'remarks' | 'email' | 'telegram';
export const FIELD_NAMES: readonly FieldName[] = ['username', 'password', 'remarks', 'email', 'telegram'];

export interface PastedLine extends Readonly<Record<FieldName, string>> {
  /** From 1. */
  readonly line: number;
  /** Why the line cannot be an account; null: nothing is wrong that can be seen here. */
  readonly wrong: 'bad-username' | 'bad-password' | 'bad-contacts' | 'username-twice' | 'bad-remarks' | null;
}

export interface Pasted {
  readonly separator: Separator;
  /** Whether the first line names the fields of the others. null: it does not look so. */
  readonly hasHeading: boolean | null;
  readonly lines: readonly PastedLine[];
}

/** By separator: its characters, also the full-width ones, inside a class of a regular expression. */
const CHARACTERS: Readonly<Record<Separator, string>> = {
  '\t': '\\t',
  ',': ',，',
  ';': ';；',
  ':': ':：',
  ' ': ' \\u3000',
};

const HEADINGS: Readonly<Record<FieldName, RegExp>> = {
  username: /^(user ?name|user|name|account|login|\u7528\u6237\u540d|\u8d26\u53f7|\u8d26\u6237)$/i,
  password: /^(password|pass|pwd|\u5bc6\u7801)$/i,
  remarks: /^(remarks?|notes?|comments?|\u5907\u6ce8)$/i,
  email: /^(e-?mail|mail|\u90ae\u7bb1|\u90ae\u4ef6|\u7535\u5b50\u90ae\u4ef6)$/i,
  telegram: /^(telegram|tg)$/i,
};

const MAX_REMARKS = 4_000;
const MAX_CONTACT = { email: 254, telegram: 64 };

interface Reading {
  /** undefined: the one that divides most lines. */
  readonly separator: Separator | undefined;
  /** Whether the first line is a heading; undefined: it is one if it names nothing but fields. */
  readonly heading: boolean | undefined;
}

export function readPasted(text: string, { separator, heading }: Reading): Pasted {
  const filled = text
    .split(/\r?\n/)
    .map((content, i) => ({ content, line: i + 1 }))
    .filter(({ content }) => content.trim() !== '');
  const chosen = separator ?? separatorOf(filled.map(({ content }) => content));
  const rows = filled.map(({ content, line }) => ({ line, fields: fieldsOf(content, chosen) }));
  const named = rows[0]?.fields.map(fieldNamed) ?? [];
  const looksSo = named.includes('username') && named.length === new Set(named).size;
  const isHeading = looksSo && (heading ?? !named.includes(undefined));
  const names = isHeading ? named : FIELD_NAMES;
  const seen = new Set<string>();
  const lines = rows.slice(isHeading ? 1 : 0).map(({ line, fields }): PastedLine => {
    const known = { username: '', password: '', remarks: '', email: '', telegram: '' };
    names.forEach((name, i) => {
      if (name) known[name] = fields[i] ?? '';
    });
    // Blanks separate the words of a remark too.
    if (chosen === ' ' && !isHeading) {
      Object.assign(known, { remarks: fields.slice(2).join(' '), email: '', telegram: '' });
    }
    const isTwice = seen.has(known.username);
    seen.add(known.username);
    return { line, ...known, wrong: wrongOf(known) ?? (isTwice ? 'username-twice' : null) };
  });
  return { separator: chosen, hasHeading: looksSo ? isHeading : null, lines };
}

function wrongOf(fields: Record<FieldName, string>): PastedLine['wrong'] {
  const { username, password, remarks, email, telegram } = fields;
  if (username === '' || tooManyBytes(username)) return 'bad-username';
  if (tooManyBytes(password)) return 'bad-password';
  if (remarks.length > MAX_REMARKS) return 'bad-remarks';
  return email.length > MAX_CONTACT.email || telegram.length > MAX_CONTACT.telegram ? 'bad-contacts' : null;
}

const fieldNamed = (text: string): FieldName | undefined =>
  FIELD_NAMES.find((name) => HEADINGS[name].test(text));

/** Of two separators that divide as many lines, the earlier one in `SEPARATORS`. */
function separatorOf(lines: readonly string[]): Separator {
  let best: { readonly separator: Separator; readonly divided: number } = { separator: ',', divided: 0 };
  for (const separator of SEPARATORS) {
    const divided = lines.filter((line) => fieldsOf(line, separator).length > 1).length;
    if (divided > best.divided) best = { separator, divided };
  }
  return best.separator;
}

/** `"Zhang, San","say ""hi"""` → `['Zhang, San', 'say "hi"']`. A field in quotes may contain the separator. */
function fieldsOf(line: string, separator: Separator): string[] {
  const characters = CHARACTERS[separator];
  // An empty first field of a line with tabs stays.
  const text = separator === ' ' ? line.trim() : line;
  const blanks = separator === ' ' ? '' : '[ \\u3000]*';
  const between = separator === ' ' ? `[${characters}]+` : `[${characters}]`;
  const field = new RegExp(`${blanks}(?:"((?:[^"]|"")*)"|([^${characters}]*))${blanks}(?:${between}|$)`, 'y');
  const fields: string[] = [];
  while (field.lastIndex < text.length) {
    const at = field.lastIndex;
    const found = field.exec(text);
    // A quote in the middle of a field is an ordinary character.
    if (!found || field.lastIndex === at) return text.split(new RegExp(between)).map((part) => part.trim());
    fields.push(found[1]?.replaceAll('""', '"') ?? found[2]?.trim() ?? '');
  }
  return fields;
}
