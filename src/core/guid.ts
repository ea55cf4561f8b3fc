// GUIDs as text: 8-4-4-4-12 hexadecimal digits (RFC 9562 §4).

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the GUID in lower case, as it is stored; null: the text is none. */
export function guidOf(text: string): string | null {
  return GUID.test(text) ? text.toLowerCase() : null;
}
