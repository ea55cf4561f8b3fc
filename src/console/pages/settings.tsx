// Settings: a list of rooms, each with its own address.

import { type TextKey, t } from '../lib/i18n.js';
import { href } from '../lib/router.js';
import { Tabs } from '../ui/tabs.js';
import { ApiDocument } from './api-document.js';
import { AuditPage } from './audit.js';
import { AdminSettings } from './settings-admin.js';
import { EffectiveSettings, RetentionSettings } from './settings-data.js';
import { GameSettings } from './settings-games.js';
import { NodeSettings } from './settings-nodes.js';
import { PlanSettings } from './settings-plans.js';
import { PublicAddressSettings } from './settings-public-address.js';
import { TokenSettings } from './settings-tokens.js';
import { WhitelistSettings } from './settings-whitelist.js';

const SECTIONS = {
  whitelist: { text: 'settings.whitelist', Page: WhitelistSettings },
  address: { text: 'settings.address', Page: PublicAddressSettings },
  plans: { text: 'settings.plans', Page: PlanSettings },
  admin: { text: 'settings.admin', Page: AdminSettings },
  games: { text: 'settings.games', Page: GameSettings },
  nodes: { text: 'settings.nodes', Page: NodeSettings },
  audit: { text: 'settings.audit', Page: AuditPage },
  tokens: { text: 'settings.tokens', Page: TokenSettings },
  retention: { text: 'settings.retention', Page: RetentionSettings },
  effective: { text: 'settings.effective', Page: EffectiveSettings },
  api: { text: 'settings.api', Page: ApiDocument },
} as const satisfies Record<string, { text: TextKey; Page: () => unknown }>;
type Section = keyof typeof SECTIONS;

export function SettingsPage({ tab }: { tab: string | undefined }) {
  const names = Object.keys(SECTIONS) as Section[];
  const current = names.find((name) => name === tab) ?? 'whitelist';
  const { Page } = SECTIONS[current];
  return (
    <>
      <header class="page-head">
        <h1>{t('nav.settings')}</h1>
      </header>
      <Tabs
        label={t('nav.settings')}
        tabs={names.map((name) => ({
          text: t(SECTIONS[name].text),
          link: href(['settings', name]),
          current: name === current,
        }))}
      />
      <Page />
    </>
  );
}
