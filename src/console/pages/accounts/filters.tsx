// The filters of the list of accounts: chips, and a range of expiry days. The address contains all of them.
import { useRef } from 'preact/hooks';
import type { AccountFilterBody } from '../../api-types.js';
import { count } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { useUser } from '../../lib/rights.js';
import { partsOf, patchQuery, usePlace } from '../../lib/router.js';
import { DayRange, dayRangeOf } from '../../ui/list/day-range.js';
import { FilterChip, SetFilter } from '../../ui/list/list.js';
import { useMenu } from '../../ui/menu.js';
import { usePlans, useSellers } from './fields/plans.js';

/** Returns the filter of an address. The address uses short names. */
export function filterOf(query: URLSearchParams): AccountFilterBody {
  const flag = (name: string) => (query.has(name) ? query.get(name) === 'true' : undefined);
  const { from, to } = dayRangeOf(query);
  const within = Number(query.get('within'));
  return {
    ...partsOf(query, 'search', 'tag', 'game', 'plan', 'exit', 'owner'),
    online: flag('online'),
    enabled: flag('enabled'),
    expired: flag('expired'),
    suspended: flag('suspended'),
    neverUsed: flag('unused'),
    overQuota: flag('over'),
    expiringWithinDays: within > 0 ? within : undefined,
    expiresFrom: from,
    expiresBefore: to,
  };
}

const CHIPS = [
  ['online', 'true', 'account.state.online'],
  ['within', '7', 'accounts.filter.within'],
  ['expired', 'true', 'account.state.expired'],
  ['suspended', 'true', 'account.state.suspended'],
  ['enabled', 'false', 'account.state.disabled'],
  ['over', 'true', 'account.state.overQuota'],
  ['unused', 'true', 'accounts.filter.unused'],
] as const;

export function AccountChips({ game }: { game: string | undefined }) {
  return (
    <>
      {CHIPS.map(([name, value, key]) => (
        <FilterChip key={name} name={name} value={value}>
          {t(key, { n: value })}
        </FilterChip>
      ))}
      {game !== undefined && <SetFilter name="game" text={t('accounts.filter.game', { game })} />}
    </>
  );
}

/** The filters by one of many values, and by days. */
export function AccountMenus() {
  return (
    <div class="row wrap tight">
      <DayRange off={t('accounts.filter.expires')} on={(range) => t('accounts.filter.between', range)} />
      <TagFilter />
      <PlanFilter />
      <ExitFilter />
      <OwnerFilter />
    </div>
  );
}

/** Chooses among the tags in use. */
function TagFilter() {
  const { data } = useLoad('listTags', {}, { topics: ['accounts'] });
  const items = data?.items.map(({ tag, accounts }) => ({ value: tag, label: tag, note: count(accounts) }));
  return <MenuFilter name="tag" title={t('tags.title')} items={items ?? []} />;
}

function PlanFilter() {
  const items = usePlans().map(({ name }) => ({ value: name, label: name }));
  return <MenuFilter name="plan" title={t('plans.choose')} items={items} />;
}

function ExitFilter() {
  const items = (useUser()?.exits ?? []).map((name) => ({ value: name, label: name }));
  return <MenuFilter name="exit" title={t('account.exit')} items={items} />;
}

/** Chooses among the sellers and the administrator. A user who may not list sellers has no choice, but sees the filter of a link. */
function OwnerFilter() {
  const sellers = useSellers().map(({ id, name }) => ({ value: id, label: name }));
  const administrator = { value: NO_OWNER, label: t('operators.administrator') };
  const items = sellers.length === 0 ? [] : [...sellers, administrator];
  return <MenuFilter name="owner" title={t('operators.owner')} items={items} />;
}

/** The value of the API for accounts of the administrator. */
const NO_OWNER = 'none';

interface MenuFilterProps {
  readonly name: string;
  readonly title: string;
  readonly items: readonly { readonly value: string; readonly label: string; readonly note?: string }[];
}

/** A filter by one of many values. The address holds it. Renders nothing when there is no choice. */
function MenuFilter({ name, title, items }: MenuFilterProps) {
  const { query } = usePlace();
  const box = useRef<HTMLDetailsElement>(null);
  useMenu(box);
  const chosen = query.get(name);
  if (items.length === 0 && chosen === null) return null;
  const choose = (next: string | null) => {
    if (box.current) box.current.open = false;
    patchQuery({ [name]: next, cursor: null, back: null }, 'push');
  };
  const label = items.find(({ value }) => value === chosen)?.label ?? chosen;
  return (
    <details class={`menu-filter ${name}-filter`} ref={box}>
      <summary class={chosen === null ? 'chip' : 'chip chosen'}>
        {label === null ? t('list.filter', { title }) : t('audit.field', { field: title, value: label })}
      </summary>
      <div class="menu tall">
        {items.map((each) => (
          <button
            key={each.value}
            type="button"
            class="link row"
            aria-pressed={each.value === chosen}
            onClick={() => choose(each.value)}
          >
            <span class="grow break">{each.label}</span> <span class="soft number">{each.note}</span>
          </button>
        ))}
        <button type="button" class="link" disabled={chosen === null} onClick={() => choose(null)}>
          {t('list.filter.any')}
        </button>
      </div>
    </details>
  );
}
