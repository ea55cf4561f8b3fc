// The addresses of a seller's player that nobody has confirmed: the player gets a code there, and tells it to the seller.
import { useState } from 'preact/hooks';
import type { Account } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { Button, State } from '../../ui/basics.js';
import { Dialog, useAction } from '../../ui/dialog.js';
import { Field, Input } from '../../ui/form.js';
import { PermittedButton } from '../../ui/permitted.js';
import { Failure } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';

type Channel = 'email' | 'telegram';

export function UnconfirmedContacts({ account: { id } }: { account: Account }) {
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
