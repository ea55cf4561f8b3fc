// The address to which players connect, which links, QR codes and files contain, with its source; and the rules of the players' PAC
// files: which destinations use the proxy, one rule per line, in order.
import type { PacRules, PublicAddress } from '../../api-types.js';
import { call, callWithEtag, me, useUser } from '../../lib/api.js';
import { type Draft, useDraft } from '../../lib/draft.js';
import { hostPort, readNumber } from '../../lib/format.js';
import { type TextKey, t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href } from '../../lib/router.js';
import { Facts, Tag } from '../../ui/basics.js';
import { AreaField, InputField, SegmentsField } from '../../ui/form.js';
import { Icon } from '../../ui/icons.js';
import { type Overtaken, SettingsForm, useSaving } from '../../ui/settings-form.js';
import { WhenLoaded } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';

/**
 * Warns beside a link whose host the daemon guessed: names the host, its source, and why it may be wrong. Renders nothing for a
 * configured host.
 * @param isHere on the page that sets the address
 */
export function LinkNotice({ isHere = false }: { isHere?: boolean }) {
  const link = useUser()?.link;
  if (!link || link.guess === null) return null;
  return (
    <p class="notice" role="note">
      <Icon name="warn" />
      <span>
        {t(`publicAddress.guess.${link.guess}`, { host: link.host })}{' '}
        {!isHere && <a href={href(['settings', 'address'])}>{t('publicAddress.set')}</a>}
      </span>
    </p>
  );
}

export function PublicAddressSettings() {
  const saved = useLoad('getPublicAddress', {}, { topics: ['settings'] });
  return (
    <WhenLoaded of={saved} rows={5} keeps>
      {(data) => <AddressForm saved={data} onSaved={saved.reload} />}
    </WhenLoaded>
  );
}

/** The form owns its text. The lines below show a change from elsewhere. */
function AddressForm({ saved, onSaved }: { saved: PublicAddress; onSaved: () => void }) {
  const ofConsole = (source: PublicAddress['hostSource'], value: string | number | null) =>
    source === 'console' && value !== null ? String(value) : '';
  const draft = useDraft({
    host: ofConsole(saved.hostSource, saved.host),
    port: ofConsole(saved.portSource, saved.port),
  });
  const { control } = draft;
  const { host, port } = draft.values;
  const portRead = readNumber(port, { min: 1, max: 65_535, whole: true });
  const isValid = portRead !== undefined;
  const save = async () => {
    await call('setPublicAddress', { body: { host: host.trim() || null, port: portRead ?? null } });
    me.set(await call('getMe'));
    notify(t('settings.saved'));
    draft.reset();
    onSaved();
  };
  const { configured, link } = saved;
  const whenEmpty = (value: string | number | null) =>
    value === null ? undefined : t('publicAddress.configured', { value: String(value) });
  const hostFrom: TextKey =
    link.guess === null ? `effective.source.${saved.hostSource}` : 'publicAddress.guessed';
  const portFrom: TextKey =
    saved.port === null ? 'publicAddress.ofListener' : `effective.source.${saved.portSource}`;
  return (
    <SettingsForm draft={draft} right="setPublicAddress" isValid={isValid} save={save}>
      <p class="soft">{t('publicAddress.text')}</p>
      <LinkNotice isHere />
      <InputField
        of="publicAddress.host"
        hint={whenEmpty(configured.host)}
        {...control('host')}
        placeholder={configured.host ?? 'gate.example.com'}
        maxLength={253}
      />
      <InputField
        of="publicAddress.port"
        isWrong={!isValid}
        hint={whenEmpty(configured.port)}
        {...control('port')}
        inputMode="numeric"
        placeholder={String(link.port)}
        maxLength={5}
      />
      <Facts
        of={[
          [t('publicAddress.inUse'), <code data-link>socks5h://…@{hostPort(link)}</code>],
          [t('publicAddress.hostFrom'), <Tag>{t(hostFrom)}</Tag>],
          [t('publicAddress.portFrom'), <Tag>{t(portFrom)}</Tag>],
        ]}
      />
    </SettingsForm>
  );
}

const WAYS = ['proxy', 'direct'] as const;
type Fields = Pick<PacRules, 'otherwise'> & { readonly text: string; readonly etag: string | null };

export function PacSettings() {
  const saved = useLoad('getPacRules', {}, { topics: ['settings'] });
  const draft = useDraft<Fields>({
    text: textOf(saved.data?.rules ?? []),
    otherwise: saved.data?.otherwise ?? 'proxy',
    etag: saved.etag,
  });
  const { control } = draft;
  const saving = useSaving(() => callWithEtag('getPacRules'));
  const theirs = saving.theirs;
  const { text, otherwise } = draft.values;
  const read = readRules(text);
  const save = async () => {
    const { changes } = draft;
    const body = {
      rules: theirs && changes.text === undefined ? theirs.answer.rules : read.rules,
      otherwise: changes.otherwise ?? theirs?.answer.otherwise ?? otherwise,
    };
    saved.put(await callWithEtag('setPacRules', { body, etag: (theirs ?? draft.base).etag }));
    notify(t('settings.saved'));
    draft.reset();
  };
  return (
    <WhenLoaded of={saved} rows={6} keeps>
      {() => (
        <SettingsForm
          draft={draft}
          work={saving}
          right="setPacRules"
          isValid={read.wrongLine === null}
          save={save}
          conflict={theirs && overtaken(draft, theirs.answer)}
        >
          <p class="soft">{t('pac.text')}</p>
          <AreaField
            of="pac.rules"
            error={read.wrongLine === null ? undefined : t('pac.wrongLine', { line: read.wrongLine })}
            {...control('text')}
            path="match"
            rows={10}
            placeholder={'proxy *.game.example\ndirect 203.0.113.0/24'}
            mono
          />
          <SegmentsField
            of="pac.otherwise"
            {...control('otherwise')}
            options={WAYS.map((value) => ({ value, label: t(`pac.${value}`) }))}
          />
        </SettingsForm>
      )}
    </WhenLoaded>
  );
}

function overtaken({ base, changes }: Draft<Fields>, { rules, otherwise }: PacRules): readonly Overtaken[] {
  const text = textOf(rules);
  return [
    {
      label: t('pac.rules'),
      theirs: text === base.text ? null : text || '—',
      mine: changes.text === undefined ? null : changes.text || '—',
    },
    {
      label: t('pac.otherwise'),
      theirs: otherwise === base.otherwise ? null : t(`pac.${otherwise}`),
      mine: changes.otherwise === undefined ? null : t(`pac.${changes.otherwise}`),
    },
  ].filter(({ theirs, mine }) => theirs !== null || mine !== null);
}

function textOf(rules: PacRules['rules']): string {
  return rules.map(({ match, via }) => `${via} ${match}`).join('\n');
}

/** Reads the rules of the lines that are not empty. `wrongLine` counts from 1. The daemon checks the matches themselves. */
function readRules(text: string): { rules: PacRules['rules']; wrongLine: number | null } {
  const rules: PacRules['rules'][number][] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, word, match] = /^\s*(proxy|direct)\s+(\S+)\s*$/i.exec(line) ?? [];
    const via = WAYS.find((way) => way === word?.toLowerCase());
    if (via === undefined || match === undefined) return { rules, wrongLine: index + 1 };
    rules.push({ match, via });
  }
  return { rules, wrongLine: null };
}
