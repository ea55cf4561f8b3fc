// The search over everything (Ctrl+K): pages and actions, accounts with what can be done with them, sessions, logins, games and the
// audit log. A combobox whose list box stays below it (WAI-ARIA Authoring Practices, "Combobox").
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Account } from '../api-types.js';
import { may, type Right } from '../lib/api.js';
import { bytes, dayBefore, localTime } from '../lib/format.js';
import { type TextKey, t, textOf } from '../lib/i18n.js';
import { useLoad, useSettled } from '../lib/load.js';
import { go, type QueryPatch } from '../lib/router.js';
import { useModal } from '../ui/dialog.js';
import { Icon, type IconName } from '../ui/icons.js';
import { type Acting, ActionDialog, actionsOn } from './accounts/actions.js';
import { usePlans } from './accounts/fields/plans.js';

/** Typing settles before it is searched for. In ms. */
const SETTLE_MS = 200;
const MIN_CHARACTERS = 2;
const SHOWN = 5;
/** The games of 30 days, among which the names are searched. */
const GAMES = { range: 'month', by: 'game', limit: 1_000 } as const;

interface Option {
  readonly id: string;
  readonly icon: IconName;
  readonly text: string;
  readonly note?: string | undefined;
  readonly run: () => void;
}

interface Group {
  readonly title: TextKey;
  readonly options: readonly Option[];
}

interface PaletteProps {
  readonly places: readonly { readonly path: string; readonly icon: IconName; readonly text: TextKey }[];
  readonly timeZone: string;
  readonly onClose: () => void;
}

export function Palette(props: PaletteProps) {
  const [acting, act] = useState<Acting | null>(null);
  if (acting) return <ActionDialog {...acting} onClose={props.onClose} onChanged={() => {}} />;
  return <Search {...props} act={act} />;
}

function Search({ act, onClose, ...frame }: PaletteProps & { readonly act: (acting: Acting) => void }) {
  const [text, setText] = useState('');
  const ref = useRef<HTMLDialogElement>(null);
  const watched = useModal(ref, onClose);
  const plans = usePlans();
  const [chosen, setChosen] = useState(0);
  const visit = (path: readonly string[], query?: QueryPatch) => () => {
    onClose();
    go(path, query);
  };
  const { accounts, groups: found, isPending } = useFound(text.trim(), visit);
  const [first] = accounts;
  const offered = first && (accounts.length === 1 || first.username === text.trim()) ? first : undefined;
  const all: readonly Group[] = [
    { title: 'palette.pages', options: pageOptions(text.trim(), frame, visit) },
    { title: 'nav.accounts', options: accounts.map((account) => accountOption(account, visit)) },
    {
      title: 'palette.actions',
      options: offered
        ? actionsOn(offered, plans).map(({ name, text: word, icon = 'more' }) => ({
            id: `act-${name}`,
            icon,
            text: t(word),
            note: offered.username,
            run: () => act({ account: offered, action: name }),
          }))
        : [],
    },
    ...found,
  ];
  const groups = all.filter((group) => group.options.length > 0);
  const options = groups.flatMap((group) => group.options);
  const index = Math.min(chosen, options.length - 1);
  const active = options[index];
  useEffect(() => {
    if (active) document.getElementById(`palette-${active.id}`)?.scrollIntoView({ block: 'nearest' });
  }, [active?.id]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: SHOWN, PageUp: -SHOWN };
    const step = steps[event.key];
    if (step !== undefined) {
      const last = Math.max(0, options.length - 1);
      const next = index + step;
      // A single step goes on at the other end.
      const around = next > last ? 0 : next < 0 ? last : next;
      setChosen(Math.abs(step) === 1 ? around : Math.max(0, Math.min(last, next)));
    } else if (event.key === 'Enter') active?.run();
    else return;
    event.preventDefault();
  };
  const status = isPending ? t('state.loading') : t('palette.found', { n: options.length });
  return (
    <dialog ref={ref} class="palette" aria-label={t('palette.title')} {...watched}>
      <div class="search">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          autofocus
          value={text}
          placeholder={t('palette.hint')}
          aria-label={t('palette.title')}
          aria-expanded={options.length > 0}
          aria-controls="palette-list"
          aria-autocomplete="list"
          aria-activedescendant={active && `palette-${active.id}`}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => {
            setText(event.currentTarget.value);
            setChosen(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div id="palette-list" role="listbox" aria-label={t('palette.title')}>
        {groups.map(({ title, options: of }) => (
          <div key={title} role="group" aria-labelledby={`palette-of-${title}`}>
            <div class="soft palette-head" id={`palette-of-${title}`} role="presentation">
              {t(title)}
            </div>
            {of.map((option) => (
              <div
                key={option.id}
                id={`palette-${option.id}`}
                role="option"
                tabIndex={-1}
                class="row close"
                aria-selected={option === active}
                onMouseMove={() => setChosen(options.indexOf(option))}
                onClick={option.run}
                onKeyDown={onKeyDown}
              >
                <Icon name={option.icon} />
                <span class="cut">{option.text}</span>
                {option.note && <span class="soft cut">{option.note}</span>}
              </div>
            ))}
          </div>
        ))}
      </div>
      <p class="soft palette-foot" role="status">
        {status}
      </p>
    </dialog>
  );
}

type Visit = (path: readonly string[], query?: QueryPatch) => () => void;

const includes = (text: string, part: string): boolean => text.toLowerCase().includes(part.toLowerCase());

/** The pages, and what is begun on one of them. All of them, before anything is typed. */
function pageOptions(text: string, frame: Pick<PaletteProps, 'places' | 'timeZone'>, visit: Visit): Option[] {
  const day = dayBefore(1, frame.timeZone);
  const yesterday = { from: day, until: day };
  const begun = [
    ['accounts.new', 'plus', 'createAccount', ['accounts'], { new: 'one' }],
    ['accounts.import', 'upload', 'importAccounts', ['accounts'], { new: 'import' }],
    ['accounts.export', 'download', 'exportAccounts', ['accounts'], { new: 'export' }],
    ['palette.yesterday', 'traffic', 'getTrafficReport', ['traffic'], yesterday],
    ['trace.title', 'search', 'trace', ['sessions', 'trace'], {}],
  ] as const;
  const pages = frame.places.map(({ path, icon, text: title }) => ({
    id: `page-${path}`,
    icon,
    text: t(title),
    run: visit(path ? [path] : []),
  }));
  const acts = begun.flatMap(([title, icon, right, path, query]) =>
    may(right) ? { id: `page-${title}`, icon, text: t(title), run: visit(path, query) } : [],
  );
  return [...pages, ...acts].filter((option) => includes(option.text, text));
}

const accountOption = ({ id, username, remarks, plan }: Account, visit: Visit): Option => ({
  id: `account-${id}`,
  icon: 'accounts',
  text: username,
  run: visit(['accounts', id]),
  note: [plan, remarks].filter(Boolean).join(' · '),
});

function groupOf<Item>(
  title: TextKey,
  icon: IconName,
  items: readonly Item[] | undefined,
  optionOf: (item: Item) => Omit<Option, 'id' | 'icon'>,
): Group {
  return {
    title,
    options: (items ?? []).map((item, i) => ({ id: `${icon}-${i}`, icon, ...optionOf(item) })),
  };
}

/**
 * Asks for everything that the user may read, after the typing has settled. What fails or is too slow leaves the others as they are.
 * `accounts` apart: what can be done with one follows them.
 */
function useFound(search: string, visit: Visit) {
  const settled = useSettled(search, SETTLE_MS);
  const isLong = search.length >= MIN_CHARACTERS;
  const asked = isLong && settled.length >= MIN_CHARACTERS ? settled : null;
  const ask = <Query,>(right: Right, query: Query) => (asked !== null && may(right) ? { query } : null);
  const named = { search: asked ?? '', limit: SHOWN };
  const accounts = useLoad('listAccounts', ask('listAccounts', named));
  const sessions = useLoad('listSessions', ask('listSessions', named));
  const logins = useLoad('listLogins', ask('listLogins', named));
  const games = useLoad('getHeartbeatSums', ask('getHeartbeatSums', GAMES));
  const changes = useLoad('listAudit', ask('listAudit', named));
  const gamesFound = games.data?.items.filter(({ key }) => key !== null && includes(key, asked ?? ''));
  const groups: readonly Group[] = [
    groupOf('nav.sessions', 'sessions', sessions.data?.items, ({ username, client, destination }) => ({
      text: username,
      note: `${client.address} → ${destination.host}:${destination.port}`,
      run: visit(['sessions'], { search: asked }),
    })),
    groupOf('sessions.logins', 'keyboard', logins.data?.items, ({ at, username, client, outcome }) => ({
      text: username || client,
      note: `${t(`login.outcome.${outcome}`)} · ${client} · ${localTime(at)}`,
      run: visit(['sessions', 'logins'], { search: asked }),
    })),
    groupOf('nav.heartbeats', 'heartbeats', gamesFound?.slice(0, SHOWN), (game) => ({
      text: game.key ?? '',
      note: bytes(game.bytesUp + game.bytesDown),
      run: visit(['heartbeats'], { game: game.key, range: 'month' }),
    })),
    groupOf('settings.audit', 'check', changes.data?.items, ({ at, action, actor, object }) => ({
      text: textOf(`audit.${action}`) ?? action,
      note: [object.name, actor, localTime(at)].filter(Boolean).join(' · '),
      run: visit(['audit'], { search: asked }),
    })),
  ];
  const isPending = [accounts, sessions, logins, games, changes].some(({ pending }) => pending);
  return {
    accounts: accounts.data?.items ?? [],
    groups,
    isPending: isLong && (search !== settled || isPending),
  };
}
