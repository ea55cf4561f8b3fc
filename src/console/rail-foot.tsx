// The foot of the rail: the signed-in user, and buttons for language, theme and signing out.
import type { Me } from './api-types.js';
import { signOut } from './lib/api.js';
import { t } from './lib/i18n.js';
import { leave } from './lib/unsaved.js';
import { Button } from './ui/basics.js';
import { useAction } from './ui/dialog.js';
import { Switches } from './ui/switches.js';

export function RailFoot({ who }: { who: Me }) {
  const { busy, run } = useAction();
  return (
    <div class="rail-foot stack close soft">
      <span class="rail-who">
        <span>{who.username}</span>
        <span class="number">
          {who.address} · v{who.version}
        </span>
      </span>
      <div class="row close rail-tools">
        <Switches />
        <Button
          icon="exit"
          kind="quiet"
          disabled={busy}
          label={t('display.signOut')}
          onClick={() => leave(() => void run(signOut))}
        />
      </div>
    </div>
  );
}
