// The second factor: turning it on and off, and its recovery codes, shown once.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { TotpEnrolment } from '../../../api-types.js';
import { useAction } from '../../../lib/action.js';
import { call, me, useUser } from '../../../lib/api.js';
import { t } from '../../../lib/i18n.js';
import { Button, Copied, CopyButton, State } from '../../../ui/basics.js';
import { FormDialog, SecretDialog } from '../../../ui/dialog.js';
import { InputField } from '../../../ui/form.js';
import { QrCode } from '../../../ui/qr.js';
import { Failure } from '../../../ui/states.js';

interface CodeDialogProps {
  readonly title: string;
  readonly action: string;
  readonly acceptsRecovery?: boolean;
  readonly act: (code: string) => Promise<unknown>;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

function CodeDialog({ title, action, acceptsRecovery = false, act, onClose, children }: CodeDialogProps) {
  const [code, setCode] = useState('');
  const isRecovery = acceptsRecovery && code.replace(/[^a-z2-7]/gi, '').length === 10;
  return (
    <FormDialog
      title={title}
      onClose={onClose}
      action={action}
      isReady={/^\d{6}$/.test(code) || isRecovery}
      send={() => act(code).then(onClose)}
    >
      {children}
      <InputField
        of="login.code"
        path="code"
        hint={acceptsRecovery ? undefined : t('login.code.hintOfApp')}
        value={code}
        onInput={setCode}
        maxLength={acceptsRecovery ? 11 : 6}
        autocomplete="one-time-code"
        autoFocus
      />
    </FormDialog>
  );
}

type Asking = 'turnOn' | 'turnOff' | 'renew';

export function Totp() {
  const who = useUser();
  const [asking, setAsking] = useState<Asking | null>(null);
  const [enrolment, setEnrolment] = useState<TotpEnrolment | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const { busy, error, run } = useAction();
  const isOn = who?.totpEnabled === true;
  const left = who?.recoveryCodesLeft ?? 0;
  const enrol = () =>
    run(async () => {
      setEnrolment(await call('enrolTotp'));
      setAsking('turnOn');
    });
  const acts = {
    turnOn: (code: string) => call('confirmTotp', { body: { code } }),
    turnOff: (code: string) => call('disableTotp', { body: { code } }).then(() => null),
    renew: (code: string) => call('renewRecoveryCodes', { body: { code } }),
  } satisfies Readonly<Record<Asking, unknown>>;
  const act = async (code: string) => {
    const made = asking && (await acts[asking](code));
    me.set(await call('getMe'));
    if (made) setCodes(made.codes);
  };
  return (
    <section class="card stack">
      <h2>
        {t('totp.title')} <State tone={isOn ? 'good' : 'none'}>{t(isOn ? 'totp.on' : 'totp.off')}</State>
      </h2>
      <p class="soft">{t('totp.text')}</p>
      <p class="soft">{t('totp.basic')}</p>
      {error ? <Failure error={error} /> : null}
      <div class="row">
        {isOn ? (
          <Button onClick={() => setAsking('turnOff')}>{t('totp.turnOff')}</Button>
        ) : (
          <Button disabled={busy} onClick={() => void enrol()}>
            {t('totp.turnOn')}
          </Button>
        )}
      </div>
      {isOn && (
        <div class="stack">
          <h3>{t('recovery.title')}</h3>
          <p class="soft">{t('recovery.text')}</p>
          <p class={left < 3 ? 'warn-text' : 'soft'}>{t('recovery.left', { n: left })}</p>
          <div class="row">
            <Button onClick={() => setAsking('renew')}>{t('recovery.renew')}</Button>
          </div>
        </div>
      )}
      {asking && (
        <CodeDialog
          title={asking === 'renew' ? t('recovery.renew') : t(`totp.${asking}.title`)}
          action={asking === 'renew' ? t('recovery.renew') : t(`totp.${asking}`)}
          acceptsRecovery={asking !== 'turnOn'}
          act={act}
          onClose={() => setAsking(null)}
        >
          {asking === 'renew' && <p>{t('recovery.renew.text')}</p>}
          {asking === 'turnOn' && enrolment && (
            <div>
              <QrCode text={enrolment.uri} label={t('totp.qr')} />
              <div class="stack">
                <p>{t('totp.scan')}</p>
                <Copied text={enrolment.secret} />
              </div>
            </div>
          )}
        </CodeDialog>
      )}
      {codes && (
        <SecretDialog title={t('recovery.title')} onClose={() => setCodes(null)}>
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
      )}
    </section>
  );
}
