// The address to which players connect: links, QR codes and files contain it. This page also shows its source.
import { useState } from 'preact/hooks';
import type { PublicAddress } from '../api-types.js';
import { call, me } from '../lib/api.js';
import { useCell } from '../lib/cell.js';
import { t } from '../lib/i18n.js';
import { useLoad } from '../lib/load.js';
import { href } from '../lib/router.js';
import { Button, Tag } from '../ui/basics.js';
import { useAction } from '../ui/dialog.js';
import { Field, Input } from '../ui/form.js';
import { Icon } from '../ui/icons.js';
import { Permitted } from '../ui/permitted.js';
import { Failure, Skeleton } from '../ui/states.js';
import { notify } from '../ui/toast.js';

/** `gate.example:1080`, `[2001:db8::1]:1080`. */
export function hostPort({ host, port }: { host: string; port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Warns beside a link whose host the daemon guessed: names the host, its source, and why it may be wrong. Renders nothing for a
 * configured host.
 */
export function LinkNotice() {
  const link = useCell(me)?.link;
  if (!link || link.guess === null) return null;
  return (
    <p class="notice" role="note">
      <Icon name="warn" />
      <span>
        {t(`publicAddress.guess.${link.guess}`, { host: link.host })}{' '}
        <a href={href(['settings', 'address'])}>{t('publicAddress.set')}</a>
      </span>
    </p>
  );
}

export function PublicAddressSettings() {
  const saved = useLoad('getPublicAddress', {}, { topics: ['settings'] });
  if (!saved.data)
    return saved.error ? <Failure error={saved.error} retry={saved.reload} /> : <Skeleton rows={5} />;
  return <AddressForm saved={saved.data} onSaved={saved.reload} />;
}

/** The form owns its text. The lines below show a change from elsewhere. */
function AddressForm({ saved, onSaved }: { saved: PublicAddress; onSaved: () => void }) {
  const ofConsole = (source: PublicAddress['hostSource'], value: string | number | null) =>
    source === 'console' && value !== null ? String(value) : '';
  const [host, setHost] = useState<string | null>(null);
  const [port, setPort] = useState<string | null>(null);
  const { busy, error, run } = useAction();
  const shownHost = host ?? ofConsole(saved.hostSource, saved.host);
  const shownPort = port ?? ofConsole(saved.portSource, saved.port);
  const badPort =
    shownPort !== '' && !(/^\d{1,5}$/.test(shownPort) && +shownPort >= 1 && +shownPort <= 65_535);
  const isChanged = host !== null || port !== null;
  const save = () =>
    run(async () => {
      const next = { host: shownHost.trim() || null, port: shownPort === '' ? null : Number(shownPort) };
      await call('setPublicAddress', { body: next });
      me.set(await call('getMe'));
      notify(t('settings.saved'));
      setHost(null);
      setPort(null);
      onSaved();
    });
  const { configured, link } = saved;
  return (
    <form
      class="card stack narrow"
      onSubmit={(event) => {
        event.preventDefault();
        if (!badPort) void save();
      }}
    >
      <h2>{t('settings.address')}</h2>
      <p class="soft">{t('publicAddress.text')}</p>
      <LinkNotice />
      <Field
        label={t('publicAddress.host')}
        hint={
          configured.host === null
            ? t('publicAddress.hostEmpty')
            : t('publicAddress.configured', { key: 'socks.publicHost', value: configured.host })
        }
      >
        <Input
          value={shownHost}
          onInput={setHost}
          placeholder={configured.host ?? 'gate.example.com'}
          maxLength={253}
        />
      </Field>
      <Field
        label={t('publicAddress.port')}
        hint={
          badPort
            ? t('publicAddress.badPort')
            : configured.port === null
              ? t('publicAddress.portEmpty')
              : t('publicAddress.configured', { key: 'socks.publicPort', value: String(configured.port) })
        }
      >
        <Input
          value={shownPort}
          onInput={setPort}
          inputMode="numeric"
          placeholder={String(link.port)}
          maxLength={5}
        />
      </Field>
      <dl class="facts">
        <dt>{t('publicAddress.inUse')}</dt>
        <dd>
          <code data-link>socks5h://…@{hostPort(link)}</code>
        </dd>
        <dt>{t('publicAddress.hostFrom')}</dt>
        <dd>
          <Tag>
            {t(link.guess === null ? `effective.source.${saved.hostSource}` : 'publicAddress.guessed')}
          </Tag>
        </dd>
        <dt>{t('publicAddress.portFrom')}</dt>
        <dd>
          <Tag>
            {t(saved.port === null ? 'publicAddress.ofListener' : `effective.source.${saved.portSource}`)}
          </Tag>
        </dd>
      </dl>
      {error ? <Failure error={error} /> : null}
      <div class="row">
        <Permitted to="setPublicAddress">
          <Button type="submit" kind="primary" disabled={!isChanged || badPort || busy}>
            {t('settings.save')}
          </Button>
        </Permitted>
        {isChanged && (
          <Button
            onClick={() => {
              setHost(null);
              setPort(null);
            }}
          >
            {t('settings.undo')}
          </Button>
        )}
      </div>
    </form>
  );
}
