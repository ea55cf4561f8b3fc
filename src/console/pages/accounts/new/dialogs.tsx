// The dialog that is open over the list of accounts. The address names it.
import { useState } from 'preact/hooks';
import type { AccountFilterBody } from '../../../api-types.js';
import { useMay } from '../../../lib/rights.js';
import { patchQuery } from '../../../lib/router.js';
import { CredentialsDialog, ManyCredentialsDialog } from '../credentials.js';
import { CreateDialog, type Created } from './create.js';
import { ExportDialog } from './export.js';
import { ImportDialog } from './import.js';

interface Props {
  readonly mode: string | null;
  readonly filter: AccountFilterBody;
  readonly onDone: () => void;
}

export function AccountDialogs({ mode, filter, onDone }: Props) {
  const [shown, setShown] = useState<Created | null>(null);
  const canCreate = useMay('createAccount');
  const canImport = useMay('importAccounts');
  const close = () => patchQuery({ new: null });
  const created = (credentials: Created) => {
    setShown(credentials);
    close();
    onDone();
  };
  const seen = () => setShown(null);
  if (shown && 'one' in shown) return <CredentialsDialog credentials={shown.one} onClose={seen} />;
  if (shown) return <ManyCredentialsDialog list={shown.many} onClose={seen} />;
  if ((mode === 'one' || mode === 'many') && canCreate)
    return <CreateDialog mode={mode} onClose={close} onCreated={created} />;
  if (mode === 'import' && canImport) return <ImportDialog onClose={close} onDone={onDone} />;
  if (mode === 'export') return <ExportDialog filter={filter} onClose={close} />;
  return null;
}
