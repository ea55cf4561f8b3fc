// Settings: a list of sections, each with its own address.
import { type TextKey, t } from '../lib/i18n.js';
import { may, type Right } from '../lib/rights.js';
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
  whitelist: { text: 'settings.whitelist', Page: WhitelistSettings, right: 'getWhitelist' },
  address: { text: 'settings.address', Page: PublicAddressSettings, right: 'getPublicAddress' },
  pac: { text: 'pac.title', Page: PacSettings, right: 'getPacRules' },
  plans: { text: 'settings.plans', Page: PlanSettings, right: 'setPlans' },
  admin: { text: 'settings.admin', Page: AdminSettings },
  operators: { text: 'operators.title', Page: OperatorSettings, right: 'listOperators' },
  games: { text: 'settings.games', Page: GameSettings, right: 'getGameRules' },
  notices: { text: 'settings.notices', Page: NoticeHistory, right: 'listNotices' },
  reminders: { text: 'settings.reminders', Page: NoticeSettingsPage, right: 'getNoticeSettings' },
  nodes: { text: 'settings.nodes', Page: NodeSettings, right: 'listNodes' },
  audit: { text: 'settings.audit', Page: AuditPage, right: 'listAudit' },
  log: { text: 'log.title', Page: LogPage, right: 'listLog' },
  tokens: { text: 'settings.tokens', Page: TokenSettings },
  retention: { text: 'settings.retention', Page: RetentionSettings, right: 'getRetention' },
  effective: { text: 'settings.effective', Page: EffectiveSettings, right: 'getEffectiveConfig' },
  api: { text: 'settings.api', Page: ApiDocument },
} as const satisfies Record<string, { text: TextKey; Page: () => unknown; right?: Right }>;
type Section = keyof typeof SECTIONS;

export function SettingsPage({ tab }: { tab: string | undefined }) {
  const names = (Object.keys(SECTIONS) as Section[]).filter((name) => {
    const section = SECTIONS[name];
    return !('right' in section) || may(section.right);
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
