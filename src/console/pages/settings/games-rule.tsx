// One game rule as fields. The fields hold text; `readRule` reads it when the operator saves or tests the rules.
import type { ComponentChildren } from 'preact';
import type { GameRule } from '../../api-types.js';
import { controlOf } from '../../lib/draft.js';
import { readNumber } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { InputField, optionsOf, Segments, SelectField } from '../../ui/form.js';

const DEFAULT_BYTES = '4096';
const MAX_BYTES = 65_536;

/** @param key identifies the rule, also after it is moved */
export function ruleFields(rule: GameRule | null, key: string) {
  const { hosts = [], ports = [], protocol = 'any' as const } = rule?.match ?? {};
  const kind: 'fixed' | 'pattern' = rule?.gameId === undefined ? 'fixed' : 'pattern';
  return {
    key,
    kind,
    id: rule?.id ?? '',
    pattern: rule?.gameId ?? '',
    maxBytes: rule?.maxBytes === undefined ? DEFAULT_BYTES : String(rule.maxBytes),
    protocol,
    /** One or more hosts, separated by commas. */
    hosts: hosts.join(', '),
    ports: ports.join(', '),
    /** The rule as the daemon sent it. The form sends it unchanged when no field was changed. */
    original: rule,
  };
}
export type RuleFields = Readonly<ReturnType<typeof ruleFields>>;

/** Returns the rule that the fields describe; undefined while a field is missing or invalid. */
export function readRule(fields: RuleFields): GameRule | undefined {
  const { original, key, ...texts } = fields;
  if (original) {
    const { original: _, key: __, ...before } = ruleFields(original, key);
    if (JSON.stringify(before) === JSON.stringify(texts)) return original;
  }
  const ports = readPorts(fields.ports);
  const maxBytes = readMaxBytes(fields);
  if (ports === undefined || maxBytes === undefined || nameOf(fields).trim() === '') return undefined;
  const hosts = words(fields.hosts);
  const match = {
    ...(hosts.length > 0 ? { hosts } : {}),
    ...(ports.length > 0 ? { ports } : {}),
    ...(fields.protocol === 'any' ? {} : { protocol: fields.protocol }),
  };
  return fields.kind === 'fixed' ? { id: fields.id, match } : { gameId: fields.pattern, match, maxBytes };
}

const nameOf = ({ kind, id, pattern }: RuleFields): string => (kind === 'fixed' ? id : pattern);

const readMaxBytes = ({ kind, maxBytes }: RuleFields): number | undefined =>
  kind === 'fixed' ? 0 : (readNumber(maxBytes, { min: 1, max: MAX_BYTES, whole: true }) ?? undefined);

function words(text: string): string[] {
  return text.split(/[,，、\s]+/).filter((part) => part !== '');
}

/** Reads ports and port ranges; undefined when an entry is neither. */
function readPorts(text: string): (number | string)[] | undefined {
  const ports = words(text);
  const isPort = (digits: string) => Number(digits) >= 1 && Number(digits) <= 65_535;
  const isRange = (part: string) => {
    const [first = '', last = first] = part.split('-');
    return (
      /^\d{1,5}(-\d{1,5})?$/.test(part) && isPort(first) && isPort(last) && Number(first) <= Number(last)
    );
  };
  if (!ports.every(isRange)) return undefined;
  return ports.map((part) => (part.includes('-') ? part : Number(part)));
}

interface Props {
  readonly index: number;
  readonly fields: RuleFields;
  readonly onChange: (patch: Partial<RuleFields>) => void;
  /** Also marks missing fields, because the operator has tried to save. */
  readonly strict: boolean;
  readonly actions: ComponentChildren;
}

export function RuleCard({ index, fields, onChange, strict, actions }: Props) {
  const { kind } = fields;
  const control = controlOf(fields, onChange);
  const missing = strict && nameOf(fields).trim() === '' ? t('games.needed') : undefined;
  return (
    <section class="card stack" aria-label={t('games.rule', { n: index + 1 })}>
      <div class="row wrap rule-head">
        <strong class="number">{index + 1}</strong>
        <Segments
          {...control('kind')}
          label={t('games.kind')}
          options={optionsOf(['fixed', 'pattern'], (of) => t(`games.${of}`))}
        />
        <span class="grow" />
        {actions}
      </div>
      <div class="grid-2">
        {/* The two kinds have separate keys: a reused field would keep attributes that the other kind does not set. */}
        {kind === 'fixed' ? (
          <InputField key="id" label="GameID" error={missing} {...control('id')} maxLength={128} />
        ) : (
          <InputField
            key="pattern"
            of="games.pattern"
            error={missing}
            {...control('pattern')}
            placeholder="GAMEID=([A-Z0-9]+);"
            maxLength={1_000}
          />
        )}
        <SelectField
          key="protocol"
          of="games.protocol"
          {...control('protocol')}
          options={optionsOf(['any', 'tcp', 'udp'], (of) =>
            of === 'any' ? t('games.any') : of.toUpperCase(),
          )}
        />
        <InputField key="hosts" of="games.hosts" {...control('hosts')} placeholder={t('games.any')} />
        <InputField
          key="ports"
          of="games.ports"
          isWrong={readPorts(fields.ports) === undefined}
          {...control('ports')}
          placeholder={t('games.any')}
        />
        {kind === 'pattern' && (
          <InputField
            key="maxBytes"
            of="games.maxBytes"
            isWrong={readMaxBytes(fields) === undefined}
            {...control('maxBytes')}
            inputMode="numeric"
          />
        )}
      </div>
    </section>
  );
}
