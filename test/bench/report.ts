// The output of a benchmark: a table of medians with the ratio to the best peer, and the machine.
import { writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import type { Measure } from './measures.js';
import { BARE } from './servers.js';

/** The numbers of one measure and server: one entry for each repeat. */
export interface Series {
  readonly measure: string;
  readonly server: string;
  readonly runs: Readonly<Record<string, number>>[];
}

/** A series with the machine's load before each run. */
export interface Outcome extends Series {
  readonly loads: readonly number[];
}

type Row = Pick<Measure, 'name' | 'moreIsBetter'>;

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  readonly node: string;
}

export function describeMachine(): Machine {
  const cores = cpus();
  return {
    processor: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    kernel: release(),
    node: process.versions.node,
  };
}

export function medians(series: Series): Record<string, number> {
  const names = Object.keys(series.runs[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, median(series.runs.map((run) => run[name] ?? 0))]));
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

/** Writes the table to stdout, and with `json` (a file name) every number to that file. */
export function print(
  list: readonly Row[],
  all: readonly Outcome[],
  { ratioTo, json }: { readonly ratioTo: string; readonly json: string | undefined },
): void {
  showProgress('');
  const machine = describeMachine();
  const described = Object.entries(machine).flat().join(' ');
  process.stdout.write(`${table(list, all, ratioTo)}\n\n${described}\n`);
  if (json === undefined) return;
  const results = all.map((outcome) => ({ ...outcome, medians: medians(outcome) }));
  writeFileSync(json, `${JSON.stringify({ machine, at: new Date().toISOString(), results }, null, 2)}\n`);
}

/** Replaces the progress line on a terminal. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

/** Returns a Markdown table: one row for each measure and server; after a number, its ratio to that of the best peer. */
export function table(list: readonly Row[], all: readonly Series[], ratioTo: string): string {
  const lines = [`| measure | server | median (× ${ratioTo}) |`, '|---|---|---|'];
  for (const measure of list) {
    const rows = all.filter((series) => series.measure === measure.name);
    const peers = rows.filter(({ server }) => isPeer(server)).map(medians);
    for (const row of rows) {
      const cells = Object.entries(medians(row)).map(([name, value]) => {
        const others = peers.map((peer) => peer[name] ?? 0);
        const best = measure.moreIsBetter.includes(name) ? Math.max(...others) : Math.min(...others);
        const ratio = others.length > 0 && best > 0 ? ` (${(value / best).toFixed(2)})` : '';
        return `${short(value)} ${name}${ratio}`;
      });
      lines.push(`| ${row === rows[0] ? measure.name : ''} | ${row.server} | ${cells.join(', ')} |`);
    }
  }
  return lines.join('\n');
}

function isPeer(server: string): boolean {
  return server !== BARE && !server.startsWith('pulsegate');
}

function short(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
