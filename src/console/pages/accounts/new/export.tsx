// Exports the accounts as a file to download; and the choices for every accounts file: its format, and the time zone of its dates.
import { useState } from 'preact/hooks';
import type { AccountFilterBody, FileFormat } from '../../../api-types.js';
import { urlOf, useUser } from '../../../lib/api.js';
import { confirmThenFollow } from '../../../lib/download.js';
import type { Controlled } from '../../../lib/draft.js';
import { type TextKey, t } from '../../../lib/i18n.js';
import { Button } from '../../../ui/basics.js';
import { Dialog } from '../../../ui/dialog.js';
import { Checkbox, optionsOf, SegmentsField, SelectField } from '../../../ui/form.js';

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
        <ZoneChoice of="export.zone" value={zone} onInput={setZone} />
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

const FORMAT_NAMES: Readonly<Record<FileFormat, string>> = { csv: 'CSV', json: 'JSON', ccproxy: 'CCProxy' };

export function FormatChoice(format: Controlled<FileFormat>) {
  return (
    <SegmentsField
      {...format}
      of="formats.label"
      options={optionsOf(['csv', 'json', 'ccproxy'], (each) => FORMAT_NAMES[each])}
    />
  );
}

export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** `Asia/Shanghai (GMT+8)`. */
export function zoneLabel(zone: string): string {
  if (zone === 'UTC') return zone;
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: zone,
    timeZoneName: 'shortOffset',
  }).formatToParts();
  return t('unit.note', { text: zone, note: parts.find(({ type }) => type === 'timeZoneName')?.value ?? '' });
}

export function ZoneChoice(zone: Controlled<string> & { readonly of: TextKey }) {
  const zones = new Set([ownZone(), 'Asia/Shanghai', 'UTC']);
  return <SelectField {...zone} options={optionsOf([...zones], zoneLabel)} />;
}
