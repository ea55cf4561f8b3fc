// /api/v1/accounts/export and import: accounts as files.
import { createHash, type Hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { type FileFormat as Format, readAccounts, writeAccounts } from '../../../account-files/formats.js';
import { importAccounts } from '../../../account-files/import.js';
import { outgoingAddressOf } from '../../../account-files/outgoing.js';
import { spool } from '../../../account-files/spool.js';
import { costOfAll, NO_COST, sumOf } from '../../../core/accounts/plans/budget.js';
import { createOrderedIds } from '../../../core/ids.js';
import { isTimeZone } from '../../../core/time/time-zone.js';
import { failure, type ProblemAnswer } from '../../api/problem.js';
import { type Answered, routesOf } from '../../api/route.js';
import { Flag, fault } from '../../api/schemas.js';
import { callerProblem } from '../../api/serve.js';
import { actorOf, type Caller, isSeller } from '../../caller.js';
import { declaredBytes } from '../../request.js';
import { createReport, FileEncoding, FileFormat, ImportReport } from './import-report.js';
import { AccountFilter, AccountSort, pageOfAccounts } from './schemas.js';
import { matcherFor, NO_SETTINGS, rightsProblem } from './shared.js';
import { budgetPreview } from './slices.js';

const { route } = routesOf('Import and export');
const FILE_TYPES: Readonly<Record<Format, { readonly type: string; readonly name: string }>> = {
  csv: { type: 'text/csv; charset=utf-8', name: 'accounts.csv' },
  json: { type: 'application/json; charset=utf-8', name: 'accounts.json' },
  ccproxy: { type: 'text/plain; charset=utf-8', name: 'AccInfo.ini' },
};

export const accountExportRoutes = [
  route('GET /api/v1/accounts/export', 'exportAccounts', 'accounts:read', {
    summary: 'Accounts as a file, streamed; filters as in the list. Password hashes only with `withHashes`.',
    needsConfirmation: ({ withHashes }) => withHashes === true,
    request: {
      query: AccountFilter.extend({
        format: FileFormat.default('csv'),
        sort: AccountSort.default('username'),
        /** IANA time zone of CCProxy's dates, which name no zone. */
        zone: z.string().max(64).refine(isTimeZone, fault('time-zone')).default('UTC'),
        /** Needed to move accounts to another Pulsegate with their passwords. Operators and tokens may not set it. */
        withHashes: Flag.default(false),
      }),
    },
    success: [
      200,
      'The file, as an attachment. CSV cells that a spreadsheet could evaluate as formulas get an apostrophe.',
      { contentType: 'text/csv' },
    ],
    async handle({ query: { format, sort, withHashes, zone, ...filter }, caller }, deps) {
      // Hashes allow offline guessing, so only a caller with all scopes gets them.
      if (withHashes && caller.scopes !== null) return failure('wrong-scope', 'hashes');
      const chosen = deps.accounts.list().filter(matcherFor(deps, filter, deps.now()));
      const { items } = pageOfAccounts(chosen, { sort, limit: chosen.length }, deps);
      const { type, name } = FILE_TYPES[format];
      const outgoing = new Map(deps.exits.list().map((exit) => [exit.name, outgoingAddressOf(exit) ?? '']));
      const withUsage = function* () {
        for (const view of items) yield { view, usage: deps.usage.lastView(view.account) };
      };
      return {
        body: writeAccounts(format, withUsage(), { withHashes, zone, outgoing }),
        headers: { 'Content-Type': type, 'Content-Disposition': `attachment; filename="${name}"` },
      };
    },
  }),
];

/**
 * What happens to an existing account. `keep`: it stays unchanged and only takes usage and limits that it does not have; `replace`:
 * every field in the file overwrites the account's; `skip`: it stays entirely unchanged.
 */
const OnExisting = z.enum(['keep', 'replace', 'skip']).meta({ id: 'OnExisting' });

const IMPORT_TYPES = ['text/csv', 'application/json', 'text/plain'];

const ANY_SIZE = { maxImportBytes: Infinity, maxLines: Infinity };

/** The file is too large, or the caller lost its rights while it sent the file. */
class Refused extends Error {
  constructor(readonly answer: ProblemAnswer) {
    super('the upload was refused');
  }
}

export const accountImportRoutes = [
  route('POST /api/v1/accounts/import', 'importAccounts', 'accounts:write', {
    summary: 'Imports accounts from a file; with `dryRun=true` only reports what would happen.',
    request: {
      query: z.object({
        format: FileFormat.default('csv'),
        existing: OnExisting.default('skip'),
        /** Left out: detected from the bytes. JSON is always UTF-8. */
        encoding: FileEncoding.optional(),
        /** IANA time zone of dates such as `2026/12/31` and `2026-12-31 23:59`. */
        zone: z.string().max(64).refine(isTimeZone, fault('time-zone')).default('UTC'),
        /** Name of the file, for the audit log. */
        fileName: z.string().max(255).optional(),
        dryRun: Flag.default(false),
      }),
      raw: IMPORT_TYPES,
    },
    success: [200, 'A report, line by line.', ImportReport],
    problems: [413, 415, 429],
    async handle(
      { query: { format, existing, dryRun, encoding, zone, fileName = null }, caller: sender, once, ctx },
      deps,
    ) {
      // A file of the command line was on this machine before.
      const { maxImportBytes, maxLines } =
        sender.via === 'cli' ? ANY_SIZE : { maxImportBytes: deps.maxImportBytes, maxLines: undefined };
      if (!IMPORT_TYPES.includes(ctx.request.type.toLowerCase())) {
        return failure('unsupported-media-type', 'import-type');
      }
      const tooLarge = failure('too-large', 'file-too-large', { max: maxImportBytes });
      if (declaredBytes(ctx.req.headers) > maxImportBytes) {
        ctx.req.resume();
        return tooLarge;
      }
      // An upload is kept on the disk until it is complete. With many slow uploads, one caller could fill the disk.
      const importer = sender.operator?.id ?? null;
      if (deps.importing.has(importer)) {
        ctx.req.resume();
        return failure('too-many-requests', 'importing');
      }
      deps.importing.add(importer);
      const digest = createHash('sha256');
      const upload = atMost(ctx.req, maxImportBytes, tooLarge, digest, () => deps.lostAccess(sender));
      const { uploadFolder } = deps;
      const importFrom = async (file: Readable, caller: Caller): Promise<Answered> => {
        const report = createReport({ dryRun, format, zone }, maxLines);
        let cost = NO_COST;
        const { setEncoding: onEncoding, addLost: onLost } = report;
        const lines = importAccounts(readAccounts(format, file, { encoding, zone, onEncoding, onLost }), {
          accounts: deps.accounts,
          audit: deps.audit,
          now: deps.now,
          newId: createOrderedIds(deps.now),
          existing,
          dryRun,
          fileName,
          by: actorOf(caller),
          exits: deps.exits,
          onLost,
          onExit: report.addExit,
          onError: (err) => deps.log.error({ err }, 'writing imported accounts failed'),
          async onChanges(changes) {
            if (!isSeller(caller)) return;
            const at = { now: deps.now(), calendar: deps.calendar };
            cost = sumOf([cost, await costOfAll(changes, deps.usage.readNow, at)]);
          },
          mayChange: (change, present) => rightsProblem(caller, change, present ?? NO_SETTINGS) === null,
          mayAddExits:
            callerProblem(caller, 'egress:write') === null &&
            callerProblem(caller, 'settings:write') === null,
          mayChooseIds: !isSeller(caller),
        });
        for await (const line of lines) report.add(line);
        const budget = dryRun ? await budgetPreview(deps, caller, () => cost) : null;
        const body = report.body(budget);
        if (!dryRun && body.exits > 0) deps.onSettingChanged();
        return { body };
      };
      try {
        // A file of the command line, which sends no key.
        if (uploadFolder === null) return await importFrom(Readable.from(upload), sender);
        const { read, close } = await spool(uploadFolder, upload);
        try {
          return await once(digest.digest('hex'), (caller) => importFrom(read(), caller));
        } finally {
          await close();
        }
      } catch (error) {
        if (error instanceof Refused) return error.answer;
        throw error;
      } finally {
        deps.importing.delete(importer);
        // Discard the rest of a refused upload: the next request of the connection comes after it.
        ctx.req.resume();
      }
    },
  }),
];

/** Yields the chunks of a request's body, and adds them to its digest. The request stays open when the reader gives up, because it still needs an answer. */
async function* atMost(
  input: Readable,
  maxBytes: number,
  tooLarge: ProblemAnswer,
  digest: Hash,
  atEnd: () => ProblemAnswer | null,
): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of input.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new Refused(tooLarge);
    digest.update(chunk);
    yield chunk;
  }
  const refused = atEnd();
  if (refused) throw new Refused(refused);
}
