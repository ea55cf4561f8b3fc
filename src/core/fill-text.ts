// Texts with values: programs get a code with its values, people get the English text.

/** Replaces each name in braces by its value in `values`. A name without a value stays. */
export function fillText(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
