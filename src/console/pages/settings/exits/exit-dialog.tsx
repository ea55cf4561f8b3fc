// The dialog for a new exit, and for changing one: only the fields that were changed are sent.
import { useState } from 'preact/hooks';
import type { Exit, ExitChange } from '../../../api-types.js';
import { call } from '../../../lib/api.js';
import { toggled, useDraft } from '../../../lib/draft.js';
import { numberText, readNumber } from '../../../lib/format.js';
import { t } from '../../../lib/i18n.js';
import { type DialogOf, FormDialog } from '../../../ui/dialog.js';
import { AreaField, Checkbox, InputField, optionsOf, SegmentsField, SelectField } from '../../../ui/form.js';
import { useSellers } from '../../accounts/fields/plans.js';

const NAME = /^[\w.-]{1,64}$/;
const FAMILIES = ['', 'ipv4', 'ipv6', 'prefer-ipv4', 'prefer-ipv6'] as const;
const CHOICES = ['account', 'session'] as const;
const RESOLVERS = ['here', 'proxy'] as const;
const MAX_MARK = 0xffff_ffff;
const LIST_ROWS = 3;

function fieldsOf(exit: Exit | null) {
  return {
    name: exit?.name ?? '',
    addresses: exit?.addresses.join('\n') ?? '',
    choose: exit?.choose ?? CHOICES[0],
    family: exit?.family ?? FAMILIES[0],
    upstreams: exit?.upstreams.map(upstreamText).join('\n') ?? '',
    names: exit?.names ?? RESOLVERS[0],
    interface: exit?.interface ?? '',
    mark: numberText(exit?.mark ?? null),
    isDefault: exit?.isDefault ?? false,
    sellers: exit?.sellers ?? [],
  };
}
type Fields = ReturnType<typeof fieldsOf>;

/** How the API takes the fields that it does not take as typed. */
const READ = {
  addresses: linesOf,
  upstreams: (text: string) => linesOf(text).map(readUpstream),
  family: (text: string) => text || null,
  mark: readMark,
  interface: (text: string) => text.trim() || null,
};

/** What was changed, as the API takes it. */
function changeOf({ name: _, ...changes }: Partial<Fields>): ExitChange {
  const read = (name: string, value: unknown) =>
    name in READ ? READ[name as keyof typeof READ](value as string) : value;
  return Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, read(name, value)]));
}

function linesOf(text: string): string[] {
  return text.split(/[\s,，]+/).filter((line) => line !== '');
}
function readMark(text: string) {
  return readNumber(text, { min: 1, max: MAX_MARK, whole: true });
}

/** Without its password, which the daemon does not tell. */
function upstreamText({ proxy, username }: Exit['upstreams'][number]): string {
  return username === null ? proxy : proxy.replace(/^([\w+]+:\/\/)?/, (scheme) => `${scheme}${username}@`);
}

/** Reads `[scheme://][user[:password]@]host:port`. Without a password: the stored one of the same proxy and user name. */
function readUpstream(text: string) {
  const parts = /^([\w+]+:\/\/)?(?:([^:@]+)(?::(.*))?@)?([^@]+)$/.exec(text);
  const [, scheme = '', username, password, where = text] = parts ?? [];
  const login = username === undefined ? { username: null, password: null } : { username };
  return { proxy: scheme + where, ...login, ...(password === undefined ? {} : { password }) };
}

/** @param of null: a new one */
export function ExitDialog({ of: exit, onClose, onDone }: DialogOf<Exit | null>) {
  const [opened] = useState(() => fieldsOf(exit));
  const { values, changes, isDirty, set, control } = useDraft(opened);
  const sellers = useSellers();
  const isNamed = NAME.test(values.name);
  const isMarked = readMark(values.mark) !== undefined;
  const send = async () => {
    const body = changeOf(changes);
    if (exit === null) await call('addExit', { body: { name: values.name, ...body } });
    else await call('changeExit', { params: { name: exit.name }, body });
    onDone();
  };
  return (
    <FormDialog
      title={exit === null ? t('exits.new') : t('exits.edit', { name: exit.name })}
      wide
      onClose={onClose}
      unsaved={isDirty ? 'typed' : null}
      action={t(exit === null ? 'exits.create' : 'settings.save')}
      isReady={isNamed && isMarked && (exit === null || isDirty)}
      send={send}
    >
      {exit === null && (
        <InputField
          of="tokens.name"
          error={values.name === '' || isNamed ? undefined : t('exits.name.wrong')}
          {...control('name')}
          maxLength={64}
          autoFocus
        />
      )}
      <AreaField
        of="exits.addresses"
        {...control('addresses')}
        rows={LIST_ROWS}
        placeholder="192.0.2.7"
        mono
      />
      <div class="grid-2">
        <SegmentsField
          of="exits.choose"
          {...control('choose')}
          options={optionsOf(CHOICES, (each) => t(`exits.choose.${each}`))}
        />
        <SelectField
          of="exits.family"
          {...control('family')}
          options={optionsOf(FAMILIES, (each) => t(`exits.family.${each || 'both'}`))}
        />
      </div>
      <AreaField
        of="exits.upstreams"
        {...control('upstreams')}
        path="upstreams.proxy"
        rows={LIST_ROWS}
        placeholder="user:password@proxy.example:1080"
        mono
      />
      <SegmentsField
        of="exits.names"
        {...control('names')}
        options={optionsOf(RESOLVERS, (each) => t(`exits.names.${each}`))}
      />
      <details>
        <summary>{t('exits.routes')}</summary>
        <div class="grid-2">
          <InputField of="exits.interface" {...control('interface')} placeholder="eth1" />
          <InputField of="exits.mark" isWrong={!isMarked} {...control('mark')} inputMode="numeric" />
        </div>
      </details>
      <Checkbox checked={values.isDefault} onChange={(isDefault) => set({ isDefault })}>
        {t('exits.isDefault')}
      </Checkbox>
      {sellers.length > 0 && (
        <fieldset class="field">
          <legend>{t('exits.sellers')}</legend>
          <div class="grid-2 scopes">
            {sellers.map(({ id, name }) => (
              <Checkbox
                key={id}
                checked={values.sellers.includes(id)}
                onChange={(on) => set({ sellers: [...toggled(new Set(values.sellers), id, on)] })}
              >
                {name}
              </Checkbox>
            ))}
          </div>
        </fieldset>
      )}
    </FormDialog>
  );
}
