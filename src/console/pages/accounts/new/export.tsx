// Exports the accounts as a file to download.
import { useState } from 'preact/hooks';
import type { AccountFilterBody, FileFormat } from '../../../api-types.js';
import { urlOf } from '../../../lib/api.js';
import { confirmThenFollow } from '../../../lib/download.js';
import { t } from '../../../lib/i18n.js';
import { useUser } from '../../../lib/rights.js';
import { Button } from '../../../ui/basics.js';
import { Dialog } from '../../../ui/dialog.js';
import { Checkbox } from '../../../ui/form.js';
import { FormatChoice, ownZone, ZoneChoice } from './file-choices.js';

export function ExportDialog({ filter, onClose }: { filter: AccountFilterBody; onClose: () => void }) {
  const [format, setFormat] = useState<FileFormat>('csv');
  const [zone, setZone] = useState(ownZone());
  const [withHashes, setWithHashes] = useState(false);
  const mayHaveHashes = useUser()?.scopes === null;
  const hasHashes = withHashes && format !== 'ccproxy';
  const filtered = Object.values(filter).some((value) => value !== undefined);
  return (
    <Dialog
      title={t('accounts.export')}
      onClose={onClose}
      unsaved={null}
      footer={
        <>
          <Button onClick={onClose}>{t('dialog.cancel')}</Button>
          <a
            class="button primary"
            href={urlOf('exportAccounts', {
              query: {
                ...filter,
                format,
                withHashes: hasHashes || undefined,
                zone: format === 'ccproxy' ? zone : undefined,
              },
            })}
            download
            onClick={(event) => {
              if (hasHashes) confirmThenFollow(event);
              onClose();
            }}
          >
            {t('export.download')}
          </a>
        </>
      }
    >
      <p>{filtered ? t('export.filtered') : t('export.all')}</p>
      <FormatChoice value={format} onInput={setFormat} />
      {format === 'ccproxy' ? (
        <ZoneChoice label={t('export.zone')} hint={t('export.zone.hint')} value={zone} onInput={setZone} />
      ) : (
        mayHaveHashes && (
          <Checkbox checked={withHashes} onChange={setWithHashes}>
            {t('export.withHashes')}
          </Checkbox>
        )
      )}
    </Dialog>
  );
}
