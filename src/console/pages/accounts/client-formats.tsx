// The formats that the players' programs read, shown one at a time: to copy, to scan, or to save as a file.
import { useState } from 'preact/hooks';
import type { CredentialsInFormats } from '../../api-types.js';
import { saveFile } from '../../lib/download.js';
import { t } from '../../lib/i18n.js';
import { Button, CopyButton, ScrollBox } from '../../ui/basics.js';
import { SelectField } from '../../ui/form.js';
import { QrCode } from '../../ui/qr.js';

type Format = CredentialsInFormats['formats'][number]['format'];

export function ClientFormats({ formats }: { formats: CredentialsInFormats['formats'] }) {
  const [chosen, setChosen] = useState<Format>('link');
  const current = formats.find(({ format }) => format === chosen);
  const text = current?.text ?? null;
  const fileName = current?.fileName ?? null;
  return (
    <div class="client-formats stack">
      <SelectField
        of="formats.label"
        hint={t(`formats.${chosen}.hint`)}
        value={chosen}
        onInput={setChosen}
        options={formats.map(({ format }) => ({ value: format, label: t(`formats.${format}`) }))}
      />
      {text === null ? (
        <p class="notice">{t('formats.cannot')}</p>
      ) : (
        <div class="client-text">
          {fileName === null && (
            <QrCode text={text} label={t('formats.qr', { format: t(`formats.${chosen}`) })} />
          )}
          <div class="grow stack near">
            <ScrollBox look="client-box" label={t(`formats.${chosen}`)}>
              <pre data-format={chosen}>{text}</pre>
            </ScrollBox>
            <div class="row wrap">
              <CopyButton text={text} label={t('copy.copy')} />
              {fileName !== null && (
                <Button icon="download" onClick={() => saveFile(fileName, text, 'application/octet-stream')}>
                  {t('formats.save', { name: fileName })}
                </Button>
              )}
            </div>
          </div>
        </div>
      )}
    </div>
  );
}
