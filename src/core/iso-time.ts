// Times as programs read them: ISO 8601 in UTC outside, milliseconds since the epoch inside.

export const iso = (ms: number): string => new Date(ms).toISOString();
export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms));

/** Parses a time that the schema accepted. It has `Z` or an offset, so it means one moment. */
export const fromIso = (text: string): number => Date.parse(text);
export const fromIsoOrNull = (text: string | null): number | null => (text === null ? null : fromIso(text));
