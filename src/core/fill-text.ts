// Texts with values: a code and its values go to programs, the English text to people.

/** Puts `values` in the place of their names in braces; a name without a value stays. */
export function fillText(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
