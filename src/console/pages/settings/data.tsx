// How long the daemon keeps data; and a copy of all data, with how to restore it.
import type { Retention } from '../../api-types.js';
import { callWithEtag, urlOf } from '../../lib/api.js';
import { confirmThenFollow } from '../../lib/download.js';
import { useDraft } from '../../lib/draft.js';
import { bytes, count, readNumber } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { Card } from '../../ui/basics.js';
import { InputField } from '../../ui/form.js';
import { Icon } from '../../ui/icons.js';
import { SettingsForm } from '../../ui/settings-form.js';
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

export function RetentionSettings() {
  const saved = useLoad('getRetention', {}, { topics: ['settings'] });
  const draft = useDraft(
    Object.fromEntries(FIELDS.map((name) => [name, String(saved.data?.[name] ?? '')])) as Record<
      keyof Retention,
      string
    >,
  );
  const changed = FIELDS.filter((name) => draft.changes[name] !== undefined);
  /** Returns undefined for an invalid number. Every retention time needs one. */
  const read = (name: keyof Retention) =>
    readNumber(draft.values[name], { ...RANGES[name], whole: true }) ?? undefined;
  const save = async () => {
    // Reads the current values first, so that another user's changes to other fields stay.
    const now = await callWithEtag('getRetention');
    const body = { ...now.answer, ...Object.fromEntries(changed.map((name) => [name, read(name)])) };
    saved.put(await callWithEtag('setRetention', { body, etag: now.etag }));
    notify(t('settings.saved'));
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
          <p class="soft">{t('retention.text')}</p>
          {FIELDS.map((name) => (
            <InputField
              key={name}
              of={`retention.${name}`}
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

export function BackupSettings() {
  return (
    <WhenLoaded of={useLoad('getEffectiveConfig', {})} rows={4} keeps>
      {({ database: { client, bytes: size, heartbeats } }) => (
        <Card title={t('backup.download')} look="stack narrow">
          <p class="soft">
            {t('effective.database', {
              client,
              size: size === null ? '—' : bytes(size),
              n: count(heartbeats),
            })}
          </p>
          {client === 'pg' ? (
            <p>
              {t('backup.postgres')} <code>pg_dump --format=custom --file=pulsegate.dump DATABASE</code>
            </p>
          ) : (
            <>
              <p>{t('backup.text')}</p>
              <div class="row">
                <a
                  class="button primary"
                  href={urlOf('downloadBackup', {})}
                  download
                  onClick={confirmThenFollow}
                >
                  <Icon name="download" /> {t('backup.download')}
                </a>
              </div>
              <p class="soft">{t('backup.restore')}</p>
              <pre>{'systemctl stop pulsegate\npulsegate restore FILE\nsystemctl start pulsegate'}</pre>
            </>
          )}
        </Card>
      )}
    </WhenLoaded>
  );
}
