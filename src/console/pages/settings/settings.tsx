// Settings: a list of sections, each with its own address.
import { may, type Right } from '../../lib/api.js';
import { type TextKey, t } from '../../lib/i18n.js';
import { href } from '../../lib/router.js';
import { lazyPage } from '../../ui/lazy.js';
import { Tabs } from '../../ui/menu.js';
import { AdminSettings, TokenSettings } from './access/admin.js';
import { OperatorSettings } from './access/operators.js';
import { AuditPage } from './audit.js';
import { EffectiveSettings, RetentionSettings } from './data.js';
import { ExitSettings } from './exits/exits.js';
import { GameSettings } from './games.js';
import { LogPage } from './log.js';
import { NodeSettings } from './nodes.js';
import { NoticeHistory } from './notices/notices.js';
import { NoticeSettingsPage } from './notices/settings.js';
import { PlanSettings } from './plans.js';
import { PacSettings, PublicAddressSettings } from './public-address.js';
import { WhitelistSettings } from './whitelist.js';

const ApiDocument = lazyPage(async () => (await import('./api-document.js')).ApiDocument);

const SECTIONS = {
  whitelist: { text: 'settings.whitelist', Page: WhitelistSettings, right: 'getWhitelist' },
  address: { text: 'settings.address', Page: PublicAddressSettings, right: 'getPublicAddress' },
  pac: { text: 'pac.title', Page: PacSettings, right: 'getPacRules' },
  plans: { text: 'settings.plans', Page: PlanSettings, right: 'setPlans' },
  admin: { text: 'settings.admin', Page: AdminSettings },
  operators: { text: 'operators.title', Page: OperatorSettings, right: 'listOperators' },
  exits: { text: 'exits.title', Page: ExitSettings, right: 'listExits' },
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
} as const satisfies Record<
  string,
  { text: TextKey; Page: (props: Record<never, never>) => unknown; right?: Right }
>;
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
