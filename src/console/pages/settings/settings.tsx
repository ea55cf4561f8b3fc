// Settings: the sections in groups, each with its own address, and a search of what they hold.
import type { ComponentChildren } from 'preact';
import { type TextKey, t } from '../../lib/i18n.js';
import { href } from '../../lib/router.js';
import { lazyPage } from '../../ui/lazy.js';
import { BackLink, PageHead } from '../../ui/page.js';
import { AdminSettings, TokenSettings } from './access/admin.js';
import { ConfigWords } from './config-words.js';
import { BackupSettings, RetentionSettings } from './data.js';
import { ExitSettings } from './exits/exits.js';
import { FindSettings, useFoundField } from './find.js';
import { GameSettings } from './games.js';
import { LogPage } from './log.js';
import { PacSettings, PublicAddressSettings } from './public-address.js';
import { groupsNow, SECTIONS, type SectionName } from './sections.js';
import { EffectiveSettings, NodeSettings } from './server.js';
import { WhitelistSettings } from './whitelist.js';

const PAGES: Readonly<Record<SectionName, (props: Record<never, never>) => ComponentChildren>> = {
  address: PublicAddressSettings,
  exits: ExitSettings,
  games: GameSettings,
  pac: PacSettings,
  admin: AdminSettings,
  whitelist: WhitelistSettings,
  tokens: TokenSettings,
  api: lazyPage(async () => (await import('./api-document.js')).ApiDocument),
  retention: RetentionSettings,
  backup: BackupSettings,
  effective: EffectiveSettings,
  nodes: NodeSettings,
  log: LogPage,
};

/** @param tab name of the section; undefined: all of them */
export function SettingsPage({ tab }: { tab: string | undefined }) {
  useFoundField();
  const current = groupsNow()
    .flatMap(({ sections }) => sections)
    .find((name) => name === tab);
  if (current === undefined)
    return (
      <>
        <PageHead title={t('nav.settings')} />
        <FindSettings>
          <div class="columns">
            <Groups />
          </div>
        </FindSettings>
      </>
    );
  const Page = PAGES[current];
  return (
    <div class="settings">
      <nav class="sections" aria-label={t('nav.settings')}>
        <FindSettings>
          <Groups current={current} />
        </FindSettings>
      </nav>
      <div class="section">
        <PageHead
          title={t(SECTIONS[current].text)}
          back={<BackLink to={['settings']} label={t('nav.settings')} />}
        />
        <ConfigWords keys={SECTIONS[current].fields} standards={SECTIONS[current].standards ?? {}}>
          <Page />
        </ConfigWords>
      </div>
    </div>
  );
}

/** @param current left out: each section says what it holds */
function Groups({ current }: { current?: SectionName }) {
  return groupsNow().map(({ group, sections }) => (
    <section key={group} class={current ? 'tabs' : 'card group'}>
      <h2>{t(`settings.group.${group}`)}</h2>
      {sections.map((name) => (
        <a key={name} href={href(['settings', name])} aria-current={name === current ? 'page' : undefined}>
          <span class={current ? '' : 'strong'}>{t(SECTIONS[name].text)}</span>
          {!current && <span class="soft">{fieldsIn(name)}</span>}
        </a>
      ))}
    </section>
  ));
}

const fieldsIn = (name: SectionName): string =>
  (Object.keys(SECTIONS[name].fields) as TextKey[]).map((field) => t(field)).join(' · ');
