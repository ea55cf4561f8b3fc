// The second factor: turning it on and off, and its recovery codes, shown once.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { TotpEnrolment } from '../../../api-types.js';
import { call, me } from '../../../lib/api.js';
import { useCell } from '../../../lib/cell.js';
import { t } from '../../../lib/i18n.js';
import { Button, CopyButton, State } from '../../../ui/basics.js';
import { FormDialog, SecretDialog, useAction } from '../../../ui/dialog.js';
import { InputField } from '../../../ui/form.js';
import { QrCode } from '../../../ui/qr.js';
import { Failure } from '../../../ui/states.js';

/** @param show shows codes that were made */
function RecoveryCodes({ show }: { show: (codes: readonly string[]) => void }) {
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
function NewRecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
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

interface CodeDialogProps {
  readonly title: string;
  readonly action: string;
  /** A recovery code is accepted too. */
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
        path="code"
        label={t('login.code')}
        hint={t(acceptsRecovery ? 'login.code.hintRecovery' : 'login.code.hint')}
        value={code}
        onInput={setCode}
        maxLength={acceptsRecovery ? 11 : 6}
        autocomplete="one-time-code"
        autoFocus
      />
    </FormDialog>
  );
}

export function Totp() {
  const who = useCell(me);
  const [enrolment, setEnrolment] = useState<TotpEnrolment | null>(null);
  const [turningOff, setTurningOff] = useState(false);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const { busy, error, run } = useAction();
  const isOn = who?.totpEnabled === true;
  const turnOn = async (code: string) => {
    const made = await call('confirmTotp', { body: { code } });
    me.set(await call('getMe'));
    setCodes(made.codes);
  };
  const turnOff = async (code: string) => {
    await call('disableTotp', { body: { code } });
    me.set(await call('getMe'));
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
          <Button onClick={() => setTurningOff(true)}>{t('totp.turnOff')}</Button>
        ) : (
          <Button disabled={busy} onClick={() => void run(async () => setEnrolment(await call('enrolTotp')))}>
            {t('totp.turnOn')}
          </Button>
        )}
      </div>
      {isOn && <RecoveryCodes show={setCodes} />}
      {enrolment && (
        <CodeDialog
          title={t('totp.turnOn.title')}
          action={t('totp.turnOn')}
          act={turnOn}
          onClose={() => setEnrolment(null)}
        >
          <div>
            <QrCode text={enrolment.uri} label={t('totp.qr')} />
            <div class="stack">
              <p>{t('totp.scan')}</p>
              <p>
                <code class="break">{enrolment.secret}</code> <CopyButton text={enrolment.secret} />
              </p>
            </div>
          </div>
        </CodeDialog>
      )}
      {turningOff && (
        <CodeDialog
          title={t('totp.turnOff.title')}
          action={t('totp.turnOff')}
          acceptsRecovery
          act={turnOff}
          onClose={() => setTurningOff(false)}
        />
      )}
      {codes && <NewRecoveryCodes codes={codes} onClose={() => setCodes(null)} />}
    </section>
  );
}
