// The IP whitelist: the text field of the account API with an explanation of each entry. It warns operators who would lock
// themselves out.
import { useRef, useState } from 'preact/hooks';
import type { WhitelistCheck } from '../../api-types.js';
import { ApiError, call, callWithEtag } from '../../lib/api.js';
import { useDraft } from '../../lib/draft.js';
import { t } from '../../lib/i18n.js';
import { useLoad, usePreview } from '../../lib/load.js';
import { Card, State, type Tone } from '../../ui/basics.js';
import { Confirm } from '../../ui/dialog.js';
import { AreaField, InputField } from '../../ui/form.js';
import { SettingsForm, useSaving } from '../../ui/settings-form.js';
import { SmallTable } from '../../ui/small-table.js';
import { Skeleton, WhenLoaded } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';

export function WhitelistSettings() {
  const saved = useLoad('getWhitelist', {}, { topics: ['settings'] });
  const draft = useDraft({ whitelist: saved.data?.whitelist ?? '', etag: saved.etag });
  const [address, setAddress] = useState('');
  /** The version that the list to be confirmed replaces. */
  const [locking, setLocking] = useState<{ etag: string | null } | null>(null);
  const saving = useSaving(() => callWithEtag('getWhitelist'));
  const { theirs } = saving;
  const shown = draft.values.whitelist;
  const check = useCheck(saved.data ? shown : null, address);
  if (!saved.data) return <WhenLoaded of={saved} rows={6} />;
  const { etag } = theirs ?? draft.base;
  const save = async (keepMyAccess: boolean, version = etag) => {
    const body = { whitelist: shown };
    saved.put(await callWithEtag('setWhitelist', { query: { keepMyAccess }, body, etag: version }));
    notify(t('whitelist.saved'));
    draft.reset();
  };
  const trySave = () =>
    save(true).catch((failure: unknown) => {
      if (!(failure instanceof ApiError) || failure.code !== 'would-lock-you-out') throw failure;
      // Not a conflict any more for the form, which forgets the other version now.
      setLocking({ etag });
    });
  return (
    <div class="columns wide-first">
      <SettingsForm
        draft={draft}
        work={saving}
        right="setWhitelist"
        isValid={check?.valid !== false}
        save={trySave}
        conflict={
          theirs && [
            { label: t('whitelist.field'), theirs: theirs.answer.whitelist || '—', mine: shown || '—' },
          ]
        }
        look="card stack"
      >
        <p class="soft">{t('whitelist.text')}</p>
        <AreaField
          of="whitelist.field"
          error={check?.valid === false ? invalidWords(check) : undefined}
          value={shown}
          onInput={(whitelist) => draft.set({ whitelist })}
          rows={5}
          mono
          placeholder="192.168.*, 203.0.113.7, 10.0.0.0/8"
        />
        {check && (
          <p>
            {t('whitelist.you')} <code>{check.yourAddress}</code> <Allowed is={check.yourAddressAllowed} />
          </p>
        )}
      </SettingsForm>
      <Card title={t('whitelist.entries')} look="stack">
        {check ? <Entries check={check} /> : <Skeleton rows={3} />}
        <InputField of="whitelist.try" value={address} onInput={setAddress} placeholder="203.0.113.7" />
        {address !== '' && check && (
          <p>
            <Allowed is={check.addressAllowed} />{' '}
            {check.matchedBy !== null && (
              <span class="soft">
                {t('whitelist.matchedBy')} <code>{check.matchedBy}</code>
              </span>
            )}
          </p>
        )}
      </Card>
      {locking && check && (
        <Confirm
          title={t('whitelist.lockOut')}
          action={t('account.saveAnyway')}
          danger
          typed={check.yourAddress}
          onClose={() => setLocking(null)}
          act={() => save(false, locking.etag)}
        >
          <p>{t('whitelist.lockOut.text', { address: check.yourAddress })}</p>
          <pre>pulsegate whitelist set ""</pre>
        </Confirm>
      )}
    </div>
  );
}

/** @param is null: what was asked for is no address */
function Allowed({ is }: { is: boolean | null }) {
  if (is === null) return <State tone="warn">{t('whitelist.notAnAddress')}</State>;
  return <State tone={is ? 'good' : 'bad'}>{t(is ? 'whitelist.allowed' : 'whitelist.refused')}</State>;
}

function invalidWords({ entries }: WhitelistCheck): string {
  const invalid = entries.filter(({ kind }) => kind === 'invalid').map(({ text }) => text);
  return t('whitelist.invalid', { entries: invalid.join(t('schedule.list')) });
}

/** Returns what the daemon says of the text, and of the former one while it has not answered yet. */
function useCheck(whitelist: string | null, address: string): WhitelistCheck | null {
  const { result } = usePreview(
    whitelist === null ? null : { whitelist, ...(address.trim() === '' ? {} : { address: address.trim() }) },
    (body, signal) => call('checkWhitelist', { body, signal }),
    200,
  );
  const last = useRef(result);
  last.current = result ?? last.current;
  return last.current;
}

const TONES: Readonly<Record<string, Tone>> = { invalid: 'bad', everyone: 'warn' };

function Entries({ check }: { check: WhitelistCheck }) {
  return (
    <SmallTable
      empty={t('whitelist.everyone')}
      rows={[...check.entries.entries()]}
      id={([i]) => i}
      columns={[
        ['', ([, { text }]) => <code>{text}</code>],
        ['', ([, { kind }]) => <State tone={TONES[kind] ?? 'good'}>{t(`whitelist.kind.${kind}`)}</State>],
        ['', ([, { first, last }]) => first !== null && first !== last && `${first} – ${last}`, 'soft'],
      ]}
    />
  );
}
