// The filters of the list of accounts: chips, and a range of expiry days. The address contains all of them.
import { useRef } from 'preact/hooks';
import type { AccountFilterBody } from '../api-types.js';
import { count } from '../lib/format.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { patchQuery, usePlace } from '../lib/router.js';
import { dayRangeOf } from '../ui/day-range.js';
import { FilterChip } from '../ui/list.js';
import { useMenu } from '../ui/menu.js';

/** Returns the filter of an address. The address uses short names. */
export function filterOf(query: URLSearchParams): AccountFilterBody {
  const flag = (name: string) => (query.has(name) ? query.get(name) === 'true' : undefined);
  const { from, to } = dayRangeOf(query);
  const within = Number(query.get('within'));
  return {
    search: query.get('search') ?? undefined,
    online: flag('online'),
    enabled: flag('enabled'),
    expired: flag('expired'),
    neverUsed: flag('unused'),
    overQuota: flag('over'),
    tag: query.get('tag') ?? undefined,
    game: query.get('game') ?? undefined,
    expiringWithinDays: within > 0 ? within : undefined,
    expiresFrom: from,
    expiresBefore: to,
  };
}

export function AccountFilters({ game }: { game: string | undefined }) {
  return (
    <fieldset class="chips" aria-label={t('list.filters')}>
      <FilterChip name="online" value="true">
        {t('account.state.online')}
      </FilterChip>
      <FilterChip name="within" value="7">
        {t('accounts.filter.within', { n: 7 })}
      </FilterChip>
      <FilterChip name="expired" value="true">
        {t('account.state.expired')}
      </FilterChip>
      <FilterChip name="enabled" value="false">
        {t('account.state.disabled')}
      </FilterChip>
      <FilterChip name="over" value="true">
        {t('account.state.overQuota')}
      </FilterChip>
      <FilterChip name="unused" value="true">
        {t('accounts.filter.unused')}
      </FilterChip>
      {game !== undefined && (
        <FilterChip name="game" value={game}>
          {t('accounts.filter.game', { game })} ×
        </FilterChip>
      )}
    </fieldset>
  );
}

/** Chooses among the tags in use. Renders nothing when no tag is in use. */
export function TagFilter() {
  const { query } = usePlace();
  const { data } = useLoad('listTags', {}, { topics: ['accounts'] });
  const box = useRef<HTMLDetailsElement>(null);
  useMenu(box);
  const tag = query.get('tag');
  const items = data?.items ?? [];
  if (items.length === 0 && tag === null) return null;
  const choose = (next: string | null) => {
    if (box.current) box.current.open = false;
    patchQuery({ tag: next, cursor: null, back: null }, 'push');
  };
  return (
    <details class="menu-filter tag-filter" ref={box}>
      <summary class={tag === null ? 'chip' : 'chip chosen'}>
        {tag === null ? t('tags.filter') : t('tags.filter.on', { tag })}
      </summary>
      <div class="menu tall">
        {items.map((each) => (
          <button
            key={each.tag}
            type="button"
            class="link row"
            aria-pressed={each.tag === tag}
            onClick={() => choose(each.tag)}
          >
            <span class="grow break">{each.tag}</span> <span class="soft number">{count(each.accounts)}</span>
          </button>
        ))}
        <button type="button" class="link" disabled={tag === null} onClick={() => choose(null)}>
          {t('tags.filter.any')}
        </button>
      </div>
    </details>
  );
}
