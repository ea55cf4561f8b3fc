// Signs in with user name, password and, if enabled, the second factor. `SignInAgain` does so over a page whose session ended.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Me } from '../api-types.js';
import { useAction } from '../lib/action.js';
import { ApiError, call, confirmation, forgetSession, lapsed, me } from '../lib/api.js';
import { leaveFirstPage } from '../lib/arrival.js';
import { useCell } from '../lib/cell.js';
import { leave } from '../lib/draft.js';
import { t } from '../lib/i18n.js';
import { Button } from '../ui/basics.js';
import { FormDialog, useModal } from '../ui/dialog.js';
import { InputField, Segments, submitting } from '../ui/form.js';
import { Failure } from '../ui/states.js';
import { Switches } from '../ui/switches.js';

export function LoginPage() {
  useEffect(() => leaveFirstPage, []);
  return (
    <main class="login">
      <SignInForm name="" />
      <div class="row wrap centre">
        <Switches />
      </div>
    </main>
  );
}

/** Covers the console after a session ended. The page below keeps its contents, and is unchanged after the next sign-in. */
export function SignInAgain({ who }: { who: Me }) {
  const ref = useRef<HTMLDialogElement>(null);
  const watched = useModal(ref, () => {});
  return (
    <dialog ref={ref} class="login again" aria-label={t('login.again')} {...watched}>
      <SignInForm name={who.username}>
        <p class="warn-text">{t('login.again')}</p>
        <p class="soft">{t('login.again.text')}</p>
      </SignInForm>
      <div class="row wrap centre">
        <Button kind="quiet" onClick={() => leave(forgetSession)}>
          {t('login.again.leave')}
        </Button>
      </div>
    </dialog>
  );
}

function SignInForm({ name, children }: { name: string; children?: ComponentChildren }) {
  const [username, setUsername] = useState(name);
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [needsCode, setNeedsCode] = useState(false);
  const { busy, error, run } = useAction();
  const submit = () =>
    run(async () => {
      try {
        const who = await call('signIn', { body: { username, password, ...(code === '' ? {} : { code }) } });
        lapsed.set(null);
        me.set(who);
      } catch (failure) {
        if (!(failure instanceof ApiError) || failure.code !== 'totp-required') throw failure;
        setNeedsCode(true);
        if (code !== '') throw new ApiError(401, 'wrong-credentials', null);
      }
    });
  return (
    <form onSubmit={submitting(submit)}>
      <h1>
        <img src="./icon.svg" alt="" width="32" height="32" />
        Pulsegate
      </h1>
      {children ?? <p class="soft">{t('login.intro')}</p>}
      <InputField
        of="account.username"
        value={username}
        onInput={setUsername}
        autocomplete="username"
        autoFocus={name === ''}
        required
      />
      <InputField
        of="login.password"
        value={password}
        onInput={setPassword}
        type="password"
        autocomplete="current-password"
        autoFocus={name !== ''}
        required
      />
      {needsCode && (
        <InputField
          of="login.code"
          value={code}
          onInput={setCode}
          maxLength={11}
          autocomplete="one-time-code"
          autoFocus
          required
        />
      )}
      {error && <Failure error={error} />}
      <Button type="submit" kind="primary" disabled={busy}>
        {t('login.submit')}
      </Button>
      <details class="soft">
        <summary>{t('login.noPassword')}</summary>
        <p>{t('login.noPassword.text')}</p>
        <code>pulsegate admin set-password</code>
      </details>
    </form>
  );
}

const WAYS = ['password', 'code'] as const;

/** Asks for the password or a one-time code again. The frame renders it once, above every open dialog, which keeps its contents. */
export function ConfirmDialog() {
  const question = useCell(confirmation);
  return question && <Ask settle={question.settle} />;
}

function Ask({ settle }: { settle: (isConfirmed: boolean) => void }) {
  const hasCode = useCell(me)?.totpEnabled === true;
  const [way, setWay] = useState<(typeof WAYS)[number]>('password');
  const [text, setText] = useState('');
  const work = useAction();
  return (
    <FormDialog
      title={t('confirm.title')}
      onClose={() => settle(false)}
      unsaved={null}
      action={t('contacts.confirm')}
      isReady={text !== ''}
      send={() => call('confirmSession', { body: { [way]: text } }).then(() => settle(true))}
      work={work}
    >
      <p>{t('confirm.text')}</p>
      {hasCode && (
        <Segments
          value={way}
          label={t('confirm.title')}
          onInput={(next) => {
            setWay(next);
            setText('');
            work.clear();
          }}
          options={WAYS.map((value) => ({ value, label: t(`login.${value}`) }))}
        />
      )}
      <InputField
        key={way}
        path={way}
        of={`login.${way}`}
        value={text}
        onInput={setText}
        autoFocus
        {...(way === 'password'
          ? { type: 'password', autocomplete: 'current-password' }
          : { maxLength: 11, autocomplete: 'one-time-code' })}
      />
    </FormDialog>
  );
}
