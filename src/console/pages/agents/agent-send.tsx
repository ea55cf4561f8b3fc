// Sends a message to an agent.
import { useState } from 'preact/hooks';
import type { Agent } from '../../api-types.js';
import { call } from '../../lib/api.js';
import { t } from '../../lib/i18n.js';
import { go } from '../../lib/router.js';
import { FormDialog } from '../../ui/dialog.js';
import { Area, Field, Input } from '../../ui/form.js';

export function SendDialog({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const [message, setMessage] = useState('');
  const [sessionKey, setSessionKey] = useState('');
  const send = async () => {
    const body = { message, ...(sessionKey === '' ? {} : { sessionKey }) };
    const { runId } = await call('sendMessage', { params: { name: agent.name }, body });
    onClose();
    go(['agents', 'runs', runId]);
  };
  return (
    <FormDialog
      title={t('agent.sendTitle', { name: agent.name })}
      onClose={onClose}
      action={t('agent.send')}
      isReady={message.trim() !== ''}
      send={send}
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
    </FormDialog>
  );
}
