// The facts of an account: remarks, dates, traffic, speed limits, contacts and whether they are confirmed.

import { useState } from 'preact/hooks';
import type { Account } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { bytes, count, rate } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href } from '../../lib/router.js';
import { At, Button, Card, CopyButton, Fact, None, Pieces, State } from '../../ui/basics.js';
import { Dialog, useAction } from '../../ui/dialog.js';
import { Field, Input } from '../../ui/form.js';
import { PermittedButton } from '../../ui/permitted.js';
import { Failure } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';
import {
  ACCESS_NAMES,
  accountField,
  type FieldName,
  LIMIT_NAMES,
  NOTE_NAMES,
  valueIn,
} from './fields/account-fields.js';
import { accountWords, isEmpty } from './fields/field-words.js';
import { expiryOf } from './fields/plans.js';

export function Facts({ account }: { account: Account }) {
  const { limits, usage } = account;
  const contacts = contactList(account);
  const field = (name: FieldName) => <FieldFact key={name} name={name} value={valueIn(account, name)} />;
  const speed = (value: number | null) => (value === null ? t('limits.none') : rate(value));
  return (
    <Card title={t('account.facts')}>
      <dl class="facts">
        {[...NOTE_NAMES, 'authorizedAddresses' as const, ...ACCESS_NAMES].map(field)}
        {account.owner && (
          <Fact label={t('operators.owner')}>
            <a href={href(['accounts'], { owner: account.owner.id })}>{account.owner.name}</a>
          </Fact>
        )}
        <Fact label={t('contacts.title')} look="break">
          {contacts.length === 0 ? <None /> : <Pieces of={contacts} between=" · " />}
        </Fact>
        <Fact label={t('account.createdAt')}>
          <At at={account.createdAt} />
        </Fact>
        <Fact label={t('account.expiresAt')}>
          {account.expiresAt === null ? expiryOf(account) : <At at={account.expiresAt} />}
        </Fact>
        <Fact label={t('plans.choose')}>{account.plan ?? <None />}</Fact>
        <Fact label={t('account.lastLoginAt')}>
          <At at={account.lastLoginAt} />
        </Fact>
        <Fact label={t('nav.heartbeats')} look="number">
          {count(account.dataCount)}
          {account.latestGameId !== null && (
            <>
              {' · '}
              <a href={href(['accounts'], { game: account.latestGameId })}>{account.latestGameId}</a>
            </>
          )}
        </Fact>
        <Fact label={t('account.total')} look="number">
          ↓ {bytes(usage.totalBytesDown)} ↑ {bytes(usage.totalBytesUp)}
        </Fact>
        <Fact label={t('limits.speed')} look="number">
          ↓ {speed(limits.bytesPerSecondDown)} ↑ {speed(limits.bytesPerSecondUp)}
        </Fact>
        {LIMIT_NAMES.filter((name) => !LIMITS_ELSEWHERE.has(name)).map(field)}
        <Fact label={t('account.id')}>
          <code class="break">{account.id}</code> <CopyButton text={account.id} />
        </Fact>
      </dl>
      {(account.contacts.email ?? account.contacts.telegram) !== null && (
        <UnconfirmedContacts account={account} />
      )}
    </Card>
  );
}

/** The limits that the diagnosis shows with their usage, and the speed. */
const LIMITS_ELSEWHERE: ReadonlySet<FieldName> = new Set([
  'maxSessions',
  'maxClientAddresses',
  'bytesPerSecondUp',
  'bytesPerSecondDown',
  'quotaBytes',
  'quotaPeriod',
] as const);

function FieldFact({ name, value }: { name: FieldName; value: unknown }) {
  const { label, none, fact } = accountField(name);
  const words = accountWords(name, value);
  return (
    <Fact label={t(label)} look="break">
      {isEmpty(value) ? <span class={none ? 'soft' : 'faint'}>{words}</span> : (fact?.(value) ?? words)}
    </Fact>
  );
}

function contactList({ contacts: { email, telegram, language } }: Account): readonly string[] {
  const parts = [email, telegram && `Telegram ${telegram}`, language && t(`contacts.language.${language}`)];
  return parts.filter((part) => part !== null);
}

type Channel = 'email' | 'telegram';

function UnconfirmedContacts({ account: { id } }: { account: Account }) {
  const { data, reload } = useLoad('getContactStates', { params: { id } }, { topics: ['accounts'] });
  const unconfirmed = (['email', 'telegram'] as const).filter((channel) => data?.[channel] === 'unconfirmed');
  return (
    <>
      {unconfirmed.map((channel) => (
        <Unconfirmed key={channel} id={id} channel={channel} done={reload} />
      ))}
    </>
  );
}

function Unconfirmed({ id, channel, done }: { id: string; channel: Channel; done: () => void }) {
  const [isAsking, setAsking] = useState(false);
  const [code, setCode] = useState('');
  const { busy, error, run } = useAction();
  const name = t(`notices.channel.${channel}`);
  const send = () =>
    run(async () => {
      const { delivered } = await call('sendContactCode', { params: { id }, body: { channel } });
      notify(t(delivered ? 'contacts.code.sent' : 'contacts.code.notSent'));
    });
  const confirm = () =>
    run(async () => {
      await call('confirmContact', { params: { id }, body: { channel, code } });
      notify(t('contacts.confirmed'));
      setAsking(false);
      done();
    });
  return (
    <div class="row wrap">
      <State tone="warn">{t('contacts.unconfirmed', { name })}</State>
      <PermittedButton to="confirmContact" onClick={() => setAsking(true)}>
        {t('contacts.confirm')}
      </PermittedButton>
      {isAsking && (
        <Dialog
          title={t('contacts.confirm.title', { name })}
          onClose={() => setAsking(false)}
          onSubmit={() => void confirm()}
          footer={
            <>
              <Button onClick={() => void send()} disabled={busy}>
                {t('contacts.code.send')}
              </Button>
              <Button type="submit" kind="primary" disabled={busy || code.trim() === ''}>
                {t('contacts.confirm')}
              </Button>
            </>
          }
        >
          <p>{t('contacts.confirm.text')}</p>
          <Field label={t('contacts.code')}>
            <Input value={code} onInput={setCode} placeholder="abcde-fghij" />
          </Field>
          {error ? <Failure error={error} /> : null}
        </Dialog>
      )}
    </div>
  );
}
