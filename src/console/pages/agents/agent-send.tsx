// Sends a message to an agent.
import { useState } from 'preact/hooks';
import type { Agent } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { t } from '../../lib/i18n.js';
import { go } from '../../lib/router.js';
import { Button } from '../../ui/basics.js';
import { Dialog, useAction } from '../../ui/dialog.js';
import { Area, Field, Input } from '../../ui/form.js';

export function SendDialog({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const [message, setMessage] = useState('');
  const [sessionKey, setSessionKey] = useState('');
  const { busy, error, run } = useAction();
  const ready = message.trim() !== '' && !busy;
  const submit = () => {
    if (!ready) return;
    void run(async () => {
      const body = { message, ...(sessionKey === '' ? {} : { sessionKey }) };
      const { runId } = await call('sendMessage', { params: { name: agent.name }, body });
      onClose();
      go(['agents', 'runs', runId]);
    });
  };
  return (
    <Dialog
      title={t('agent.sendTitle', { name: agent.name })}
      onClose={onClose}
      error={error}
      onSubmit={submit}
      footer={
        <>
          <Button onClick={onClose}>{t('dialog.cancel')}</Button>
          <Button type="submit" kind="primary" disabled={!ready}>
            {t('agent.send')}
          </Button>
        </>
      }
    >
      <Field path="message" label={t('run.message')}>
        <Area value={message} onInput={setMessage} rows={5} />
      </Field>
      {agent.sessionKey === null ? (
        <Field path="sessionKey" label={t('run.session')} hint={t('agent.session.hint')}>
          <Input value={sessionKey} onInput={setSessionKey} maxLength={128} />
        </Field>
      ) : (
        <p class="soft">
          {t('agent.fixedSession')} <code>{agent.sessionKey}</code>
        </p>
      )}
    </Dialog>
  );
}
