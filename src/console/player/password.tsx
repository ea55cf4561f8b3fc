// Sets a new password and shows it in the formats of the players' programs. The daemon stores only a hash of the old one.
import { useState } from 'preact/hooks';
import type { CredentialsInFormats } from '../api-types.js';
import { t } from '../lib/i18n.js';
import { ClientFormats } from '../pages/accounts/client-formats.js';
import { Button, Card, Copied, Facts } from '../ui/basics.js';
import { InputField, submitting } from '../ui/form.js';
import { AskingButton, ask, useAct, Wrong } from './api.js';

const TONES: Readonly<Record<Strength, string>> = { weak: 'bad', fair: 'warn', strong: 'good' };

export function NewPassword({ min }: { min: number }) {
  const { busy, wrong, run } = useAct();
  const [made, setMade] = useState<CredentialsInFormats | null>(null);
  const [chosen, setChosen] = useState('');
  const [isChoosing, setChoosing] = useState(false);
  const strength = strengthOf(chosen);
  const isLong = [...chosen].length >= min;
  const set = (body: { readonly password?: string }) =>
    run(async () => {
      setMade(await ask<CredentialsInFormats>('password', body));
      setChosen('');
      setChoosing(false);
    });
  if (made)
    return (
      <Card title={t('player.password.made')}>
        <p class="warn-text">{t('player.password.once')}</p>
        <Facts of={[[t('account.password'), <Copied text={made.password} isPassword />]]} />
        <ClientFormats formats={made.formats} />
        <div class="row">
          <Button kind="primary" onClick={() => setMade(null)}>
            {t('credentials.kept')}
          </Button>
        </div>
      </Card>
    );
  return (
    <Card title={t('player.password.new')}>
      <p class="soft">{t('player.password.text')}</p>
      {isChoosing && (
        <form
          class="stack"
          onSubmit={submitting(() => {
            if (isLong && !busy) void set({ password: chosen });
          })}
        >
          <InputField
            label={t('account.password')}
            hint={
              isLong ? (
                <span role="status" class={`${TONES[strength]}-text`}>
                  {t(`player.password.${strength}`)}
                </span>
              ) : (
                t('player.password.min', { n: min })
              )
            }
            value={chosen}
            onInput={setChosen}
            autocomplete="new-password"
            maxLength={255}
            autoFocus
            required
          />
          <div class="row wrap">
            <Button onClick={() => setChoosing(false)}>{t('dialog.cancel')}</Button>
            <Button type="submit" kind="primary" disabled={busy || !isLong}>
              {t('player.password.set')}
            </Button>
          </div>
        </form>
      )}
      <Wrong text={wrong} />
      {!isChoosing && (
        <div class="row wrap">
          <AskingButton
            label={t('player.password.random')}
            question={t('player.password.sure')}
            busy={busy}
            act={() => void set({})}
          />
          <Button kind="quiet" onClick={() => setChoosing(true)}>
            {t('player.password.choose')}
          </Button>
        </div>
      )}
    </Card>
  );
}

const KINDS: readonly (readonly [RegExp, number])[] = [
  [/[a-z]/, 26],
  [/[A-Z]/, 26],
  [/\d/, 10],
  [/[^a-zA-Z\d]/, 32],
];

type Strength = 'weak' | 'fair' | 'strong';

function strengthOf(password: string): Strength {
  const characters = [...password];
  const size = KINDS.reduce((sum, [kind, count]) => sum + (kind.test(password) ? count : 0), 0);
  // Repeated characters and runs such as 1234 and abcd add little.
  const steps = characters.filter((one, n) => {
    const step = (one.codePointAt(0) ?? 0) - (characters[n - 1]?.codePointAt(0) ?? -9);
    return Math.abs(step) > 1;
  }).length;
  const bits = Math.min(steps, 2 * new Set(characters).size) * Math.log2(Math.max(size, 1));
  if (bits < 40) return 'weak';
  return bits < 64 ? 'fair' : 'strong';
}
