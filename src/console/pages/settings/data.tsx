// Retention times, and the effective configuration.
import type { EffectiveConfig, Retention } from '../../api-types.js';
import { callWithEtag, urlOf } from '../../lib/api.js';
import { confirmThenFollow } from '../../lib/download.js';
import { useDraft } from '../../lib/draft.js';
import { bytes, count } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { readNumber } from '../../lib/number-text.js';
import { Ago, At, Card, Permitted, Tag } from '../../ui/basics.js';
import { useAction } from '../../ui/dialog.js';
import { InputField } from '../../ui/form.js';
import { Icon } from '../../ui/icons.js';
import { SettingsForm } from '../../ui/settings-form.js';
import { SmallTable } from '../../ui/small-table.js';
import { WhenLoaded } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';

const FIELDS = [
  'heartbeatDays',
  'heartbeatsPerAccount',
  'sessionDays',
  'runDays',
  'loginDays',
  'auditDays',
] as const satisfies readonly (keyof Retention)[];

type Texts = Readonly<Record<keyof Retention, string>>;

function textsOf(saved: Retention | undefined): Texts {
  return Object.fromEntries(FIELDS.map((name) => [name, saved ? String(saved[name]) : ''])) as Texts;
}

const maxOf = (name: keyof Retention): number => (name === 'heartbeatsPerAccount' ? 10_000_000 : 3_650);

/** Without days, sessions are not recorded. */
const minOf = (name: keyof Retention): number => (name === 'sessionDays' ? 0 : 1);

/** Reads a field; undefined for an invalid number. Every retention time needs a number. */
function readField(name: keyof Retention, text: string): number | undefined {
  return readNumber(text, { min: minOf(name), max: maxOf(name), whole: true }) ?? undefined;
}

/** Returns the numbers of the changed fields; undefined while one of them is invalid. */
function readChanges(changes: Partial<Texts>): Partial<Retention> | undefined {
  const entries = (Object.entries(changes) as [keyof Retention, string][]).map(
    ([name, text]) => [name, readField(name, text)] as const,
  );
  return entries.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(entries);
}

export function RetentionSettings() {
  const saved = useLoad('getRetention', {}, { topics: ['settings'] });
  const draft = useDraft(textsOf(saved.data));
  const work = useAction();
  const changes = readChanges(draft.changes);
  const save = async () => {
    // Reads the current values first, so that another user's changes to other fields stay.
    const now = await callWithEtag('getRetention');
    const { answer, etag } = await callWithEtag('setRetention', {
      body: { ...now.answer, ...changes },
      etag: now.etag,
    });
    notify(t('settings.saved'));
    saved.put(answer, etag);
    draft.reset();
  };
  return (
    <WhenLoaded of={saved} rows={5} keeps>
      {() => (
        <SettingsForm
          draft={draft}
          work={work}
          right="setRetention"
          isValid={changes !== undefined}
          save={save}
        >
          <h2>{t('settings.retention')}</h2>
          <p class="soft">{t('retention.text')}</p>
          {FIELDS.map((name) => (
            <InputField
              path={name}
              key={name}
              label={t(`retention.${name}`)}
              error={
                readField(name, draft.values[name]) === undefined
                  ? t('retention.wrong', { min: minOf(name), max: maxOf(name) })
                  : undefined
              }
              value={draft.values[name]}
              onInput={(text) => draft.set({ [name]: text })}
              inputMode="numeric"
            />
          ))}
        </SettingsForm>
      )}
    </WhenLoaded>
  );
}

/** PostgreSQL has its own backup program. */
function Backup() {
  return (
    <Card title={t('backup.title')} look="stack">
      <p class="soft">
        {t('backup.text')} <code>pulsegate restore FILE</code>
      </p>
      <div class="row">
        <Permitted to="downloadBackup">
          <a class="button" href={urlOf('downloadBackup', {})} download onClick={confirmThenFollow}>
            <Icon name="download" /> {t('backup.download')}
          </a>
        </Permitted>
      </div>
    </Card>
  );
}

/** Nothing asks the network: what is new is known from the installed files and the calendar. */
function Program({ program }: { program: EffectiveConfig['program'] }) {
  const { version, installedVersion, build, isOld } = program;
  return (
    <Card title={t('program.title')} look="stack">
      <p>
        Pulsegate <strong>{version}</strong>
        {build && (
          <span class="soft">
            {' · '}
            {t('program.build', { commit: build.commit.slice(0, 12) })} <At at={build.date} />
            {' · '}
            <Ago at={build.date} />
          </span>
        )}
      </p>
      {installedVersion !== version && (
        <p class="notice" role="status">
          <Icon name="warn" /> {t('program.restart', { installed: installedVersion, running: version })}
        </p>
      )}
      {isOld && installedVersion === version && (
        <p class="notice" role="status">
          <Icon name="warn" /> {t('program.old')}
        </p>
      )}
    </Card>
  );
}

export function EffectiveSettings() {
  return (
    <WhenLoaded of={useLoad('getEffectiveConfig', {})} rows={12} keeps>
      {(data) => <Effective data={data} />}
    </WhenLoaded>
  );
}

function Effective({ data }: { data: EffectiveConfig }) {
  return (
    <>
      <Program program={data.program} />
      {data.database.client !== 'pg' && <Backup />}
      <Card title={t('settings.effective')} look="stack">
        <p class="soft">
          {t('effective.text')} {data.configFile !== null && <code class="break">{data.configFile}</code>}
        </p>
        <p class="soft">
          {t('effective.database', {
            client: data.database.client,
            size: data.database.bytes === null ? '—' : bytes(data.database.bytes),
            n: count(data.database.heartbeats),
          })}{' '}
          · {t('effective.startedAt')} <At at={data.startedAt} />
        </p>
        {data.needsRestart.length > 0 && (
          <p class="notice" role="status">
            {t('effective.needsRestart', { keys: data.needsRestart.join(', ') })}
          </p>
        )}
        {data.problem !== null && (
          <p class="notice" role="alert">
            {t('effective.problem', { problem: data.problem })}
          </p>
        )}
        <SmallTable
          look="small stacked"
          rows={data.entries}
          id={({ path }) => path}
          columns={[
            { head: t('effective.key'), cellLook: 'whole', cell: ({ path }) => <code>{path}</code> },
            {
              head: t('effective.value'),
              cellLook: 'break',
              cell: ({ isSecret, value }) =>
                isSecret ? <span class="soft">{t('effective.hidden')}</span> : <code>{value}</code>,
            },
            {
              head: t('effective.source'),
              cellLook: 'whole',
              cell: ({ source }) =>
                source === 'default' ? (
                  <span class="faint">{t('effective.source.default')}</span>
                ) : (
                  <Tag>{t(`effective.source.${source}`)}</Tag>
                ),
            },
          ]}
        />
      </Card>
    </>
  );
}
