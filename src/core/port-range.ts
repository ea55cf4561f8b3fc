// Ranges of ports in egress rules, game rules and the configuration.

/** The first and the last port, both included. */
export type PortRange = readonly [first: number, last: number];

const RANGE = /^(\d{1,5})(?:-(\d{1,5}))?$/;
const MAX_PORT = 65_535;

/** Parses a port (`7000`) or a range (`7100-7200`) of ports from 1 to 65535; null for other texts. */
export function parsePortRange(text: string): PortRange | null {
  const [, firstText, lastText = firstText] = RANGE.exec(text) ?? [];
  const first = Number(firstText);
  const last = Number(lastText);
  return first >= 1 && first <= last && last <= MAX_PORT ? [first, last] : null;
}
