// The frame of the console: rail, page, banners and keyboard shortcuts. `PLACES` maps each path to its page.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Me } from './api-types.js';
import { useAction } from './lib/action.js';
import { ApiError, call, lapsed, may, me, online, type Right, signOut } from './lib/api.js';
import { useArrival } from './lib/arrival.js';
import { cell, useCell } from './lib/cell.js';
import { leave } from './lib/draft.js';
import { type TextKey, t, useLanguage } from './lib/i18n.js';
import { go, href, placeNow, usePlace } from './lib/router.js';
import { ConfirmDialog, LoginPage, SignInAgain } from './pages/login.js';
import { Button, Facts, useWidth } from './ui/basics.js';
import { Dialog, UnsavedQuestion } from './ui/dialog.js';
import { Icon, type IconName } from './ui/icons.js';
import { type Lazy, lazyDialog, lazyPage } from './ui/lazy.js';
import { Menu } from './ui/menu.js';
import { Gone } from './ui/page.js';
import { Failure } from './ui/states.js';
import { Switches } from './ui/switches.js';
import { Toasts } from './ui/toast.js';

/** The rail hides a page whose data the user may not read. A page without `right` is for everybody. */
const PLACES: readonly {
  path: string;
  icon: IconName;
  key: string;
  text: TextKey;
  right?: Right;
}[] = [
  { path: '', icon: 'overview', key: 'o', text: 'nav.overview', right: 'getTrafficReport' },
  { path: 'accounts', icon: 'accounts', key: 'a', text: 'nav.accounts', right: 'listAccounts' },
  { path: 'sessions', icon: 'sessions', key: 's', text: 'nav.sessions', right: 'listSessions' },
  { path: 'heartbeats', icon: 'heartbeats', key: 'h', text: 'nav.heartbeats', right: 'getHeartbeatSeries' },
  { path: 'traffic', icon: 'traffic', key: 't', text: 'nav.traffic', right: 'getTrafficReport' },
  { path: 'agents', icon: 'agents', key: 'g', text: 'nav.agents', right: 'listAgents' },
  { path: 'plans', icon: 'plans', key: 'p', text: 'settings.plans', right: 'setPlans' },
  { path: 'operators', icon: 'operators', key: 'r', text: 'operators.title', right: 'listOperators' },
  { path: 'notices', icon: 'send', key: 'n', text: 'settings.notices', right: 'listNotices' },
  { path: 'events', icon: 'events', key: 'v', text: 'events.title', right: 'listEventReceivers' },
  { path: 'audit', icon: 'audit', key: 'u', text: 'settings.audit', right: 'listAudit' },
  { path: 'settings', icon: 'settings', key: 'e', text: 'nav.settings' },
];

/** In a narrower window the rail is a bar at the foot: the first pages, and all others in a menu. */
const BAR_BELOW_PX = 641;
const IN_BAR = 4;

export function App() {
  useLanguage();
  const who = useCell(me);
  const before = useCell(lapsed);
  const [failure, setFailure] = useState<unknown>(null);
  const ask = () => {
    setFailure(null);
    call('getMe').then(
      (answer) => me.set(answer),
      (error: unknown) => {
        if (!(error instanceof ApiError) || error.status !== 401) setFailure(error);
      },
    );
  };
  useEffect(ask, []);
  if (who === null && before === null) return <LoginPage />;
  if (who === undefined) {
    if (failure) {
      return (
        <main class="alone">
          <Failure error={failure} retry={ask} />
        </main>
      );
    }
    // The empty frame has the final layout, so nothing moves when the answer arrives.
    return (
      <div class="frame" role="status" aria-label={t('state.loading')}>
        <div class="rail" />
      </div>
    );
  }
  // When a session ends, the page stays unchanged below the sign-in dialog. Another user who signs in gets a new page.
  const shown = who ?? before;
  return (
    shown && (
      <>
        <Console key={shown.username} who={shown} />
        {who === null && <SignInAgain who={shown} />}
      </>
    )
  );
}

function Console({ who }: { who: Me }) {
  const isOnline = useCell(online);
  const { path, query } = usePlace();
  useArrival(path.map(encodeURIComponent).join('/'), query);
  const [help, setHelp] = useState(false);
  const isSearching = useCell(searching);
  const places = useMemo(() => PLACES.filter(({ right }) => right === undefined || may(right)), [who]);
  // Without the overview, the address of the console is that of the first page.
  const start = places[0]?.path ?? '';
  useKeyboard(places, () => setHelp(true));
  const here = PLACES.find((one) => one.path === (path[0] ?? start));
  const isBar = useWidth() < BAR_BELOW_PX;
  const inBar = isBar ? places.slice(0, IN_BAR) : places;
  useEffect(() => {
    document.title = here ? `${t(here.text)} · Pulsegate` : 'Pulsegate';
  });
  return (
    <div class="frame">
      <a
        class="skip"
        href={`#${location.hash.slice(1)}`}
        onClick={(event) => {
          event.preventDefault();
          document.querySelector('main')?.focus();
        }}
      >
        {t('nav.skip')}
      </a>
      <nav class="rail" aria-label={t('nav.label')}>
        <a class="brand" href={href([])}>
          <img src="./icon.svg" alt="" width="22" height="22" />
          <span>Pulsegate</span>
        </a>
        <Links to={inBar} here={here} />
        {isBar ? <MorePages places={places.slice(IN_BAR)} here={here} who={who} /> : <RailFoot who={who} />}
      </nav>
      <main tabIndex={-1}>
        {!isOnline && (
          <div class="banner" role="alert">
            <Icon name="warn" /> {t('state.offline')}
          </div>
        )}
        {here && !places.includes(here) ? (
          <Failure error={new ApiError(403, 'wrong-role', null)} />
        ) : (
          <Page path={path.length === 0 && start !== '' ? [start] : path} />
        )}
      </main>
      <Toasts />
      <UnsavedQuestion />
      <ConfirmDialog />
      {isSearching && (
        <Palette places={places} timeZone={who.timeZone} onClose={() => searching.set(false)} />
      )}
      {help && <KeyboardHelp places={places} onClose={() => setHelp(false)} />}
    </div>
  );
}

/** Whether the search over everything is open. */
const searching = cell(false);

const Palette = lazyDialog(async () => (await import('./pages/palette.js')).Palette);

interface LinksProps {
  readonly to: typeof PLACES;
  readonly here: (typeof PLACES)[number] | undefined;
  readonly onClick?: () => void;
}

function Links({ to, here, onClick }: LinksProps) {
  return to.map((one) => (
    <a
      key={one.path}
      href={href(one.path ? [one.path] : [])}
      aria-current={one === here ? 'page' : undefined}
      onClick={onClick}
    >
      <Icon name={one.icon} size={18} />
      <span>{t(one.text)}</span>
    </a>
  ));
}

/** What does not fit into the bar of a phone. */
function MorePages({ places, here, who }: { places: typeof PLACES; here: LinksProps['here']; who: Me }) {
  const isHere = here !== undefined && places.includes(here);
  const summary = (
    <>
      <Icon name="more" size={18} />
      <span>{t('list.more')}</span>
    </>
  );
  return (
    <Menu look="rail-more" summaryLook={isHere ? 'current' : ''} summary={summary}>
      {(close) => (
        <div class="menu">
          <Links to={places} here={here} onClick={close} />
          <RailFoot who={who} />
        </div>
      )}
    </Menu>
  );
}

/** The pages of one object. */
const AccountPage = lazyPage(async () => (await import('./pages/accounts/account.js')).AccountPage);
const RunPage = lazyPage(async () => (await import('./pages/agents/runs.js')).RunPage);
const ConversationPage = lazyPage(async () => (await import('./pages/agents/agents.js')).AgentSessionPage);

/** The others by the first part of their paths; `tab` is the second. Each is loaded when it is first shown. */
const PAGES: Readonly<Record<string, Lazy<{ tab: string | undefined }>>> = {
  overview: lazyPage(async () => (await import('./pages/overview/overview.js')).OverviewPage),
  accounts: lazyPage(async () => (await import('./pages/accounts/accounts.js')).AccountsPage),
  sessions: lazyPage(async () => (await import('./pages/sessions/sessions.js')).SessionsPage),
  traffic: lazyPage(async () => (await import('./pages/overview/traffic.js')).TrafficPage),
  heartbeats: lazyPage(async () => (await import('./pages/sessions/heartbeats.js')).HeartbeatsPage),
  agents: lazyPage(async () => (await import('./pages/agents/agents.js')).AgentsPage),
  plans: lazyPage(async () => (await import('./pages/plans/plans.js')).PlansPage),
  operators: lazyPage(async () => (await import('./pages/operators/operators.js')).OperatorsPage),
  notices: lazyPage(async () => (await import('./pages/notices/notices.js')).NoticesPage),
  events: lazyPage(async () => (await import('./pages/events/events.js')).EventsPage),
  audit: lazyPage(async () => (await import('./pages/audit/audit.js')).AuditPage),
  settings: lazyPage(async () => (await import('./pages/settings/settings.js')).SettingsPage),
};

/** Begins to load the page of the address, while the texts and the user are loaded. */
export function loadPage(): void {
  const [first = 'overview', second] = placeNow().path;
  const page = first === 'accounts' && second ? AccountPage : pageAt(first);
  page?.load().catch(() => {});
}

const pageAt = (name: string) => (Object.hasOwn(PAGES, name) ? PAGES[name] : undefined);

function Page({ path }: { path: readonly string[] }) {
  const [first = 'overview', second, third] = path;
  if (first === 'accounts' && second) return <AccountPage key={second} id={second} />;
  if (first === 'agents' && second === 'runs' && third) return <RunPage key={third} id={third} />;
  if (first === 'agents' && second === 'sessions' && third)
    return <ConversationPage key={third} sessionKey={third} />;
  const Shown = pageAt(first);
  if (Shown) return <Shown tab={second} />;
  return <Gone icon="search" of="page.none" to={[]} back="page.none.back" />;
}

/** Ctrl+K searches everything, `/` focuses the search box, `g` and a letter open a page, `?` shows the help. */
function useKeyboard(places: typeof PLACES, showHelp: () => void): void {
  useEffect(() => {
    let goes = 0;
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.altKey) {
        event.preventDefault();
        if (!document.querySelector('dialog[open]')) searching.set(true);
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
      if ((event.target as Element).matches('input:not([type=checkbox]),textarea,select')) return;
      if (event.key === '/') {
        // A list's own search comes before the one of the settings beside it.
        const search =
          document.querySelector<HTMLInputElement>('.toolbar [data-search]') ??
          document.querySelector<HTMLInputElement>('[data-search]');
        if (!search) return;
        event.preventDefault();
        search.focus();
        search.select();
      } else if (event.key === '?') showHelp();
      else if (event.key === 'g' && Date.now() - goes > 1_000) goes = Date.now();
      else if (Date.now() - goes < 1_000) {
        goes = 0;
        const place = places.find((one) => one.key === event.key);
        if (place) go(place.path ? [place.path] : []);
      }
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [places, showHelp]);
}

function KeyboardHelp({ places, onClose }: { places: typeof PLACES; onClose: () => void }) {
  const keys: readonly (readonly [string, string])[] = [
    ['Ctrl K', t('palette.title')],
    ['/', t('keys.search')],
    ['↑ ↓ / j k', t('keys.move')],
    ['Enter', t('keys.open')],
    ['Space / x', t('keys.select')],
    ['Esc', t('keys.close')],
    ...places.map((one) => [`g ${one.key}`, t(one.text)] as const),
    ['?', t('keys.help')],
  ];
  return (
    <Dialog title={t('keys.title')} onClose={onClose}>
      <Facts of={keys.map(([key, what]) => [<kbd>{key}</kbd>, what])} />
    </Dialog>
  );
}

/** The signed-in user, and buttons for language, theme and signing out. */
function RailFoot({ who }: { who: Me }) {
  const { busy, run } = useAction();
  return (
    <div class="rail-foot stack close soft">
      <span class="rail-who">
        <span>{who.username}</span>
        <span class="number">
          {who.address} · v{who.version}
        </span>
      </span>
      <div class="row close rail-tools">
        <Button
          icon="search"
          kind="quiet"
          label={`${t('palette.title')} (Ctrl K)`}
          onClick={() => searching.set(true)}
        />
        <Switches />
        <Button
          icon="exit"
          kind="quiet"
          disabled={busy}
          label={t('display.signOut')}
          onClick={() => leave(() => void run(signOut))}
        />
      </div>
    </div>
  );
}
