// The facts of an account: what was sold to whom, with contacts and whether they are confirmed; remarks, dates, traffic, limits.
import { useState } from 'preact/hooks';
import type { Account } from '../../api-types.js';
import { useAction } from '../../lib/action.js';
import { call } from '../../lib/api.js';
import { bytes, count, rate } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { href } from '../../lib/router.js';
import {
  At,
  Button,
  Card,
  CopyButton,
  Facts,
  None,
  PermittedButton,
  Pieces,
  State,
} from '../../ui/basics.js';
import { FormDialog } from '../../ui/dialog.js';
import { InputField } from '../../ui/form.js';
import { notify } from '../../ui/toast.js';
import { accountField, type FieldName, NAMES } from './fields/account-fields.js';
import { valueIn } from './fields/field-texts.js';
import { accountWords, isEmpty } from './fields/field-words.js';
import { expiryOf } from './fields/plans.js';

export function AccountFacts({ account }: { account: Account }) {
  const { limits, usage, owner, latestGameId } = account;
  const field = (name: FieldName) => fieldFact(name, valueIn(account, name));
  const speed = (value: number | null) => (value === null ? t('limits.none') : rate(value));
  const [down, up] = [speed(limits.bytesPerSecondDown), speed(limits.bytesPerSecondUp)];
  const game = latestGameId !== null && (
    <a href={href(['accounts'], { game: latestGameId })}>{latestGameId}</a>
  );
  return (
    <Card title={t('account.facts')} look="account-facts">
      <Facts
        of={[
          ...[...NAMES.notes, 'authorizedAddresses' as const, ...NAMES.access].map(field),
          owner && [t('operators.owner'), <a href={href(['accounts'], { owner: owner.id })}>{owner.name}</a>],
          [t('account.createdAt'), <At at={account.createdAt} />],
          [t('account.lastLoginAt'), <At at={account.lastLoginAt} />],
          [t('nav.heartbeats'), [count(account.dataCount), game && ' · ', game], 'number'],
          [t('account.total'), `↓ ${bytes(usage.totalBytesDown)} ↑ ${bytes(usage.totalBytesUp)}`, 'number'],
          [t('limits.speed'), `↓ ${down} ↑ ${up}`, 'number'],
        ]}
      />
      <details>
        <summary class="soft">{t('account.rare')}</summary>
        <Facts
          of={[
            ...NAMES.limits.filter((name) => !LIMITS_ELSEWHERE.has(name)).map(field),
            [
              t('account.id'),
              [<code class="break">{account.id}</code>, ' ', <CopyButton text={account.id} />],
            ],
          ]}
        />
      </details>
    </Card>
  );
}

export function SoldFacts({ account }: { account: Account }) {
  const { plan, expiresAt } = account;
  const contacts = contactList(account);
  return (
    <>
      <Facts
        of={[
          [t('plans.choose'), plan ?? <None />],
          [t('account.expiresAt'), expiresAt === null ? expiryOf(account) : <At at={expiresAt} />],
          [
            t('contacts.title'),
            contacts.length === 0 ? <None /> : <Pieces of={contacts} between=" · " />,
            'break',
          ],
        ]}
      />
      {(account.contacts.email ?? account.contacts.telegram) !== null && (
        <UnconfirmedContacts account={account} />
      )}
    </>
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

function fieldFact(name: FieldName, value: unknown) {
  const { label, none, fact } = accountField(name);
  const words = accountWords(name, value);
  const shown = isEmpty(value) ? (
    <span class={none ? 'soft' : 'faint'}>{words}</span>
  ) : (
    (fact?.(value) ?? words)
  );
  return [t(label), shown, 'break'] as const;
}

function contactList({ contacts: { email, telegram, language } }: Account): readonly string[] {
  const parts = [email, telegram && `Telegram ${telegram}`, language && t(`contacts.language.${language}`)];
  return parts.filter((part) => part !== null);
}

type Channel = 'email' | 'telegram';

function UnconfirmedContacts({ account: { id } }: { account: Account }) {
  const { data, reload } = useLoad('getContactStates', { params: { id } }, { topics: ['accounts'] });
  const unconfirmed = (['email', 'telegram'] as const).filter((channel) => data?.[channel] === 'unconfirmed');
  return unconfirmed.map((channel) => <Unconfirmed key={channel} id={id} channel={channel} done={reload} />);
}

function Unconfirmed({ id, channel, done }: { id: string; channel: Channel; done: () => void }) {
  const [isAsking, setAsking] = useState(false);
  const [code, setCode] = useState('');
  const work = useAction();
  const name = t(`notices.channel.${channel}`);
  const send = () =>
    work.run(async () => {
      const { delivered } = await call('sendContactCode', { params: { id }, body: { channel } });
      notify(t(delivered ? 'contacts.code.sent' : 'contacts.code.notSent'));
    });
  const confirm = async () => {
    await call('confirmContact', { params: { id }, body: { channel, code } });
    notify(t('contacts.confirmed'));
    setAsking(false);
    done();
  };
  return (
    <div class="row wrap">
      <State tone="warn">{t('contacts.unconfirmed', { name })}</State>
      <PermittedButton to="confirmContact" onClick={() => setAsking(true)}>
        {t('contacts.confirm')}
      </PermittedButton>
      {isAsking && (
        <FormDialog
          title={t('contacts.confirm.title', { name })}
          onClose={() => setAsking(false)}
          action={t('contacts.confirm')}
          isReady={code.trim() !== ''}
          send={confirm}
          work={work}
        >
          <p>{t('contacts.confirm.text')}</p>
          <div class="row">
            <Button onClick={() => void send()} disabled={work.busy}>
              {t('contacts.code.send')}
            </Button>
          </div>
          <InputField label={t('contacts.code')} value={code} onInput={setCode} placeholder="abcde-fghij" />
        </FormDialog>
      )}
    </div>
  );
}
