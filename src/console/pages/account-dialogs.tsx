// Creating accounts (one, many), importing and exporting them. Which dialog is open is in the address.
import { useEffect, useState } from 'preact/hooks';
import type {
  AccountFilterBody,
  AccountLimitsChange,
  Credentials,
  FileFormat,
  ImportReport,
  NewAccounts,
  NewAccountsResult,
  OnExisting,
} from '../api-types.js';
import { call, me, urlOf } from '../lib/api.js';
import { useCell } from '../lib/cell.js';
import { bytes } from '../lib/format.js';
import { t } from '../lib/i18n.js';
import { patchQuery } from '../lib/router.js';
import { Button, State, useSettled } from '../ui/basics.js';
import { Dialog, useAction } from '../ui/dialog.js';
import { Area, Checkbox, ExpiryField, Field, Input, Segments, Select } from '../ui/form.js';
import { Failure, Skeleton } from '../ui/states.js';
import { Skipped } from './bulk.js';
import { CredentialsDialog, ManyCredentialsDialog } from './credentials.js';
import { LimitFields } from './limits.js';

interface Props {
  readonly mode: string | null;
  readonly filter: AccountFilterBody;
  readonly onDone: () => void;
}

export function AccountDialogs({ mode, filter, onDone }: Props) {
  const [shown, setShown] = useState<readonly Credentials[] | null>(null);
  const close = () => patchQuery({ new: null });
  const created = (credentials: readonly Credentials[]) => {
    setShown(credentials);
    close();
    onDone();
  };
  const [first] = shown ?? [];
  if (first && shown?.length === 1)
    return <CredentialsDialog credentials={first} onClose={() => setShown(null)} />;
  if (shown && shown.length > 1) return <ManyCredentialsDialog list={shown} onClose={() => setShown(null)} />;
  if (mode === 'one' || mode === 'many')
    return <CreateDialog mode={mode} onClose={close} onCreated={created} />;
  if (mode === 'import') return <ImportDialog onClose={close} onDone={onDone} />;
  if (mode === 'export') return <ExportDialog filter={filter} onClose={close} />;
  return null;
}

interface CreateProps {
  readonly mode: 'one' | 'many';
  readonly onClose: () => void;
  readonly onCreated: (credentials: readonly Credentials[]) => void;
}

function CreateDialog({ mode, onClose, onCreated }: CreateProps) {
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [remarks, setRemarks] = useState('');
  const [expiresAt, setExpiresAt] = useState<string | null>(null);
  const [isEnabled, setIsEnabled] = useState(true);
  const [limits, setLimits] = useState<AccountLimitsChange>({});
  const [source, setSource] = useState<'pattern' | 'list'>('pattern');
  const [pattern, setPattern] = useState('player{001-020}');
  const [list, setList] = useState('');
  const { busy, error, run } = useAction();
  const common = { isEnabled, remarks: remarks.trim() === '' ? null : remarks, expiresAt, limits };
  const many: NewAccounts = {
    ...common,
    ...(source === 'pattern' ? { pattern } : { list: parseList(list) }),
  };
  const preview = usePreview(mode === 'many' ? many : null);
  const ready = mode === 'one' ? username !== '' : (preview.result?.count ?? 0) > 0;
  const submit = () => {
    if (!ready || busy) return;
    void run(async () => {
      if (mode === 'one') {
        const made = await call('createAccount', {
          body: { ...common, username, ...(password === '' ? {} : { password }) },
        });
        onCreated([made.credentials]);
      } else onCreated((await call('createAccounts', { body: { ...many, dryRun: false } })).created);
    });
  };
  return (
    <Dialog
      title={t('accounts.new')}
      wide
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{t('dialog.cancel')}</Button>
          <Button type="submit" kind="primary" disabled={!ready || busy}>
            {mode === 'one' ? t('create.submit') : t('create.submitMany', { n: preview.result?.count ?? 0 })}
          </Button>
        </>
      }
    >
      <Segments
        value={mode}
        label={t('create.how')}
        onChange={(next) => patchQuery({ new: next })}
        options={[
          { value: 'one', label: t('create.one') },
          { value: 'many', label: t('create.many') },
        ]}
      />
      {mode === 'one' && (
        <div class="grid-2">
          <Field label={t('account.username')}>
            <Input value={username} onInput={setUsername} autoFocus required maxLength={255} />
          </Field>
          <Field label={t('account.password')} hint={t('create.password.hint')}>
            <Input value={password} onInput={setPassword} autocomplete="new-password" maxLength={255} />
          </Field>
        </div>
      )}
      {mode === 'many' && (
        <>
          <Segments
            value={source}
            label={t('create.source')}
            onChange={setSource}
            options={[
              { value: 'pattern', label: t('create.pattern') },
              { value: 'list', label: t('create.list') },
            ]}
          />
          {source === 'pattern' ? (
            <Field label={t('create.pattern')} hint={t('create.pattern.hint')}>
              <Input value={pattern} onInput={setPattern} autoFocus />
            </Field>
          ) : (
            <Field label={t('create.list')} hint={t('create.list.hint')}>
              <Area
                value={list}
                onInput={setList}
                rows={6}
                mono
                placeholder={'player01,secret01,QQ 10001\nplayer02'}
              />
            </Field>
          )}
          {preview.error ? <Failure error={preview.error} /> : null}
          {preview.result && <NewPreview result={preview.result} />}
        </>
      )}
      <ExpiryField value={expiresAt} onChange={setExpiresAt} />
      <Field label={t('account.remarks')}>
        <Input value={remarks} onInput={setRemarks} />
      </Field>
      <Checkbox checked={isEnabled} onChange={setIsEnabled}>
        {t('create.enabled')}
      </Checkbox>
      <details>
        <summary>{t('limits.title')}</summary>
        <LimitFields value={limits} onChange={setLimits} />
      </details>
      {error ? <Failure error={error} /> : null}
    </Dialog>
  );
}

/** One account a line: user name, password, remarks, with commas or tabs between; only the name is needed. */
function parseList(text: string): { username: string; password?: string; remarks?: string }[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.split(/[,，\t]/).map((part) => part.trim()))
    .flatMap(([username = '', password = '', remarks = '']) =>
      username === ''
        ? []
        : [{ username, ...(password ? { password } : {}), ...(remarks ? { remarks } : {}) }],
    );
}

function usePreview(body: NewAccounts | null): { result: NewAccountsResult | null; error: unknown } {
  const question = useSettled(JSON.stringify(body), 300);
  const [state, setState] = useState<{ result: NewAccountsResult | null; error: unknown }>({
    result: null,
    error: null,
  });
  useEffect(() => {
    const asked = JSON.parse(question) as NewAccounts | null;
    setState({ result: null, error: null });
    if (!asked || (asked.pattern ?? '') === '' ? (asked?.list?.length ?? 0) === 0 : false) return;
    const abort = new AbortController();
    call('createAccounts', { body: { ...asked, dryRun: true }, signal: abort.signal }).then(
      (result) => setState({ result, error: null }),
      (error: unknown) => abort.signal.aborted || setState({ result: null, error }),
    );
    return () => abort.abort();
  }, [question]);
  return state;
}

function NewPreview({ result }: { result: NewAccountsResult }) {
  const names = result.usernames;
  return (
    <div class="preview">
      <strong>{t('create.preview', { n: result.count })}</strong>{' '}
      <span class="soft">
        {names.slice(0, 3).join(', ')}
        {names.length > 3 && ` … ${names.at(-1)}`}
      </span>
      <Skipped list={result.skipped} />
    </div>
  );
}

function ExportDialog({ filter, onClose }: { filter: AccountFilterBody; onClose: () => void }) {
  const [format, setFormat] = useState<FileFormat>('csv');
  const [withHashes, setWithHashes] = useState(false);
  const filtered = Object.values(filter).some((value) => value !== undefined);
  return (
    <Dialog
      title={t('accounts.export')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('dialog.cancel')}</Button>
          <a
            class="button primary"
            href={urlOf('exportAccounts', {
              query: { ...filter, format, withHashes: withHashes || undefined },
            })}
            download
            onClick={onClose}
          >
            {t('export.download')}
          </a>
        </>
      }
    >
      <p>{filtered ? t('export.filtered') : t('export.all')}</p>
      <FormatChoice value={format} onChange={setFormat} />
      <Checkbox checked={withHashes} onChange={setWithHashes}>
        {t('export.withHashes')}
      </Checkbox>
    </Dialog>
  );
}

function FormatChoice({ value, onChange }: { value: FileFormat; onChange: (format: FileFormat) => void }) {
  return (
    <div class="field">
      <span>{t('file.format')}</span>
      <Segments
        value={value}
        onChange={onChange}
        label={t('file.format')}
        options={[
          { value: 'csv', label: 'CSV' },
          { value: 'json', label: 'JSON' },
          { value: 'ccproxy', label: 'CCProxy' },
        ]}
      />
    </div>
  );
}

const MEDIA: Readonly<Record<FileFormat, string>> = {
  csv: 'text/csv',
  json: 'application/json',
  ccproxy: 'text/plain',
};

function ImportDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [format, setFormat] = useState<FileFormat>('csv');
  const [existing, setExisting] = useState<OnExisting>('skip');
  const [report, setReport] = useState<ImportReport | null>(null);
  const { busy, error, run } = useAction();
  const most = useCell(me)?.maxImportBytes ?? 0;
  const choose = (chosen: File | undefined) => {
    if (!chosen) return;
    setFile(chosen);
    setReport(null);
    if (/\.json$/i.test(chosen.name)) setFormat('json');
    else if (/\.(ini|txt)$/i.test(chosen.name)) setFormat('ccproxy');
    else if (/\.csv$/i.test(chosen.name)) setFormat('csv');
  };
  const send = (dryRun: boolean) =>
    run(async () => {
      if (!file) return;
      setReport(
        await call('importAccounts', {
          query: { format, existing, dryRun },
          body: file,
          type: MEDIA[format],
        }),
      );
      if (!dryRun) onDone();
    });
  const tried = report?.dryRun === true;
  const done = report?.dryRun === false;
  const willWrite = report ? report.added + report.replaced + report.kept : 0;
  return (
    <Dialog
      title={t('accounts.import')}
      wide
      onClose={onClose}
      onSubmit={() => void send(!tried)}
      footer={
        done ? (
          <Button kind="primary" onClick={onClose}>
            {t('dialog.close')}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{t('dialog.cancel')}</Button>
            <Button type="submit" kind="primary" disabled={!file || busy || (tried && willWrite === 0)}>
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
          accept=".csv,.json,.txt,.ini"
          onChange={(event) => choose(event.currentTarget.files?.[0])}
        />
        <span>{file ? `${file.name} (${bytes(file.size)})` : t('import.choose', { size: bytes(most) })}</span>
      </label>
      <div class="grid-2">
        <FormatChoice
          value={format}
          onChange={(next) => {
            setFormat(next);
            setReport(null);
          }}
        />
        <Field label={t('import.existing')} hint={t(`import.existing.${existing}`)}>
          <Select
            value={existing}
            onChange={(next) => {
              setExisting(next);
              setReport(null);
            }}
            options={(['skip', 'keep', 'replace'] as const).map((one) => ({
              value: one,
              label: t(`import.${one}`),
            }))}
          />
        </Field>
      </div>
      {busy && <Skeleton rows={3} />}
      {error ? <Failure error={error} /> : null}
      {report && !busy && <Report report={report} />}
    </Dialog>
  );
}

const TONES = { added: 'good', replaced: 'info', kept: 'none', skipped: 'warn', failed: 'bad' } as const;

function Report({ report }: { report: ImportReport }) {
  return (
    <div class="preview">
      <p>
        <strong>{report.dryRun ? t('import.wouldBe') : t('import.done')}</strong>{' '}
        {t('import.summary', {
          read: report.read,
          added: report.added,
          replaced: report.replaced,
          kept: report.kept,
          skipped: report.skipped,
          failed: report.failed,
        })}
      </p>
      <div class="scroll">
        <table class="small">
          <tbody>
            {report.lines.slice(0, 200).map((line) => (
              <tr key={line.line}>
                <td class="end number soft">{line.line}</td>
                <td>{line.username ?? '—'}</td>
                <td>
                  <State tone={TONES[line.outcome]}>{t(`import.outcome.${line.outcome}`)}</State>
                </td>
                <td class="soft">{line.message}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {report.linesLeftOut > 0 && <p class="soft">{t('import.leftOut', { n: report.linesLeftOut })}</p>}
    </div>
  );
}
