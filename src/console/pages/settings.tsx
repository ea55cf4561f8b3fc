// Settings: a list of sections, each with its own address.

import type { Scope } from '../api-types.js';
import { isAdministrator, may } from '../lib/api.js';
import { type TextKey, t } from '../lib/i18n.js';
import { href } from '../lib/router.js';
import { Tabs } from '../ui/tabs.js';
import { ApiDocument } from './api-document.js';
import { AuditPage } from './audit.js';
import { LogPage } from './log.js';
import { NoticeHistory } from './notices.js';
import { AdminSettings } from './settings-admin.js';
import { EffectiveSettings, RetentionSettings } from './settings-data.js';
import { GameSettings } from './settings-games.js';
import { NodeSettings } from './settings-nodes.js';
import { NoticeSettingsPage } from './settings-notices.js';
import { OperatorSettings } from './settings-operators.js';
import { PacSettings } from './settings-pac.js';
import { PlanSettings } from './settings-plans.js';
import { PublicAddressSettings } from './settings-public-address.js';
import { TokenSettings } from './settings-tokens.js';
import { WhitelistSettings } from './settings-whitelist.js';

const SECTIONS = {
  whitelist: { text: 'settings.whitelist', Page: WhitelistSettings, scope: 'settings:read' },
  address: { text: 'settings.address', Page: PublicAddressSettings, scope: 'settings:read' },
  pac: { text: 'pac.title', Page: PacSettings, scope: 'settings:read' },
  plans: { text: 'settings.plans', Page: PlanSettings, scope: 'settings:read' },
  admin: { text: 'settings.admin', Page: AdminSettings },
  operators: { text: 'operators.title', Page: OperatorSettings, role: 'administrator' },
  games: { text: 'settings.games', Page: GameSettings, scope: 'settings:read' },
  notices: { text: 'settings.notices', Page: NoticeHistory, scope: 'settings:read' },
  reminders: { text: 'settings.reminders', Page: NoticeSettingsPage, scope: 'settings:read' },
  nodes: { text: 'settings.nodes', Page: NodeSettings, scope: 'settings:read' },
  audit: { text: 'settings.audit', Page: AuditPage, scope: 'audit:read' },
  log: { text: 'log.title', Page: LogPage, scope: 'log:read' },
  tokens: { text: 'settings.tokens', Page: TokenSettings },
  retention: { text: 'settings.retention', Page: RetentionSettings, scope: 'settings:read' },
  effective: { text: 'settings.effective', Page: EffectiveSettings, scope: 'settings:read' },
  api: { text: 'settings.api', Page: ApiDocument },
} as const satisfies Record<
  string,
  { text: TextKey; Page: () => unknown; scope?: Scope; role?: 'administrator' }
>;
type Section = keyof typeof SECTIONS;

export function SettingsPage({ tab }: { tab: string | undefined }) {
  const names = (Object.keys(SECTIONS) as Section[]).filter((name) => {
    const section = SECTIONS[name];
    if ('role' in section) return isAdministrator();
    return !('scope' in section) || may(section.scope);
  });
  const current = names.find((name) => name === tab) ?? names[0] ?? 'admin';
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
