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
import { InputField } from '../../ui/form.js';
import { Icon } from '../../ui/icons.js';
import { SettingsForm } from '../../ui/settings-form.js';
import { SmallTable } from '../../ui/small-table.js';
import { WhenLoaded } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';

/** The least and the most of each. Without days, sessions are not recorded. */
const RANGES: Readonly<Record<keyof Retention, { readonly min: number; readonly max: number }>> = {
  heartbeatDays: { min: 1, max: 3_650 },
  heartbeatsPerAccount: { min: 1, max: 10_000_000 },
  sessionDays: { min: 0, max: 3_650 },
  runDays: { min: 1, max: 3_650 },
  loginDays: { min: 1, max: 3_650 },
  auditDays: { min: 1, max: 3_650 },
};
const FIELDS = Object.keys(RANGES) as (keyof Retention)[];

/** Returns undefined for an invalid number. Every retention time needs one. */
const readField = (name: keyof Retention, text: string): number | undefined =>
  readNumber(text, { ...RANGES[name], whole: true }) ?? undefined;

export function RetentionSettings() {
  const saved = useLoad('getRetention', {}, { topics: ['settings'] });
  const draft = useDraft(
    Object.fromEntries(FIELDS.map((name) => [name, String(saved.data?.[name] ?? '')])) as Record<
      keyof Retention,
      string
    >,
  );
  const changed = FIELDS.filter((name) => draft.changes[name] !== undefined);
  const read = (name: keyof Retention) => readField(name, draft.values[name]);
  const save = async () => {
    // Reads the current values first, so that another user's changes to other fields stay.
    const now = await callWithEtag('getRetention');
    const { answer, etag } = await callWithEtag('setRetention', {
      body: { ...now.answer, ...Object.fromEntries(changed.map((name) => [name, read(name)])) },
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
          right="setRetention"
          isValid={changed.every((name) => read(name) !== undefined)}
          save={save}
        >
          <h2>{t('settings.retention')}</h2>
          <p class="soft">{t('retention.text')}</p>
          {FIELDS.map((name) => (
            <InputField
              path={name}
              key={name}
              label={t(`retention.${name}`)}
              error={read(name) === undefined ? t('retention.wrong', RANGES[name]) : undefined}
              {...draft.control(name)}
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
