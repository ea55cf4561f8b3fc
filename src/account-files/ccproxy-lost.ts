// The settings of a CCProxy account that Pulsegate cannot keep. An import lists them before it writes anything.

/** Reads one key of the account's section; undefined: it is missing or empty. */
type ReadKey = (name: string) => string | undefined;

const isSet = (value: string | undefined): boolean => value !== undefined && value.trim() === '1';
const isChosen = (value: string | undefined): boolean => value !== undefined && Number(value) >= 0;

/** Values of `ServiceMask` that allow every service that CCProxy has. */
const ALL_SERVICES = new Set(['254', '255']);
const SERVICES = ['WWW', 'Mail', 'FTP', 'Telnet', 'Dial', 'Others'];

const LOSSES = {
  // CCProxy lets in nobody who must come from an address that is not set. Here the account is bound to none.
  'client-address': (of: ReadKey) =>
    isSet(of('EnableIPAddress')) && of('IPAddressLow') === undefined && of('IPAddressHigh') === undefined,
  'mac-address': (of: ReadKey) => isSet(of('EnableMACAddress')) && of('MACAddress') !== undefined,
  'web-filter': (of: ReadKey) => isChosen(of('WebFilter')),
  'time-schedule': (of: ReadKey) => isChosen(of('TimeSchedule')),
  group: (of: ReadKey) => isSet(of('BelongsGroup')),
  'left-time': (of: ReadKey) => isSet(of('EnableLeftTime')),
  'bandwidth-quota': (of: ReadKey) => isSet(of('EnableBandwidthQuota')),
  'outgoing-address': (of: ReadKey) => of('OutgoingIP') !== undefined,
  services: (of: ReadKey) =>
    SERVICES.some((service) => of(`Enable${service}`) === '0') ||
    !ALL_SERVICES.has(of('ServiceMask')?.trim() ?? '255'),
} satisfies Record<string, (of: ReadKey) => boolean>;

export type LostSetting = keyof typeof LOSSES | 'group-account';

/** What an operator reads; the console has its own texts. */
export const LOST_TEXTS: Readonly<Record<LostSetting, string>> = {
  'client-address':
    'bound to client addresses, but the file names none: the account may log in from everywhere',
  'mac-address': 'MAC address',
  'web-filter': 'web filter',
  'time-schedule': 'time schedule (the file has only its number)',
  group: 'settings of its group',
  'left-time': 'remaining time',
  'bandwidth-quota': 'bandwidth quota (CCProxy counts it over a number of days)',
  'outgoing-address': 'outgoing address',
  services: 'services other than SOCKS switched off',
  'group-account': 'group (not an account)',
};

/** The settings of one account that are lost. */
export function lostSettings(of: ReadKey): LostSetting[] {
  return (Object.keys(LOSSES) as (keyof typeof LOSSES)[]).filter((name) => LOSSES[name](of));
}
