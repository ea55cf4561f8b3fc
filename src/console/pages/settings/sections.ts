// What the settings hold: their groups, by what an operator wants to do, the sections of each, and the fields that the search finds.
import { may, type Right } from '../../lib/api.js';
import type { TextKey } from '../../lib/i18n.js';
import { href } from '../../lib/router.js';
import { NOTICE_FIELDS } from '../notices/form.js';

interface Section {
  readonly text: TextKey;
  readonly right?: Right;
  /** The texts of what can be set, and the key of the configuration that has the same value; '': none. */
  readonly fields: Readonly<Partial<Record<TextKey, string>>>;
  /** The defaults of those without a key. */
  readonly standards?: Readonly<Partial<Record<TextKey, string>>>;
}

const GROUPS = {
  players: ['address', 'exits', 'games', 'pac'],
  access: ['admin', 'whitelist', 'tokens', 'api'],
  data: ['retention', 'backup'],
  server: ['effective', 'nodes', 'log'],
} as const;
type GroupName = keyof typeof GROUPS;
export type SectionName = (typeof GROUPS)[GroupName][number];

export const SECTIONS: Readonly<Record<SectionName, Section>> = {
  address: {
    text: 'settings.address',
    right: 'getPublicAddress',
    fields: { 'publicAddress.host': 'socks.publicHost', 'publicAddress.port': 'socks.publicPort' },
  },
  exits: { text: 'exits.title', right: 'listExits', fields: { 'exits.new': 'socks.upstreams' } },
  games: {
    text: 'settings.games',
    right: 'getGameRules',
    fields: { 'games.add': 'heartbeats.games', 'games.test': '' },
  },
  pac: {
    text: 'pac.title',
    right: 'getPacRules',
    fields: { 'pac.rules': '', 'pac.otherwise': '' },
    standards: { 'pac.rules': '[]', 'pac.otherwise': 'proxy' },
  },
  admin: {
    text: 'settings.admin',
    fields: { 'admin.password': '', 'totp.title': '' },
  },
  whitelist: {
    text: 'settings.whitelist',
    right: 'getWhitelist',
    fields: { 'whitelist.field': '', 'whitelist.try': '' },
    standards: { 'whitelist.field': '[]' },
  },
  tokens: { text: 'settings.tokens', fields: { 'tokens.new': '' } },
  api: { text: 'settings.api', fields: {} },
  retention: {
    text: 'settings.retention',
    right: 'getRetention',
    fields: {
      'retention.heartbeatDays': 'heartbeats.retention.days',
      'retention.heartbeatsPerAccount': 'heartbeats.retention.perAccount',
      'retention.sessionDays': 'trace.retention.days',
      'retention.runDays': 'webhooks.retention',
      'retention.loginDays': 'admin.logins.days',
      'retention.auditDays': 'admin.audit.days',
    },
  },
  backup: { text: 'backup.title', right: 'downloadBackup', fields: { 'backup.download': '' } },
  effective: { text: 'settings.effective', right: 'getEffectiveConfig', fields: {} },
  nodes: { text: 'settings.nodes', right: 'listNodes', fields: {} },
  log: { text: 'log.title', right: 'listLog', fields: {} },
};

/** The groups of which the user may see a section. */
export const groupsNow = () =>
  (Object.keys(GROUPS) as GroupName[])
    .map((group) => {
      const names: readonly SectionName[] = GROUPS[group];
      return { group, sections: names.filter((name) => may(SECTIONS[name].right ?? 'getMe')) };
    })
    .filter(({ sections }) => sections.length > 0);

const NOTICES: Section = { text: 'settings.reminders', right: 'getNoticeSettings', fields: NOTICE_FIELDS };

/** What the search finds: each section that the user may see, and its fields; `where` each is, from the outside in. */
export function settingsToFind() {
  const entriesOf = (path: readonly string[], where: TextKey, { text, fields }: Section) => [
    { text, where: [where], key: '', link: href(path) },
    ...Object.entries(fields).map(([field, key]) => ({
      text: field as TextKey,
      where: [where, text],
      key,
      link: href(path, { field }),
    })),
  ];
  return [
    ...groupsNow().flatMap(({ group, sections }) =>
      sections.flatMap((name) => entriesOf(['settings', name], `settings.group.${group}`, SECTIONS[name])),
    ),
    ...(may('getNoticeSettings') ? entriesOf(['notices', 'settings'], 'settings.notices', NOTICES) : []),
  ];
}
