// The IP whitelist: the text field of the account API with an explanation of each entry. It warns operators who would lock
// themselves out.
import { useEffect, useState } from 'preact/hooks';
import type { WhitelistCheck } from '../../api-types.js';
import { ApiError, call, callWithEtag } from '../../lib/api.js';
import { useDraft } from '../../lib/draft.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { Button, State, useSettled } from '../../ui/basics.js';
import { Conflict } from '../../ui/conflict.js';
import { Confirm, useAction } from '../../ui/dialog.js';
import { Area, Field, Input } from '../../ui/form.js';
import { Permitted } from '../../ui/permitted.js';
import { Failure, Skeleton } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';

export function WhitelistSettings() {
  const saved = useLoad('getWhitelist', {}, { topics: ['settings'] });
  const draft = useDraft({ whitelist: saved.data?.whitelist ?? '', etag: saved.etag });
  const [address, setAddress] = useState('');
  const [locking, setLocking] = useState(false);
  const [theirs, setTheirs] = useState<{ whitelist: string; etag: string | null } | null>(null);
  const { busy, error, run, clear } = useAction();
  const shown = draft.values.whitelist;
  const check = useCheck(saved.data ? shown : null, address);
  if (!saved.data)
    return saved.error ? <Failure error={saved.error} retry={saved.reload} /> : <Skeleton rows={6} />;

  const isStale = error instanceof ApiError && error.code === 'changed-meanwhile' && theirs !== null;
  const save = async (keepMyAccess: boolean) => {
    const etag = isStale ? theirs.etag : draft.base.etag;
    const { answer, etag: next } = await callWithEtag('setWhitelist', {
      query: { keepMyAccess },
      body: { whitelist: shown },
      etag,
    });
    notify(t('whitelist.saved'));
    saved.put(answer, next);
    draft.reset();
  };
  const trySave = () =>
    run(async () => {
      try {
        await save(true);
      } catch (failure) {
        if (!(failure instanceof ApiError)) throw failure;
        if (failure.code === 'changed-meanwhile') {
          const { answer, etag } = await callWithEtag('getWhitelist');
          setTheirs({ whitelist: answer.whitelist, etag });
        }
        if (failure.code !== 'would-lock-you-out') throw failure;
        setLocking(true);
      }
    });
  const undo = () => {
    draft.reset();
    clear();
  };
  return (
    <div class="columns wide-first">
      <form
        class="card stack"
        onSubmit={(event) => {
          event.preventDefault();
          void trySave();
        }}
      >
        <h2>{t('settings.whitelist')}</h2>
        <p class="soft">{t('whitelist.text')}</p>
        <Field
          label={t('whitelist.field')}
          hint={t('whitelist.hint')}
          error={check?.valid === false ? invalidWords(check) : undefined}
        >
          <Area
            value={shown}
            onInput={(whitelist) => draft.set({ whitelist })}
            rows={5}
            mono
            placeholder="192.168.*, 203.0.113.7, 10.0.0.0/8"
          />
        </Field>
        {check && (
          <p>
            {t('whitelist.you')} <code>{check.yourAddress}</code>{' '}
            <State tone={check.yourAddressAllowed ? 'good' : 'bad'}>
              {t(check.yourAddressAllowed ? 'whitelist.allowed' : 'whitelist.refused')}
            </State>
          </p>
        )}
        {isStale ? (
          <Conflict
            fields={[{ label: t('whitelist.field'), theirs: theirs.whitelist || '—', mine: shown || '—' }]}
          />
        ) : error ? (
          <Failure error={error} />
        ) : null}
        <div class="row">
          <Permitted to="setWhitelist">
            <Button type="submit" kind="primary" disabled={!draft.isDirty || busy || check?.valid === false}>
              {t(isStale ? 'account.saveAnyway' : 'settings.save')}
            </Button>
          </Permitted>
          {draft.isDirty && <Button onClick={undo}>{t('settings.undo')}</Button>}
        </div>
      </form>
      <section class="card stack">
        <h2>{t('whitelist.entries')}</h2>
        {check ? <Entries check={check} /> : <Skeleton rows={3} />}
        <Field label={t('whitelist.try')}>
          <Input value={address} onInput={setAddress} placeholder="203.0.113.7" />
        </Field>
        {address !== '' && check && (
          <p>
            {check.addressAllowed === null ? (
              <State tone="warn">{t('whitelist.notAnAddress')}</State>
            ) : (
              <State tone={check.addressAllowed ? 'good' : 'bad'}>
                {t(check.addressAllowed ? 'whitelist.allowed' : 'whitelist.refused')}
              </State>
            )}{' '}
            {check.matchedBy !== null && (
              <span class="soft">
                {t('whitelist.matchedBy')} <code>{check.matchedBy}</code>
              </span>
            )}
          </p>
        )}
      </section>
      {locking && check && (
        <Confirm
          title={t('whitelist.lockOut')}
          action={t('whitelist.lockOut.action')}
          danger
          typed={check.yourAddress}
          onClose={() => setLocking(false)}
          act={() => save(false)}
        >
          <p>{t('whitelist.lockOut.text', { address: check.yourAddress })}</p>
          <pre>pulsegate whitelist set ""</pre>
        </Confirm>
      )}
    </div>
  );
}

function invalidWords({ entries }: WhitelistCheck): string {
  const invalid = entries.filter(({ kind }) => kind === 'invalid').map(({ text }) => text);
  return t('whitelist.invalid', { entries: invalid.join(t('schedule.list')) });
}

function useCheck(text: string | null, address: string): WhitelistCheck | null {
  const question = useSettled(JSON.stringify({ text, address: address.trim() }), 200);
  const [check, setCheck] = useState<WhitelistCheck | null>(null);
  useEffect(() => {
    const asked = JSON.parse(question) as { text: string | null; address: string };
    if (asked.text === null) return;
    const abort = new AbortController();
    const body = { whitelist: asked.text, ...(asked.address === '' ? {} : { address: asked.address }) };
    call('checkWhitelist', { body, signal: abort.signal }).then(setCheck, () => {});
    return () => abort.abort();
  }, [question]);
  return check;
}

function Entries({ check }: { check: WhitelistCheck }) {
  if (check.entries.length === 0) return <p class="soft">{t('whitelist.everyone')}</p>;
  return (
    <table class="small">
      <tbody>
        {check.entries.map((entry, i) => (
          <tr key={`${entry.text}${i}`}>
            <td class="break">
              <code>{entry.text}</code>
            </td>
            <td>
              <State tone={entry.kind === 'invalid' ? 'bad' : entry.kind === 'everyone' ? 'warn' : 'good'}>
                {t(`whitelist.kind.${entry.kind}`)}
              </State>
            </td>
            <td class="soft number">
              {entry.first !== null && entry.first !== entry.last && `${entry.first} – ${entry.last}`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
