// Which dialog over the list of accounts is open: that is in the address.
import { useState } from 'preact/hooks';
import type { AccountFilterBody, Credentials } from '../api-types.js';
import { patchQuery } from '../lib/router.js';
import { CreateDialog } from './account-create.js';
import { ExportDialog } from './account-export.js';
import { ImportDialog } from './account-import.js';
import { CredentialsDialog, ManyCredentialsDialog } from './credentials.js';

interface Props {
  readonly mode: string | null;
  readonly filter: AccountFilterBody;
  readonly onDone: () => void;
}

export function AccountDialogs({ mode, filter, onDone }: Props) {
  const [shown, setShown] = useState<readonly Credentials[] | null>(null);
  const close = () => patchQuery({ new: null });
  const created = (credentials: readonly Credentials[]) => {
    setShown(credentials);
    close();
    onDone();
  };
  const [first] = shown ?? [];
  if (first && shown?.length === 1)
    return <CredentialsDialog credentials={first} onClose={() => setShown(null)} />;
  if (shown && shown.length > 1) return <ManyCredentialsDialog list={shown} onClose={() => setShown(null)} />;
  if (mode === 'one' || mode === 'many')
    return <CreateDialog mode={mode} onClose={close} onCreated={created} />;
  if (mode === 'import') return <ImportDialog onClose={close} onDone={onDone} />;
  if (mode === 'export') return <ExportDialog filter={filter} onClose={close} />;
  return null;
}
