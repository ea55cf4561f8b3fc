// The address of the PAC file, which a browser or a system accepts in place of a proxy address.
import { t } from '../lib/i18n.js';
import { Button, CopyButton } from '../ui/basics.js';
import { AskingButton, useAct, Wrong } from './act.js';
import { ask, type Status } from './api.js';

export function Pac({ status, onStatus }: { status: Status; onStatus: (status: Status) => void }) {
  const { pac, isEnabled } = status;
  const { busy, wrong, run } = useAct();
  const make = () => void run(async () => onStatus(await ask<Status>('pac', {})));
  return (
    <section class="card">
      <h2>{t('player.pac')}</h2>
      <p class="soft">{t('player.pac.text')}</p>
      {pac !== null && (
        <p>
          <code class="break" data-pac>
            {pac}
          </code>
        </p>
      )}
      <Wrong text={wrong} />
      <div class="row wrap">
        {pac !== null && <CopyButton text={pac} label={t('formats.copy')} />}
        {isEnabled && pac === null && (
          <Button disabled={busy} onClick={make}>
            {t('player.pac.make')}
          </Button>
        )}
        {isEnabled && pac !== null && (
          <AskingButton
            label={t('player.pac.renew')}
            question={t('player.pac.sure')}
            busy={busy}
            act={make}
          />
        )}
      </div>
    </section>
  );
}
