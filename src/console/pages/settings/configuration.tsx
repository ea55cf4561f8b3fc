// The version of the daemon, and the configuration in force, key by key.
import type { EffectiveConfig } from '../../api-types.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { Ago, At, Card, Tag } from '../../ui/basics.js';
import { Icon } from '../../ui/icons.js';
import { SmallTable } from '../../ui/small-table.js';
import { WhenLoaded } from '../../ui/states.js';

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
      {(data) => (
        <>
          <Program program={data.program} />
          <Card title={t('settings.effective')} look="stack">
            <p class="soft">
              {t('effective.text')} {data.configFile !== null && <code class="break">{data.configFile}</code>}
            </p>
            <p class="soft">
              {t('effective.startedAt')} <At at={data.startedAt} />
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
                [t('effective.key'), ({ path }) => <code>{path}</code>, 'whole'],
                [
                  t('effective.value'),
                  ({ isSecret, value }) =>
                    isSecret ? <span class="soft">{t('effective.hidden')}</span> : <code>{value}</code>,
                ],
                [
                  t('effective.default'),
                  ({ isSecret, default: standard }) => !isSecret && <code class="faint">{standard}</code>,
                  'break',
                ],
                [
                  t('effective.source'),
                  ({ source }) =>
                    source === 'default' ? (
                      <span class="faint">{t('effective.source.default')}</span>
                    ) : (
                      <Tag>{t(`effective.source.${source}`)}</Tag>
                    ),
                  'whole',
                ],
              ]}
            />
          </Card>
        </>
      )}
    </WhenLoaded>
  );
}
