// /api/v1: accounts in and out as files. The formats are handed in: the command line has the same.
import type { Readable } from 'node:stream';
import { accountMatcher } from '../../core/accounts/account-query.js';
import type { AccountView } from '../../core/accounts/accounts.js';
import type { Actor } from '../../core/audit/audit.js';
import { actorOf } from '../caller.js';
import { type AccountUses, accountFacts, accountOrder } from './accounts.js';
import type { transferRoutes } from './contract/transfer.js';
import { type Handlers, refuseCaller } from './serve.js';
import { isoOrNull } from './times.js';

type Format = 'csv' | 'json' | 'ccproxy';

export interface TransferLine {
  readonly line: number;
  readonly username: string | null;
  readonly outcome: 'added' | 'replaced' | 'kept' | 'skipped' | 'failed';
  readonly message: string | null;
  readonly reason: { readonly code: string; readonly values: Readonly<Record<string, string>> } | null;
  /** `expiresAt` in ms since the epoch. */
  readonly account: { readonly remarks: string | null; readonly expiresAt: number | null } | null;
}

type Encoding = 'utf-8' | 'gb18030' | 'utf-16le' | 'utf-16be';

interface ImportOptions {
  readonly existing: 'keep' | 'replace' | 'skip';
  readonly dryRun: boolean;
  readonly by: Actor;
  readonly fileName: string | null;
  readonly mayChooseEgress: boolean;
  /** undefined: found out. */
  readonly encoding: Encoding | undefined;
  readonly zone: string;
  readonly onEncoding: (encoding: Encoding) => void;
}

export interface TransferUses {
  readonly exportAccounts: (
    format: Format,
    views: Iterable<AccountView>,
    options: { readonly withHashes: boolean; readonly zone: string },
  ) => Readable;
  readonly importAccounts: (
    format: Format,
    input: AsyncIterable<Buffer>,
    options: ImportOptions,
  ) => AsyncIterable<TransferLine>;
  /** Largest file, in bytes. */
  readonly maxImportBytes: number;
}

const TYPES: Readonly<Record<Format, { readonly type: string; readonly name: string }>> = {
  csv: { type: 'text/csv; charset=utf-8', name: 'accounts.csv' },
  json: { type: 'application/json; charset=utf-8', name: 'accounts.json' },
  ccproxy: { type: 'text/plain; charset=utf-8', name: 'AccInfo.ini' },
};
const MAX_LINES = 1_000;

class TooLarge extends Error {}

export function transferHandlers(
  uses: TransferUses & AccountUses,
): Handlers<(typeof transferRoutes)[number]> {
  const facts = accountFacts(uses);
  const order = accountOrder(uses);

  return {
    async exportAccounts({ query: { format, sort, withHashes, zone, ...filter }, caller }) {
      // Hashes can be guessed at offline: not for whoever holds a token.
      if (withHashes && caller.scopes !== null) {
        return { problem: 'wrong-scope', detail: 'password hashes are for the operator only' };
      }
      const chosen = uses.accounts.list().filter(accountMatcher(filter, facts, uses.now()));
      const { type, name } = TYPES[format];
      return {
        status: 200,
        body: uses.exportAccounts(format, order(chosen, sort), { withHashes, zone }),
        headers: { 'Content-Type': type, 'Content-Disposition': `attachment; filename="${name}"` },
      };
    },

    async importAccounts({
      query: { format, existing, dryRun, encoding, zone, fileName = null },
      caller,
      ctx,
    }) {
      const { maxImportBytes } = uses;
      const type = ctx.request.type.toLowerCase();
      if (!['text/csv', 'application/json', 'text/plain'].includes(type)) {
        return { problem: 'unsupported-media-type', detail: 'send text/csv, application/json or text/plain' };
      }
      const tooLarge = {
        problem: 'too-large',
        detail: `a file may have at most ${maxImportBytes} bytes`,
      } as const;
      if (Number(ctx.req.headers['content-length'] ?? 0) > maxImportBytes) {
        ctx.req.resume();
        return tooLarge;
      }
      const counts = { read: 0, added: 0, replaced: 0, kept: 0, skipped: 0, failed: 0 };
      const file: { encoding: Encoding | null } = { encoding: format === 'json' ? 'utf-8' : null };
      const told: TransferLine[] = [];
      const addedLines: TransferLine[] = [];
      try {
        const lines = uses.importAccounts(format, atMost(ctx.req, maxImportBytes), {
          existing,
          dryRun,
          by: actorOf(caller),
          fileName,
          encoding,
          zone,
          onEncoding(found) {
            file.encoding = found;
          },
          mayChooseEgress: refuseCaller(caller, 'egress:write') === null,
        });
        for await (const line of lines) {
          counts.read += 1;
          counts[line.outcome] += 1;
          const list = line.outcome === 'added' ? addedLines : told;
          if (list.length < MAX_LINES) list.push(line);
        }
      } catch (error) {
        if (error instanceof TooLarge) return tooLarge;
        throw error;
      }
      const lines = [...told, ...addedLines].slice(0, MAX_LINES);
      return {
        status: 200,
        body: {
          dryRun,
          format,
          encoding: file.encoding,
          zone,
          ...counts,
          lines: lines.map(shownLine),
          linesLeftOut: counts.read - lines.length,
        },
      };
    },
  };
}

function shownLine({ account, ...line }: TransferLine): Record<string, unknown> {
  return { ...line, account: account && { ...account, expiresAt: isoOrNull(account.expiresAt) } };
}

/** The chunks of a request's body. A request stays open when its reader gives up: it is still to be answered. */
async function* atMost(input: Readable, maxBytes: number): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of input.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new TooLarge();
    yield chunk;
  }
}
