// The views of the list of accounts: newest first, and what this browser's user saved under a name: filters, search and sorting.
import { useState } from 'preact/hooks';
import { t } from '../../lib/i18n.js';
import { go, showFiltered, usePlace } from '../../lib/router.js';
import { keepStored, readStored } from '../../lib/stored.js';
import { Button } from '../../ui/basics.js';
import { InputField, submitting } from '../../ui/form.js';
import { Menu, MenuItem } from '../../ui/menu.js';

const STORED = 'pulsegate.views.accounts';
const NEWEST = '-createdAt';

/** The query of each view by its name. */
type Views = Readonly<Record<string, string>>;

/** What a view keeps of a query: not the page, nor the open dialog. */
function viewIn(query: URLSearchParams): string {
  const kept = [...query].filter(([name]) => !['cursor', 'back', 'new'].includes(name));
  return new URLSearchParams(kept.sort()).toString();
}

export function AccountViews() {
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
