// Recovery codes of the second factor: the number left, and ten new codes, shown once.
import { useEffect, useState } from 'preact/hooks';
import { call, me } from '../lib/api.js';
import { useCell } from '../lib/cell.js';
import { t } from '../lib/i18n.js';
import { Button, CopyButton } from '../ui/basics.js';
import { Confirm, Dialog, useAction } from '../ui/dialog.js';
import { Failure } from '../ui/states.js';

/** @param fresh the second factor has just been enabled: makes and shows new codes at once */
export function RecoveryCodes({ fresh }: { fresh: boolean }) {
  const left = useCell(me)?.recoveryCodesLeft ?? 0;
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const [asking, setAsking] = useState(false);
  const { busy, error, run } = useAction();
  const renew = async () => {
    const created = await call('renewRecoveryCodes');
    me.set(await call('getMe'));
    setCodes(created.codes);
  };
  useEffect(() => {
    if (fresh) void run(renew);
  }, [fresh]);
  return (
    <div class="stack">
      <h3>{t('recovery.title')}</h3>
      <p class="soft">{t('recovery.text')}</p>
      <p class={left < 3 ? 'warn-text' : 'soft'}>{t('recovery.left', { n: left })}</p>
      {error ? <Failure error={error} /> : null}
      <div class="row">
        <Button disabled={busy} onClick={() => (left > 0 ? setAsking(true) : void run(renew))}>
          {t('recovery.renew')}
        </Button>
      </div>
      {asking && (
        <Confirm
          title={t('recovery.renew')}
          action={t('recovery.renew')}
          onClose={() => setAsking(false)}
          act={renew}
        >
          <p>{t('recovery.renew.text')}</p>
        </Confirm>
      )}
      {codes && (
        <Dialog
          title={t('recovery.title')}
          unsaved="secret"
          onClose={() => setCodes(null)}
          onSubmit={() => setCodes(null)}
          footer={
            <Button type="submit" kind="primary">
              {t('credentials.kept')}
            </Button>
          }
        >
          <p class="warn-text">{t('recovery.once')}</p>
          <ul class="recovery-codes">
            {codes.map((code) => (
              <li key={code}>
                <code>{code}</code>
              </li>
            ))}
          </ul>
          <CopyButton text={codes.join('\n')} label={t('credentials.copyAll')} />
        </Dialog>
      )}
    </div>
  );
}
