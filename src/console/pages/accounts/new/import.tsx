// Imports accounts from a file: a dry run first, then the import, with the outcome of each line.
import { useState } from 'preact/hooks';
import type { FileEncoding, FileFormat, ImportReport, OnExisting } from '../../../api-types.js';
import { useAction } from '../../../lib/action.js';
import { call, useUser } from '../../../lib/api.js';
import { controlOf } from '../../../lib/draft.js';
import { bytes } from '../../../lib/format.js';
import { lineReason, t } from '../../../lib/i18n.js';
import { At, Button, ScrollBox, State } from '../../../ui/basics.js';
import { Dialog } from '../../../ui/dialog.js';
import { optionsOf, SelectField } from '../../../ui/form.js';
import { Icon } from '../../../ui/icons.js';
import { SmallTable } from '../../../ui/small-table.js';
import { Failure, Skeleton } from '../../../ui/states.js';
import { showField } from '../fields/field-words.js';
import { BudgetWords } from '../fields/plans.js';
import { FormatChoice, ownZone, ZoneChoice, zoneLabel } from './export.js';

const MEDIA: Readonly<Record<FileFormat, string>> = {
  csv: 'text/csv',
  json: 'application/json',
  ccproxy: 'text/plain',
};

/** By the ending of a file's name. */
const FORMATS = { csv: 'csv', json: 'json', ini: 'ccproxy', txt: 'ccproxy' } as const;

const defaults = () => ({
  format: 'csv' as FileFormat,
  existing: 'skip' as OnExisting,
  encoding: 'auto' as FileEncoding | 'auto',
  zone: ownZone(),
});
type Options = Readonly<ReturnType<typeof defaults>>;

const ENCODINGS: Readonly<Record<FileEncoding, string>> = {
  'utf-8': 'UTF-8',
  gb18030: 'GBK / GB 18030',
  'utf-16le': 'UTF-16 LE',
  'utf-16be': 'UTF-16 BE',
};

const TONES = { added: 'good', replaced: 'info', kept: 'none', skipped: 'warn', failed: 'bad' } as const;

const MAX_LISTED = 200;

export function ImportDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [options, setOptions] = useState<Options>(defaults);
  const [report, setReport] = useState<ImportReport | null>(null);
  const { busy, error, run } = useAction();
  const maxBytes = useUser()?.maxImportBytes ?? 0;
  /** Sets options, and discards the report of the dry run, which was made with the former ones. */
  const set = (patch: Partial<Options>) => {
    setOptions((before) => ({ ...before, ...patch }));
    setReport(null);
  };
  const control = controlOf(options, set);
  const { format, existing, encoding, zone } = options;
  const choose = (chosen: File | undefined) => {
    if (!chosen) return;
    setFile(chosen);
    const [, ending = ''] = /\.(\w+)$/.exec(chosen.name.toLowerCase()) ?? [];
    set(Object.hasOwn(FORMATS, ending) ? { format: FORMATS[ending as keyof typeof FORMATS] } : {});
  };
  const send = (dryRun: boolean) =>
    run(async () => {
      if (!file) return;
      setReport(
        await call('importAccounts', {
          query: {
            format,
            existing,
            zone,
            encoding: encoding === 'auto' ? undefined : encoding,
            fileName: file.name,
            dryRun,
          },
          body: file,
          type: MEDIA[format],
        }),
      );
      if (!dryRun) onDone();
    });
  const tried = report?.dryRun === true;
  const done = report?.dryRun === false;
  const willWrite = report ? report.added + report.replaced + report.kept : 0;
  const mayImport = willWrite > 0 && !report?.budget?.isShort;
  return (
    <Dialog
      title={t('accounts.import')}
      wide
      onClose={onClose}
      unsaved={null}
      onSubmit={() => void send(!tried)}
      footer={
        done ? (
          <Button kind="primary" onClick={onClose}>
            {t('dialog.close')}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{t('dialog.cancel')}</Button>
            <Button type="submit" kind="primary" disabled={!file || busy || (tried && !mayImport)}>
              {tried ? t('import.apply', { n: willWrite }) : t('import.try')}
            </Button>
          </>
        )
      }
    >
      <label
        class="drop"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          choose(event.dataTransfer?.files[0]);
        }}
      >
        <input
          type="file"
          class="sr-only"
          accept=".csv,.json,.txt,.ini"
          onChange={(event) => choose(event.currentTarget.files?.[0])}
        />
        <Icon name="upload" />
        <span>
          {file
            ? t('unit.note', { text: file.name, note: bytes(file.size) })
            : t('import.choose', { size: bytes(maxBytes) })}
        </span>
      </label>
      <div class="grid-2">
        <FormatChoice {...control('format')} />
        <SelectField
          of="import.existing"
          hint={t(`import.existing.${existing}`)}
          {...control('existing')}
          options={optionsOf(['skip', 'keep', 'replace'], (of) => t(`import.${of}`))}
        />
      </div>
      <div class="grid-2">
        <ZoneChoice of="import.zone" {...control('zone')} />
        {format !== 'json' && (
          <SelectField
            of="import.encoding"
            {...control('encoding')}
            options={[
              { value: 'auto', label: t('import.encoding.auto') },
              ...optionsOf(Object.keys(ENCODINGS) as FileEncoding[], (of) => ENCODINGS[of]),
            ]}
          />
        )}
      </div>
      {busy && <Skeleton rows={3} />}
      {error ? <Failure error={error} /> : null}
      {report && !busy && <Report report={report} />}
    </Dialog>
  );
}

/** What was read of a line that is an account, or why it is none. */
function ReadLine({ line }: { line: ImportReport['lines'][number] }) {
  const { account } = line;
  if (account === null) return <span class="soft">{lineReason(line)}</span>;
  const lists = (['authorizedAddresses', 'allowedClients'] as const).filter(
    (name) => account[name].length > 0,
  );
  return (
    <>
      {account.expiresAt ? <At at={account.expiresAt} /> : <span class="faint">{t('expiry.never')}</span>}{' '}
      <span class="soft break">{account.remarks}</span>
      {lists.map((name) => (
        <p key={name} class="soft break">
          {showField(name, account[name])}
        </p>
      ))}
    </>
  );
}

function Report({ report }: { report: ImportReport }) {
  const { read, added, replaced, kept, skipped, failed } = report;
  return (
    <div class="preview stack near">
      <p>
        <strong>{report.dryRun ? t('import.wouldBe') : t('import.done')}</strong>
        {t('import.summary', { read, added, replaced, kept, skipped, failed })}
      </p>
      {report.exits > 0 && <p>{t('import.exits', { n: report.exits })}</p>}
      {report.encoding !== null && (
        <p class="soft">
          {t('import.readAs', { encoding: ENCODINGS[report.encoding], zone: zoneLabel(report.zone) })}
        </p>
      )}
      <BudgetWords budget={report.budget} />
      {report.lost.length > 0 && (
        <div class="notice">
          <div>
            <strong>{t(report.dryRun ? 'import.willBeLost' : 'import.lost')}</strong>
            <ul class="plain">
              {report.lost.map(({ setting, accounts }) => (
                <li key={setting}>
                  {t(`import.lost.${setting}`)} · {t('import.lost.accounts', { n: accounts })}
                </li>
              ))}
            </ul>
          </div>
        </div>
      )}
      <ScrollBox label={t('import.lines')}>
        <SmallTable
          look="small lines"
          rows={report.lines.slice(0, MAX_LISTED)}
          id={({ line }) => line}
          columns={[
            ['', ({ line }) => t('import.line', { n: line }), 'end soft'],
            ['', ({ username }) => username ?? '—'],
            ['', ({ outcome }) => <State tone={TONES[outcome]}>{t(`import.outcome.${outcome}`)}</State>],
            ['', (line) => <ReadLine line={line} />],
          ]}
        />
      </ScrollBox>
      {read > MAX_LISTED && <p class="soft">{t('import.leftOut', { n: read - MAX_LISTED })}</p>}
    </div>
  );
}
