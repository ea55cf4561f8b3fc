// A password is shown once: as text, as a link, and as a QR code.
import type { Credentials } from '../api-types.js';
import { t } from '../lib/i18n.js';
import { Button, CopyButton } from '../ui/basics.js';
import { Dialog } from '../ui/dialog.js';
import { QrCode } from '../ui/qr.js';

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
      footer={
        <Button kind="primary" onClick={onClose}>
          {t('credentials.kept')}
        </Button>
      }
    >
      <p class="warn-text">{t('credentials.once')}</p>
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
      <CopyButton text={text} label={t('credentials.copyAll')} />
      <div class="scroll">
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
      </div>
    </Dialog>
  );
}

/** A cell that begins like a formula gets an apostrophe, so that no spreadsheet runs it. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
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
