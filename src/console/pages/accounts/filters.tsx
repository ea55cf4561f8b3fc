// The filters of the list of accounts: chips, and a range of expiry days. The address contains all of them. And its views: newest
// first, and what this browser's user saved under a name: filters, search and sorting.
import { useState } from 'preact/hooks';
import type { AccountFilterBody } from '../../api-types.js';
import { useUser } from '../../lib/api.js';
import { keepStored, readStored } from '../../lib/cell.js';
import { count } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, partsOf, showFiltered, usePlace } from '../../lib/router.js';
import { Button } from '../../ui/basics.js';
import { DayRange, dayRangeOf } from '../../ui/expiry-field.js';
import { InputField, submitting } from '../../ui/form.js';
import { FilterChip, SetFilter } from '../../ui/list/list.js';
import { Menu, MenuItem } from '../../ui/menu.js';
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

/** The filters by one of many values, and by days. A seller has no choice of owners, but sees the filter of a link. */
export function AccountMenus() {
  const { data } = useLoad('listTags', {}, { topics: ['accounts'] });
  const tags = data?.items.map(({ tag, accounts }) => ({ value: tag, label: tag, note: count(accounts) }));
  const named = (names: readonly string[]) => names.map((name) => ({ value: name, label: name }));
  const sellers = useSellers().map(({ id, name }) => ({ value: id, label: name }));
  const administrator = { value: NO_OWNER, label: t('operators.administrator') };
  return (
    <div class="row wrap tight">
      <AccountViews />
      <DayRange of="accounts.filter.expires" />
      <MenuFilter name="tag" title={t('tags.title')} items={tags ?? []} />
      <MenuFilter name="plan" title={t('plans.choose')} items={named(usePlans().map(({ name }) => name))} />
      <MenuFilter name="exit" title={t('account.exit')} items={named(useUser()?.exits ?? [])} />
      <MenuFilter
        name="owner"
        title={t('operators.owner')}
        items={sellers.length === 0 ? [] : [...sellers, administrator]}
      />
    </div>
  );
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
  const chosen = usePlace().query.get(name);
  if (items.length === 0 && chosen === null) return null;
  const label = items.find(({ value }) => value === chosen)?.label ?? chosen;
  const choose = (next: string | null) => showFiltered({ [name]: next });
  return (
    <Menu
      look={`menu-filter ${name}-filter`}
      summaryLook={chosen === null ? 'chip' : 'chip chosen'}
      summary={
        label === null ? t('list.filter', { title }) : t('audit.field', { field: title, value: label })
      }
    >
      <div class="menu tall">
        {items.map(({ value, label, note }) => (
          <MenuItem key={value} look="row" pressed={value === chosen} onClick={() => choose(value)}>
            <span class="grow break">{label}</span> <span class="soft number">{note}</span>
          </MenuItem>
        ))}
        <MenuItem disabled={chosen === null} onClick={() => choose(null)}>
          {t('list.filter.any')}
        </MenuItem>
      </div>
    </Menu>
  );
}

const STORED = 'pulsegate.views.accounts';
const NEWEST = '-createdAt';

/** The query of each view by its name. */
type Views = Readonly<Record<string, string>>;

/** What a view keeps of a query: not the page, nor the open dialog. */
function viewIn(query: URLSearchParams): string {
  const kept = [...query].filter(([name]) => !['cursor', 'back', 'new'].includes(name));
  return new URLSearchParams(kept.sort()).toString();
}

function AccountViews() {
  const { query } = usePlace();
  const [views, setViews] = useState(() => readStored<Views>(STORED));
  const [name, setName] = useState('');
  const here = viewIn(query);
  const isNewest = query.get('sort') === NEWEST;
  const current = Object.keys(views).find((each) => views[each] === here);
  const change = (next: Views) => {
    keepStored(STORED, next);
    setViews(next);
  };
  const shown = current ?? (isNewest ? t('views.newest') : null);
  return (
    <Menu
      look="menu-filter views"
      summaryLook={shown === null ? 'chip' : 'chip chosen'}
      summary={shown ?? t('list.filter', { title: t('views.title') })}
    >
      {(close) => (
        <div class="menu tall">
          <MenuItem pressed={isNewest} onClick={() => showFiltered({ sort: isNewest ? null : NEWEST })}>
            {t('views.newest')}
          </MenuItem>
          {Object.entries(views).map(([each, saved]) => (
            <div key={each} class="row">
              <MenuItem
                look="grow break"
                pressed={each === current}
                onClick={() => go(['accounts'], Object.fromEntries(new URLSearchParams(saved)))}
              >
                {each}
              </MenuItem>
              <Button
                icon="close"
                kind="quiet"
                label={t('views.remove', { name: each })}
                onClick={() =>
                  change(Object.fromEntries(Object.entries(views).filter(([key]) => key !== each)))
                }
              />
            </div>
          ))}
          {here !== '' && current === undefined && (
            <form
              class="stack near"
              onSubmit={submitting(() => {
                if (name.trim() === '') return;
                change({ ...views, [name.trim()]: here });
                setName('');
                close();
              })}
            >
              <InputField label={t('views.name')} value={name} onInput={setName} maxLength={64} required />
              <Button type="submit">{t('views.save')}</Button>
            </form>
          )}
        </div>
      )}
    </Menu>
  );
}
