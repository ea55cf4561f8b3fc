// /api/v1/accounts/import: accounts from a file. The formats are injected, and the command line uses the same ones.
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { costOfAll, NO_COST, sumOf } from '../../../core/accounts/plans/budget.js';
import { isTimeZone } from '../../../core/time-zone.js';
import { fault } from '../../api/field-errors.js';
import type { ProblemAnswer } from '../../api/problem.js';
import { because } from '../../api/problem-reasons.js';
import { routesOf } from '../../api/route.js';
import { Flag } from '../../api/schemas.js';
import { callerProblem } from '../../api/serve.js';
import { declaredBytes } from '../../body.js';
import { actorOf, isSeller } from '../../caller.js';
import { budgetPreview } from './budget-preview.js';
import { createReport, FileEncoding, ImportReport } from './import-report.js';
import { FileFormat } from './schemas.js';

/**
 * What happens to an existing account. `keep`: it stays unchanged and only takes usage and limits that it does not have; `replace`:
 * every field in the file overwrites the account's; `skip`: it stays entirely unchanged.
 */
const OnExisting = z.enum(['keep', 'replace', 'skip']).meta({ id: 'OnExisting' });

const { route } = routesOf('Import and export');
const TYPES = ['text/csv', 'application/json', 'text/plain'];

class TooLarge extends Error {}

const ANY_SIZE = { maxImportBytes: Infinity, maxLines: Infinity };

/** The caller lost its rights while it sent the file. */
class Refused extends Error {
  constructor(readonly answer: ProblemAnswer) {
    super('the rights were lost during the upload');
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
      raw: TYPES,
    },
    responses: { 200: { description: 'A report, line by line.', schema: ImportReport } },
    problems: [413, 415, 429],
    async handle(
      { query: { format, existing, dryRun, encoding, zone, fileName = null }, caller, ctx },
      deps,
    ) {
      // A file of the command line was on this machine before.
      const { maxImportBytes, maxLines } =
        caller.via === 'cli' ? ANY_SIZE : { maxImportBytes: deps.maxImportBytes, maxLines: undefined };
      if (!TYPES.includes(ctx.request.type.toLowerCase())) {
        return { problem: 'unsupported-media-type', ...because('import-type') };
      }
      const tooLarge = {
        problem: 'too-large',
        ...because('file-too-large', { max: maxImportBytes }),
      } as const;
      if (declaredBytes(ctx.req.headers) > maxImportBytes) {
        ctx.req.resume();
        return tooLarge;
      }
      // An upload is kept on the disk until it is complete. With many slow uploads, one caller could fill the disk.
      const importer = caller.operator?.id ?? null;
      if (deps.importing.has(importer)) {
        ctx.req.resume();
        return { problem: 'too-many-requests', ...because('importing') };
      }
      deps.importing.add(importer);
      const report = createReport({ dryRun, format, zone }, maxLines);
      let cost = NO_COST;
      // Nothing is imported before the end of the file.
      const upload = atMost(ctx.req, maxImportBytes, () => {
        const refused = deps.lostAccess(caller);
        if (refused) throw new Refused(refused);
      });
      const mayChooseEgress = callerProblem(caller, 'egress:write') === null;
      try {
        const lines = deps.importAccounts(format, upload, {
          accounts: deps.accounts,
          existing,
          dryRun,
          by: actorOf(caller),
          fileName,
          encoding,
          zone,
          onEncoding: report.setEncoding,
          onLost: report.addLost,
          async onChanges(changes) {
            if (!caller || !isSeller(caller)) return;
            cost = sumOf([
              cost,
              await costOfAll(changes, deps.usage.readNow, { now: deps.now(), calendar: deps.calendar }),
            ]);
          },
          mayChooseEgress,
          mayChooseExit: mayChooseEgress || isSeller(caller),
          mayChooseIds: !caller || !isSeller(caller),
        });
        for await (const line of lines) report.add(line);
      } catch (error) {
        if (error instanceof TooLarge) return tooLarge;
        if (error instanceof Refused) return error.answer;
        throw error;
      } finally {
        deps.importing.delete(importer);
        // Discard the rest of a refused upload: the next request of the connection comes after it.
        ctx.req.resume();
      }
      const budget = dryRun ? await budgetPreview(deps, caller, () => cost) : null;
      return { body: report.body(budget) };
    },
  }),
];

/** Yields the chunks of a request's body. The request stays open when the reader gives up, because it still needs an answer. */
async function* atMost(input: Readable, maxBytes: number, onEnd: () => void): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of input.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new TooLarge();
    yield chunk;
  }
  onEnd();
}
