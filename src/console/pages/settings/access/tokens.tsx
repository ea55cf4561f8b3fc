// API tokens, with which programs authenticate. The console shows a token's secret once.
import { useState } from 'preact/hooks';
import { SCOPES, type Scope, type Token } from '../../../api-types.js';
import { call } from '../../../lib/api.js';
import { t } from '../../../lib/i18n.js';
import { useLoad } from '../../../lib/load.js';
import { may } from '../../../lib/rights.js';
import { Ago, Button, CopyButton, Expiry, Tag } from '../../../ui/basics.js';
import { Confirm, Dialog, useAction } from '../../../ui/dialog.js';
import { ExpiryField, expiryInDays, readExpiry } from '../../../ui/expiry-field.js';
import { Checkbox, Field, Input } from '../../../ui/form.js';
import { Empty, Failure, Skeleton } from '../../../ui/states.js';
import { type Column, Table } from '../../../ui/table.js';
import { notify } from '../../../ui/toast.js';

export function TokenSettings() {
  const { data, error, reload } = useLoad('listTokens', {}, { topics: ['tokens'] });
  const [creating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const [revoking, setRevoking] = useState<Token | null>(null);
  return (
    <>
      <div class="row wrap">
        <p class="soft grow">{t('tokens.text')}</p>
        <Button kind="primary" icon="plus" onClick={() => setCreating(true)}>
          {t('tokens.new')}
        </Button>
      </div>
      {error && !data && <Failure error={error} retry={reload} />}
      {!data && !error && <Skeleton rows={4} />}
      {data?.items.length === 0 && (
        <Empty icon="keyboard" title={t('tokens.empty')}>
          {t('tokens.empty.text')}
        </Empty>
      )}
      {data && data.items.length > 0 && (
        <Table
          label={t('settings.tokens')}
          rows={data.items}
          columns={columns(setRevoking)}
          id={(one) => one.id}
        />
      )}
      {creating && (
        <CreateDialog
          onClose={() => setCreating(false)}
          onCreated={(made) => {
            setCreating(false);
            setSecret(made);
            reload();
          }}
        />
      )}
      {secret !== null && (
        <Dialog
          title={t('tokens.created')}
          onClose={() => setSecret(null)}
          unsaved="secret"
          footer={
            <Button kind="primary" onClick={() => setSecret(null)}>
              {t('credentials.kept')}
            </Button>
          }
        >
          <p class="warn-text">{t('tokens.once')}</p>
          <p class="row">
            <code class="break">{secret}</code> <CopyButton text={secret} />
          </p>
          <pre>{`curl -H "Authorization: Bearer ${secret}" \\\n  ${location.origin}/api/v1/accounts`}</pre>
        </Dialog>
      )}
      {revoking && (
        <Confirm
          title={t('tokens.revoke')}
          action={t('tokens.revoke')}
          danger
          onClose={() => setRevoking(null)}
          act={async () => {
            await call('revokeToken', { params: { id: revoking.id } });
            notify(t('tokens.revoked'));
            reload();
          }}
        >
          <p>{t('tokens.revoke.text', { name: revoking.name })}</p>
        </Confirm>
      )}
    </>
  );
}

function columns(revoke: (token: Token) => void): readonly Column<Token>[] {
  return [
    { key: 'name', head: t('tokens.name'), cell: (one) => <span class="strong">{one.name}</span> },
    {
      key: 'prefix',
      head: t('tokens.prefix'),
      width: '104px',
      from: 560,
      cell: (one) => <code>{one.prefix}…</code>,
    },
    {
      key: 'scopes',
      head: t('tokens.scopes'),
      from: 800,
      cell: (one) => (
        <span title={one.scopes.join('\n')}>
          {one.scopes.map((scope) => (
            <Tag key={scope}>{scope}</Tag>
          ))}
        </span>
      ),
    },
    {
      key: 'expires',
      head: t('account.expiresAt'),
      width: '112px',
      cell: (one) => <Expiry at={one.expiresAt} short />,
    },
    {
      key: 'used',
      head: t('tokens.lastUsed'),
      width: '200px',
      from: 1000,
      cell: (one) => (
        <>
          <Ago at={one.lastUsedAt} />{' '}
          {one.lastUsedFrom !== null && <code class="soft">{one.lastUsedFrom}</code>}
        </>
      ),
    },
    {
      key: 'revoke',
      head: '',
      width: '80px',
      align: 'end',
      cell: (one) => (
        <button type="button" class="link danger" onClick={() => revoke(one)}>
          {t('tokens.revoke')}
        </button>
      ),
    },
  ];
}

function CreateDialog({ onClose, onCreated }: { onClose: () => void; onCreated: (secret: string) => void }) {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set());
  const [preset] = useState(() => expiryInDays(90));
  const [expiry, setExpiry] = useState(preset);
  const { busy, error, run } = useAction();
  const expiresAt = readExpiry(expiry);
  const ready = name.trim() !== '' && scopes.size > 0 && !busy && expiresAt !== undefined;
  const submit = () => {
    if (!ready) return;
    void run(async () =>
      onCreated((await call('createToken', { body: { name, scopes: [...scopes], expiresAt } })).secret),
    );
  };
  return (
    <Dialog
      title={t('tokens.new')}
      onClose={onClose}
      error={error}
      onSubmit={submit}
      unsaved={name !== '' || scopes.size > 0 || expiry !== preset ? 'typed' : null}
      footer={(close) => (
        <>
          <Button onClick={close}>{t('dialog.cancel')}</Button>
          <Button type="submit" kind="primary" disabled={!ready}>
            {t('tokens.create')}
          </Button>
        </>
      )}
    >
      <Field path="name" label={t('tokens.name')}>
        <Input value={name} onInput={setName} autoFocus maxLength={100} placeholder="billing" />
      </Field>
      <fieldset class="field">
        <legend>{t('tokens.scopes')}</legend>
        <div class="scopes">
          {SCOPES.filter(may).map((scope) => (
            <Checkbox
              key={scope}
              checked={scopes.has(scope)}
              onChange={(on) => {
                const next = new Set(scopes);
                if (on) next.add(scope);
                else next.delete(scope);
                setScopes(next);
              }}
            >
              <code>{scope}</code>
            </Checkbox>
          ))}
        </div>
      </fieldset>
      <ExpiryField value={expiry} onChange={setExpiry} />
    </Dialog>
  );
}
