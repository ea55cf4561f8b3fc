// All accounts in one dense table, and bulk actions on the selected ones.
import { useEffect, useState } from 'preact/hooks';
import type { Account, AccountFilterBody, AccountSort } from '../../api-types.js';
import { useMay, useUser } from '../../lib/api.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { go, partsOf, patchQuery, usePlace } from '../../lib/router.js';
import { Button, PermittedButton, useWidth } from '../../ui/basics.js';
import { optionsOf, Select } from '../../ui/form.js';
import { lazyDialog } from '../../ui/lazy.js';
import { Counts, List } from '../../ui/list/list.js';
import { Empty } from '../../ui/states.js';
import { type Acting, ActionDialog, RowActions } from './actions.js';
import { BulkBar } from './bulk/bulk.js';
import { accountColumns, wordsOf } from './columns.js';
import { OwnBudget, usePlans, useSellers } from './fields/plans.js';
import { AccountChips, AccountMenus, filterOf } from './filters.js';
import type { Created } from './new/create.js';

const CreateDialog = lazyDialog(async () => (await import('./new/create.js')).CreateDialog);
const ExportDialog = lazyDialog(async () => (await import('./new/export.js')).ExportDialog);
const ImportDialog = lazyDialog(async () => (await import('./new/import.js')).ImportDialog);
const HandoverDialog = lazyDialog(async () => (await import('./handover.js')).HandoverDialog);
const ManyCredentialsDialog = lazyDialog(async () => (await import('./handover.js')).ManyCredentialsDialog);

const PAGE_SIZES = ['100', '500', '1000'];
const FILES = [
  { mode: 'import', icon: 'upload', right: 'importAccounts' },
  { mode: 'export', icon: 'download', right: 'exportAccounts' },
] as const;

export function AccountsPage() {
  const { query } = usePlace();
  const width = useWidth();
  const filter = filterOf(query);
  const sort = (query.get('sort') ?? 'username') as AccountSort;
  const limit = Number(query.get('limit') ?? 100);
  const asked = { ...filter, sort, limit, ...partsOf(query, 'cursor') };
  const list = useLoad('listAccounts', { query: asked }, { topics: ['accounts'], everyMs: 15_000 });
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [allMatching, setAllMatching] = useState(false);
  /** Here and not in the row, which a reload of the list may remove. */
  const [acting, setActing] = useState<Acting | null>(null);
  const plans = usePlans();
  const question = JSON.stringify(filter);
  // A selection belongs to one filter. A changed filter clears the selection. `question` represents the filter.
  useEffect(() => {
    setIds(new Set());
    setAllMatching(false);
  }, [question]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !document.querySelector('details[open] > .menu')) setIds(new Set());
    };
    // Before the menu closes, which Esc closes first.
    document.addEventListener('keydown', onKey, true);
    return () => document.removeEventListener('keydown', onKey, true);
  }, []);
  const select = (next: ReadonlySet<string>) => {
    setIds(next);
    setAllMatching(false);
  };
  const canSelect = useMay('changeAccounts');
  const page = list.data;
  const narrow = width < 640;
  const user = useUser();
  // A seller sees only its own accounts.
  const showsOwner = useSellers().length > 0 || page?.items.some(({ owner }) => owner !== null) === true;
  const shown = {
    owner: showsOwner && user?.role !== 'seller',
    words: wordsOf(filter.search),
    actions: canSelect
      ? (account: Account) => (
          <RowActions account={account} plans={plans} act={(action) => setActing({ account, action })} />
        )
      : null,
  };
  const columns = accountColumns(shown);
  const isFiltered = Object.values(filter).some((value) => value !== undefined && value !== '');
  return (
    <>
      <header class="page-head">
        <div class="title">
          <h1>{t('nav.accounts')}</h1>
          {page && <Counts matched={page.matched} total={page.total} />}
        </div>
        <span class="grow" />
        {FILES.map(({ mode, icon, right }) => (
          <PermittedButton
            key={mode}
            to={right}
            icon={icon}
            onClick={() => patchQuery({ new: mode }, 'push')}
            {...(narrow ? { label: t(`accounts.${mode}`) } : {})}
          >
            {narrow ? null : t(`accounts.${mode}`)}
          </PermittedButton>
        ))}
        <PermittedButton
          to="createAccount"
          icon="plus"
          kind="primary"
          onClick={() => patchQuery({ new: 'one' }, 'push')}
        >
          {t(narrow ? 'accounts.newShort' : 'accounts.new')}
        </PermittedButton>
      </header>
      <OwnBudget />
      <List
        list={list}
        search={t('accounts.search')}
        chips={<AccountChips game={filter.game} />}
        tools={<AccountMenus />}
        hasCounts={false}
        empty={({ total }) =>
          total === 0 ? (
            <NoAccounts />
          ) : (
            <Empty
              icon="search"
              title={t('accounts.noMatch')}
              action={<Button onClick={() => go(['accounts'])}>{t('list.clearFilters')}</Button>}
            >
              {isFiltered && t('accounts.noMatch.text', { n: total })}
            </Empty>
          )
        }
        table={{
          label: t('nav.accounts'),
          columns,
          table: 'accounts',
          phoneRowHeight: shown.words.length > 0 ? 64 : 56,
          id: (one) => one.id,
          name: (one) => one.username,
          open: (one) => go(['accounts', one.id]),
          sort,
          ...(canSelect ? { selection: { ids, change: select } } : {}),
        }}
        foot={
          <label class="row soft">
            {t('list.perPage')}
            <Select
              value={String(limit)}
              options={optionsOf(PAGE_SIZES, (size) => size)}
              onInput={(size) => patchQuery({ limit: size, cursor: null, back: null })}
            />
          </label>
        }
      >
        {canSelect && page && (
          <BulkBar
            ids={[...ids]}
            filter={filter}
            matched={page.matched}
            pageFull={page.items.every((one) => ids.has(one.id)) && page.matched > page.items.length}
            allMatching={allMatching}
            onAllMatching={setAllMatching}
            onClear={() => select(new Set())}
            onDone={() => {
              select(new Set());
              list.reload();
            }}
          />
        )}
      </List>
      {acting && <ActionDialog {...acting} onClose={() => setActing(null)} onChanged={list.reload} />}
      <AccountDialogs mode={query.get('new')} filter={filter} onDone={list.reload} />
    </>
  );
}

function NoAccounts() {
  // A seller has no shell on the server.
  const isSeller = useUser()?.role === 'seller';
  if (!useMay('createAccount')) return <Empty icon="accounts" title={t('accounts.empty')} />;
  return (
    <Empty
      icon="accounts"
      title={t('accounts.empty')}
      action={
        <>
          <Button kind="primary" icon="plus" onClick={() => patchQuery({ new: 'one' }, 'push')}>
            {t('accounts.new')}
          </Button>
          <PermittedButton
            to="importAccounts"
            icon="upload"
            onClick={() => patchQuery({ new: 'import' }, 'push')}
          >
            {t('accounts.import')}
          </PermittedButton>
        </>
      }
    >
      {t(isSeller ? 'accounts.empty.seller' : 'accounts.empty.text')}
      {!isSeller && <pre>pulsegate account add player01 --expires 30d</pre>}
    </Empty>
  );
}

interface Props {
  readonly mode: string | null;
  readonly filter: AccountFilterBody;
  readonly onDone: () => void;
}

function AccountDialogs({ mode, filter, onDone }: Props) {
  const [shown, setShown] = useState<Created | null>(null);
  const canCreate = useMay('createAccount');
  const canImport = useMay('importAccounts');
  const close = () => patchQuery({ new: null });
  const created = (credentials: Created) => {
    setShown(credentials);
    close();
    onDone();
  };
  const seen = () => setShown(null);
  if (shown && 'one' in shown)
    return <HandoverDialog {...shown.one} title={t('credentials.title')} onClose={seen} />;
  if (shown) return <ManyCredentialsDialog list={shown.many} onClose={seen} />;
  if ((mode === 'one' || mode === 'many') && canCreate)
    return <CreateDialog of={mode} onClose={close} onDone={created} />;
  if (mode === 'import' && canImport) return <ImportDialog onClose={close} onDone={onDone} />;
  if (mode === 'export') return <ExportDialog filter={filter} onClose={close} />;
  return null;
}
