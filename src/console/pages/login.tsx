// Signing in: admin name, password, and the second factor when it is on.
import { useState } from 'preact/hooks';
import { ApiError, call, me } from '../lib/api.js';
import { t } from '../lib/i18n.js';
import { Button } from '../ui/basics.js';
import { useAction } from '../ui/dialog.js';
import { Field, Input } from '../ui/form.js';
import { Failure } from '../ui/states.js';
import { LanguageChoice, ThemeChoice } from './settings-display.js';

export function LoginPage() {
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [needsCode, setNeedsCode] = useState(false);
  const { busy, error, run } = useAction();
  const submit = () =>
    run(async () => {
      try {
        me.set(await call('signIn', { body: { username, password, ...(code === '' ? {} : { code }) } }));
      } catch (failure) {
        if (!(failure instanceof ApiError) || failure.code !== 'totp-required') throw failure;
        setNeedsCode(true);
        if (code !== '') throw new ApiError(401, 'wrong-credentials', null);
      }
    });
  return (
    <main class="login">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <h1>
          <img src="./icon.svg" alt="" width="32" height="32" />
          Pulsegate
        </h1>
        <p class="soft">{t('login.intro')}</p>
        <Field label={t('login.username')}>
          <Input value={username} onInput={setUsername} autocomplete="username" autoFocus required />
        </Field>
        <Field label={t('login.password')}>
          <Input
            value={password}
            onInput={setPassword}
            type="password"
            autocomplete="current-password"
            required
          />
        </Field>
        {needsCode && (
          <Field label={t('login.code')} hint={t('login.code.hint')}>
            <Input
              value={code}
              onInput={setCode}
              inputMode="numeric"
              maxLength={6}
              autocomplete="one-time-code"
              autoFocus
              required
            />
          </Field>
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
      <div class="row wrap centre">
        <LanguageChoice />
        <ThemeChoice />
      </div>
    </main>
  );
}
