// Encodes text as GBK, like Excel on Chinese Windows. Node can only decode GBK.

const codes = new Map<string, number>();
const decoder = new TextDecoder('gbk');
for (let lead = 0x81; lead <= 0xfe; lead += 1)
  for (let trail = 0x40; trail <= 0xfe; trail += 1) {
    if (trail === 0x7f) continue;
    const char = decoder.decode(Uint8Array.of(lead, trail));
    if (char.length === 1 && char !== '\ufffd' && !codes.has(char)) codes.set(char, lead * 256 + trail);
  }

/** Throws for a character that GBK does not contain. */
export function encodeGbk(text: string): Buffer {
  return Buffer.from(
    [...text].flatMap((char) => {
      const point = char.codePointAt(0) ?? 0;
      if (point < 0x80) return [point];
      const code = codes.get(char);
      if (code === undefined) throw new Error(`GBK has no ${char}`);
      return [code >> 8, code & 255];
    }),
  );
}
