// Files of accounts for the routes of the admin API: in the daemon, and in the process of a command.
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { readAccounts, writeAccounts } from '../../account-files/formats.js';
import { importAccounts } from '../../account-files/import.js';
import type { Services } from '../../http/services.js';
import type { Core } from '../core.js';

/** @param onError called when imported accounts could not be written */
export function createAccountFiles(
  { store, usage }: Pick<Core, 'store' | 'usage'>,
  now: () => number,
  onError: (error: unknown) => void,
): Pick<Services, 'exportAccounts' | 'importAccounts'> {
  return {
    exportAccounts(format, views, options) {
      const withUsage = function* () {
        for (const view of views) yield { view, usage: usage.lastView(view.account) };
      };
      return writeAccounts(format, withUsage(), options);
    },
    importAccounts: (format, input, options) =>
      importAccounts(
        readAccounts(format, input instanceof Readable ? input : Readable.from(input), options),
        {
          ...options,
          audit: store.audit,
          now,
          newId: randomUUID,
          onError,
        },
      ),
  };
}
