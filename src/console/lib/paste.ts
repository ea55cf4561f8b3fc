// Reads lists pasted from a spreadsheet or a file. Commas or tabs separate the fields; a field that contains one is in quotes.
const FIELD = /\s*(?:"((?:[^"]|"")*)"|([^,，\t]*))\s*(?:[,，\t]|$)/y;

/** `"Zhang, San","say ""hi"""` → `['Zhang, San', 'say "hi"']`. */
export function fieldsOf(line: string): string[] {
  const fields: string[] = [];
  FIELD.lastIndex = 0;
  while (FIELD.lastIndex < line.length) {
    const at = FIELD.lastIndex;
    const found = FIELD.exec(line);
    // A quote in the middle of a field is an ordinary character.
    if (!found || FIELD.lastIndex === at) return line.split(/[,，\t]/).map((part) => part.trim());
    fields.push(found[1]?.replaceAll('""', '"') ?? found[2]?.trim() ?? '');
  }
  return fields;
}
