// Shows the passwords of many accounts once.
import type { Credentials } from '../../api-types.js';
import { saveFile } from '../../lib/download.js';
import { t } from '../../lib/i18n.js';
import { Button, CopyButton, ScrollBox } from '../../ui/basics.js';
import { SecretDialog } from '../../ui/dialog.js';
import { SmallTable } from '../../ui/small-table.js';
import { LinkNotice } from '../settings/public-address.js';

/** @param title left out: says that the accounts were created */
export function ManyCredentialsDialog({
  list,
  title = t('credentials.many', { n: list.length }),
  onClose,
}: {
  list: readonly Credentials[];
  title?: string;
  onClose: () => void;
}) {
  const text = list.map((one) => `${one.username}\t${one.password}\t${one.link}`).join('\n');
  // An account whose values this format cannot carry appears as a link, which carries every value.
  const plain = list.map((one) => one.plain ?? one.link).join('\n');
  return (
    <SecretDialog
      title={title}
      wide
      onClose={onClose}
      footer={
        <Button icon="download" onClick={() => save(list)}>
          {t('credentials.save')}
        </Button>
      }
    >
      <p class="warn-text">{t('credentials.once')}</p>
      <LinkNotice />
      <div class="row wrap">
        <CopyButton text={text} label={t('credentials.copyAll')} />
        <CopyButton text={plain} label={t('credentials.copyPlain')} />
      </div>
      <ScrollBox label={title}>
        <SmallTable
          rows={list}
          id={({ id }) => id}
          columns={[
            [t('account.username'), ({ username }) => username, 'whole'],
            [t('account.password'), ({ password }) => <code>{password}</code>, 'whole'],
            [t('credentials.link'), ({ link }) => link, 'soft'],
          ]}
        />
      </ScrollBox>
    </SecretDialog>
  );
}

/** Matches a character that could begin a formula, for every separator that spreadsheets use. */
const FORMULA = /(^|[,;|\s])(["']*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g;

/** Returns a quoted cell. A cell that begins like a formula gets an apostrophe, so that no spreadsheet runs it. */
function csvCell(text: string): string {
  return `"${text.replace(FORMULA, "$1$2'").replaceAll('"', '""')}"`;
}

function save(list: readonly Credentials[]): void {
  const lines = [
    ['username', 'password', 'link', 'plain'],
    ...list.map((one) => [one.username, one.password, one.link, one.plain ?? '']),
  ];
  const text = lines.map((line) => line.map(csvCell).join(',')).join('\r\n');
  saveFile('accounts.csv', `\ufeff${text}\r\n`, 'text/csv');
}
