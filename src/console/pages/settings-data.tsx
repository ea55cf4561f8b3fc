// How long things are kept, and the configuration that is in force.
import { useState } from 'preact/hooks';
import type { Retention } from '../api-types.js';
import { call } from '../lib/api.js';
import { bytes, count } from '../lib/format.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { At, Button, Tag } from '../ui/basics.js';
import { useAction } from '../ui/dialog.js';
import { Field } from '../ui/form.js';
import { Failure, Skeleton } from '../ui/states.js';
import { notify } from '../ui/toast.js';

const FIELDS = [
  'heartbeatDays',
  'heartbeatsPerAccount',
  'runDays',
  'loginDays',
  'auditDays',
] as const satisfies readonly (keyof Retention)[];

export function RetentionSettings() {
  const saved = useLoad('getRetention', {}, { topics: ['settings'] });
  const [edited, setEdited] = useState<Retention | null>(null);
  const { busy, error, run } = useAction();
  if (!saved.data)
    return saved.error ? <Failure error={saved.error} retry={saved.reload} /> : <Skeleton rows={5} />;
  const shown = edited ?? saved.data;
  const save = () =>
    run(async () => {
      await call('setRetention', { body: shown });
      notify(t('settings.saved'));
      setEdited(null);
      saved.reload();
    });
  return (
    <form
      class="card stack narrow"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <h2>{t('settings.retention')}</h2>
      <p class="soft">{t('retention.text')}</p>
      {FIELDS.map((name) => (
        <Field key={name} label={t(`retention.${name}`)}>
          <input
            type="number"
            min={1}
            required
            value={shown[name]}
            onInput={(event) => {
              const value = event.currentTarget.valueAsNumber;
              if (Number.isInteger(value) && value >= 1) setEdited({ ...shown, [name]: value });
            }}
          />
        </Field>
      ))}
      {error ? <Failure error={error} /> : null}
      <div class="row">
        <Button type="submit" kind="primary" disabled={!edited || busy}>
          {t('settings.save')}
        </Button>
        {edited && <Button onClick={() => setEdited(null)}>{t('settings.undo')}</Button>}
      </div>
    </form>
  );
}

export function EffectiveSettings() {
  const { data, error, reload } = useLoad('getEffectiveConfig', {});
  if (!data) return error ? <Failure error={error} retry={reload} /> : <Skeleton rows={12} />;
  return (
    <section class="card stack">
      <h2>{t('settings.effective')}</h2>
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
      <table class="small stacked">
        <thead>
          <tr>
            <th scope="col">{t('effective.key')}</th>
            <th scope="col">{t('effective.value')}</th>
            <th scope="col">{t('effective.source')}</th>
          </tr>
        </thead>
        <tbody>
          {data.entries.map((entry) => (
            <tr key={entry.path}>
              <td>
                <code>{entry.path}</code>
              </td>
              <td class="break">
                {entry.isSecret ? (
                  <span class="soft">{t('effective.hidden')}</span>
                ) : (
                  <code>{entry.value}</code>
                )}
              </td>
              <td>
                {entry.source === 'default' ? (
                  <span class="faint">{t('effective.source.default')}</span>
                ) : (
                  <Tag>{t(`effective.source.${entry.source}`)}</Tag>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
