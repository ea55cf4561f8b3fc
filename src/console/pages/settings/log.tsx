// The newest lines of the daemon's log. The list follows the log, and stands still while somebody reads further down.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { LogLine, LogPage as Page } from '../../api-types.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { partsOf, usePlace } from '../../lib/router.js';
import { At, Button, CopyButton, State, type Tone } from '../../ui/basics.js';
import { FilterChips, List } from '../../ui/list/list.js';
import { Empty } from '../../ui/states.js';

const FROM_LEVELS = ['info', 'warn', 'error'] as const;
const TONES: Readonly<Record<LogLine['level'], Tone>> = {
  trace: 'none',
  debug: 'none',
  info: 'info',
  warn: 'warn',
  error: 'bad',
  fatal: 'bad',
};
const LINES_PER_PAGE = 200;
const READ_EVERY_MS = 2_000;

export function LogPage() {
  const { query } = usePlace();
  const asked = {
    ...partsOf(query, 'search', 'cursor'),
    level: FROM_LEVELS.find((level) => level === query.get('level')),
    limit: LINES_PER_PAGE,
  };
  const list = useLoad('listLog', { query: asked }, { everyMs: READ_EVERY_MS });
  const [stopped, setStopped] = useState(false);
  const { top, isAbove } = useIsAbove();
  const isPaused = stopped || isAbove;
  const page = useHeld(list.pending ? undefined : list.data, isPaused, JSON.stringify(asked)) ?? list.data;
  const newest = page?.items[0]?.id ?? 0;
  const newer = list.data && page !== list.data ? list.data.items.filter(({ id }) => id > newest).length : 0;
  const follow = () => {
    setStopped(false);
    top.current?.closest('main')?.scrollTo({ top: 0 });
  };
  return (
    <>
      <p class="soft">{t('log.text', { node: page?.node ?? '…' })}</p>
      <List
        toolbar={top}
        list={{ ...list, data: page }}
        search={t('log.search')}
        chips={<FilterChips name="level" values={FROM_LEVELS} text={(level) => t(`log.from.${level}`)} />}
        tools={
          <>
            <Button pressed={stopped} onClick={() => setStopped(!stopped)}>
              {t('log.pause')}
            </Button>
            {page && <CopyButton text={page.items.map(asLine).join('')} label={t('log.copy')} />}
          </>
        }
        empty={<Empty icon="search" title={t('log.empty')} text={t('log.empty.text')} />}
        table={(lines) => (
          <ol class="log">
            {lines.map((line) => (
              <Line key={line.id} line={line} />
            ))}
          </ol>
        )}
      >
        {isPaused && (
          <div class="paused" role="status">
            {pausedText(newer)}
            <Button onClick={follow}>{t('log.resume')}</Button>
          </div>
        )}
      </List>
    </>
  );
}

function pausedText(newer: number): string {
  if (newer === 0) return t('log.paused');
  return newer < LINES_PER_PAGE ? t('log.pausedNewer', { n: newer }) : t('log.pausedMany', { n: newer - 1 });
}

/** Whether the element of `top` has been scrolled out of the window, upwards. */
function useIsAbove() {
  const top = useRef<HTMLDivElement>(null);
  const [isAbove, setIsAbove] = useState(false);
  useEffect(() => {
    if (!top.current) return;
    const observer = new IntersectionObserver(([seen]) => {
      if (seen) setIsAbove(!seen.isIntersecting && seen.boundingClientRect.bottom <= 0);
    });
    observer.observe(top.current);
    return () => observer.disconnect();
  }, []);
  return { top, isAbove };
}

/** Returns the newest page, and while `isHeld` the one that was shown when that began. Another `key` asks for other lines. */
function useHeld(page: Page | undefined, isHeld: boolean, key: string): Page | undefined {
  const held = useRef<{ key: string; page: Page } | null>(null);
  if (page && (!isHeld || held.current?.key !== key)) held.current = { key, page };
  return held.current?.key === key ? held.current.page : undefined;
}

function asLine({ level, at, message, fields }: LogLine): string {
  return `${JSON.stringify({ level, time: at, msg: message, ...fields })}\n`;
}

function Line({ line }: { line: LogLine }) {
  return (
    <li>
      <span class="soft">
        <At at={line.at} />
      </span>
      <State tone={TONES[line.level]}>{t(`log.level.${line.level}`)}</State>
      <div class="what">
        <strong>{line.message}</strong>
        {Object.entries(line.fields).map(([name, value]) => (
          <Value key={name} name={name} value={value} />
        ))}
      </div>
    </li>
  );
}

/** An object, such as an error, opens; everything else is short. */
function Value({ name, value }: { name: string; value: unknown }) {
  const message = typeof value === 'object' && value !== null && 'message' in value ? value.message : null;
  if (typeof message !== 'string')
    return (
      <span>
        <span class="faint">{name}</span>{' '}
        <code>{typeof value === 'object' ? JSON.stringify(value) : String(value)}</code>
      </span>
    );
  return (
    <details>
      <summary>
        <span class="faint">{name}</span> <code>{message}</code>
      </summary>
      <pre>{JSON.stringify(value, null, 2).replaceAll('\\n', '\n')}</pre>
    </details>
  );
}
