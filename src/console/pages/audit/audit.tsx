// The audit log: who changed what, from where, with before and after.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { AuditEntry } from '../../api-types.js';
import { t, textOf } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href, partsOf, usePlace } from '../../lib/router.js';
import { Ago, Button, Tag } from '../../ui/basics.js';
import { DayRange, dayRangeOf } from '../../ui/expiry-field.js';
import { FilterChips, List, SetFilter } from '../../ui/list/list.js';
import { PageHead } from '../../ui/page.js';
import { Empty, WhenLoaded } from '../../ui/states.js';
import { showField } from '../accounts/fields/field-words.js';

const VIAS = ['console', 'api', 'token', 'cli', 'player', 'daemon'] as const;

export function AuditPage() {
  const { query } = usePlace();
  const via = VIAS.find((each) => each === query.get('via'));
  const { import: importId, ...parts } = partsOf(query, 'search', 'cursor', 'import');
  const asked = { ...parts, via, importId, ...dayRangeOf(query), limit: 100 };
  const list = useLoad('listAudit', { query: asked }, { topics: ['audit', 'accounts', 'settings'] });
  return (
    <>
      <PageHead title={t('settings.audit')} />
      <List
        list={list}
        search={t('audit.search')}
        chips={
          <>
            <FilterChips name="via" values={VIAS} text={(via) => t(`audit.via.${via}`)} />
            <SetFilter name="import" text={t('audit.onePart')} />
          </>
        }
        tools={<DayRange />}
        empty={<Entries items={[]} />}
        table={(items) => <Entries items={items} />}
      />
    </>
  );
}

/** The changes of one object, newest first. */
export function AuditList({ objectId }: { objectId: string }) {
  const [limit, setLimit] = useState(10);
  const list = useLoad('listAudit', { query: { objectId, limit } }, { topics: ['audit', 'accounts'] });
  return (
    <WhenLoaded of={list} rows={3} keeps>
      {({ items, nextCursor }) => (
        <>
          <Entries items={items} />
          {nextCursor !== null && <Button onClick={() => setLimit(limit + 50)}>{t('list.more')}</Button>}
        </>
      )}
    </WhenLoaded>
  );
}

function Entries({ items }: { items: readonly AuditEntry[] }) {
  if (items.length === 0) {
    return <Empty icon="check" title={t('audit.empty')} text={t('audit.empty.text')} />;
  }
  return (
    <ol class="audit">
      {items.map((entry) => (
        <li key={entry.id}>
          <div class="row wrap">
            {/* An action of a later version has no text. */}
            <strong>{textOf(`audit.${entry.action}`) ?? entry.action}</strong>
            <ObjectName entry={entry} />
            <ImportName entry={entry} />
            <span class="grow" />
            <span class="soft">
              {entry.actor} <Tag>{t(`audit.via.${entry.via}`)}</Tag>{' '}
              {entry.address !== null && <code>{entry.address}</code>}
            </span>
            <span class="soft when">
              <Ago at={entry.at} />
            </span>
          </div>
          <Changes entry={entry} />
        </li>
      ))}
    </ol>
  );
}

function ObjectName({ entry }: { entry: AuditEntry }) {
  const { type, id, name } = entry.object;
  if (type === 'account' && id !== null) return <a href={href(['accounts', id])}>{name ?? id}</a>;
  // The action's text names the settings.
  if (type === 'settings') return null;
  return <span>{name ?? ''}</span>;
}

/** Several sessions that were ended together belong to no single account. */
const hasParts = ({ action, object }: AuditEntry): boolean =>
  action === 'account.import' ||
  action === 'account.bulk' ||
  (action === 'session.end' && object.id === null);

/** For an import or bulk action: a link to its entries. For an entry that one made: a link to that one. */
function ImportName({ entry }: { entry: AuditEntry }) {
  if (hasParts(entry)) return <a href={href(['audit'], { import: entry.id })}>{t('audit.importParts')}</a>;
  if (!entry.import) return null;
  const { id, action, name } = entry.import;
  return (
    <a href={href(['audit'], { import: id })}>
      {action !== 'account.import'
        ? t('audit.byBulk')
        : name === null
          ? t('audit.byImport')
          : t('audit.byImportOf', { name })}
    </a>
  );
}

function Changes({ entry }: { entry: AuditEntry }) {
  const names = [...new Set([...Object.keys(entry.before ?? {}), ...Object.keys(entry.after ?? {})])];
  if (names.length === 0) return null;
  const side = (fields: AuditEntry['before'], name: string): ComponentChildren =>
    fields && name in fields ? showField(name, fields[name]) : null;
  return (
    <ul class="changes">
      {names.map((name) => {
        const [before, after] = [side(entry.before, name), side(entry.after, name)];
        return (
          <li key={name}>
            {/* Of texts and secrets the log says only that they changed. */}
            {before !== null && before !== after && <del>{before}</del>}{' '}
            {after !== null && <ins>{after}</ins>}
          </li>
        );
      })}
    </ul>
  );
}
