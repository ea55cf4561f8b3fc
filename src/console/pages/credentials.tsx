// A password is shown once: as text, as a link, and as a QR code.
import type { Credentials } from '../api-types.js';
import { t } from '../lib/i18n.js';
import { Button, CopyButton, ScrollBox } from '../ui/basics.js';
import { Dialog } from '../ui/dialog.js';
import { QrCode } from '../ui/qr.js';
import { LinkNotice } from './settings-public-address.js';

export function CredentialsDialog({
  credentials,
  onClose,
}: {
  credentials: Credentials;
  onClose: () => void;
}) {
  const { username, password, link } = credentials;
  return (
    <Dialog
      title={t('credentials.title')}
      onClose={onClose}
      unsaved="secret"
      footer={
        <Button kind="primary" onClick={onClose}>
          {t('credentials.kept')}
        </Button>
      }
    >
      <p class="warn-text">{t('credentials.once')}</p>
      <LinkNotice />
      <div class="credentials">
        <QrCode text={link} label={t('credentials.qr')} />
        <dl class="facts">
          <dt>{t('account.username')}</dt>
          <dd>
            <code>{username}</code> <CopyButton text={username} />
          </dd>
          <dt>{t('account.password')}</dt>
          <dd>
            <code data-password>{password}</code> <CopyButton text={password} />
          </dd>
          <dt>{t('credentials.link')}</dt>
          <dd>
            <code class="break">{link}</code> <CopyButton text={link} />
          </dd>
        </dl>
      </div>
    </Dialog>
  );
}

export function ManyCredentialsDialog({
  list,
  onClose,
}: {
  list: readonly Credentials[];
  onClose: () => void;
}) {
  const text = list.map((one) => `${one.username}\t${one.password}\t${one.link}`).join('\n');
  return (
    <Dialog
      title={t('credentials.many', { n: list.length })}
      wide
      onClose={onClose}
      unsaved="secret"
      footer={
        <>
          <Button icon="download" onClick={() => save(list)}>
            {t('credentials.save')}
          </Button>
          <Button kind="primary" onClick={onClose}>
            {t('credentials.kept')}
          </Button>
        </>
      }
    >
      <p class="warn-text">{t('credentials.once')}</p>
      <LinkNotice />
      <CopyButton text={text} label={t('credentials.copyAll')} />
      <ScrollBox label={t('credentials.many', { n: list.length })}>
        <table class="small">
          <thead>
            <tr>
              <th scope="col">{t('account.username')}</th>
              <th scope="col">{t('account.password')}</th>
              <th scope="col">{t('credentials.link')}</th>
            </tr>
          </thead>
          <tbody>
            {list.map((one) => (
              <tr key={one.id}>
                <td>{one.username}</td>
                <td>
                  <code>{one.password}</code>
                </td>
                <td class="soft break">{one.link}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </Dialog>
  );
}

/** What could begin a formula, whichever separator a spreadsheet uses. */
const FORMULA = /(^|[,;|\s])(["']*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/** A quoted cell; what begins like a formula gets an apostrophe, so that no spreadsheet runs it. */
function csvCell(text: string): string {
  return `"${text.replace(FORMULA, "$1$2'").replaceAll('"', '""')}"`;
}

function save(list: readonly Credentials[]): void {
  const lines = [
    ['username', 'password', 'link'],
    ...list.map((one) => [one.username, one.password, one.link]),
  ];
  const text = lines.map((line) => line.map(csvCell).join(',')).join('\r\n');
  const url = URL.createObjectURL(new Blob([`\ufeff${text}\r\n`], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'accounts.csv';
  link.click();
  URL.revokeObjectURL(url);
}
