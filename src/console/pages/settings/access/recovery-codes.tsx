// Recovery codes of the second factor: the number left, and new codes, shown once.
import { useState } from 'preact/hooks';
import { call, me } from '../../../lib/api.js';
import { useCell } from '../../../lib/cell.js';
import { t } from '../../../lib/i18n.js';
import { Button, CopyButton } from '../../../ui/basics.js';
import { SecretDialog } from '../../../ui/dialog.js';
import { CodeDialog } from './code-dialog.js';

/** @param show shows codes that were made */
export function RecoveryCodes({ show }: { show: (codes: readonly string[]) => void }) {
  const left = useCell(me)?.recoveryCodesLeft ?? 0;
  const [isAsking, setAsking] = useState(false);
  const renew = async (code: string) => {
    const { codes } = await call('renewRecoveryCodes', { body: { code } });
    me.set(await call('getMe'));
    show(codes);
  };
  return (
    <div class="stack">
      <h3>{t('recovery.title')}</h3>
      <p class="soft">{t('recovery.text')}</p>
      <p class={left < 3 ? 'warn-text' : 'soft'}>{t('recovery.left', { n: left })}</p>
      <div class="row">
        <Button onClick={() => setAsking(true)}>{t('recovery.renew')}</Button>
      </div>
      {isAsking && (
        <CodeDialog
          title={t('recovery.renew')}
          action={t('recovery.renew')}
          acceptsRecovery
          act={renew}
          onClose={() => setAsking(false)}
        >
          <p>{t('recovery.renew.text')}</p>
        </CodeDialog>
      )}
    </div>
  );
}

/** Shows new codes. */
export function NewRecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  return (
    <SecretDialog title={t('recovery.title')} onClose={onClose}>
      <p class="warn-text">{t('recovery.once')}</p>
      <ul class="recovery-codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ul>
      <CopyButton text={codes.join('\n')} label={t('credentials.copyAll')} />
    </SecretDialog>
  );
}
