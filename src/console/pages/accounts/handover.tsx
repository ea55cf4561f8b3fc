// Hands an account to its player: the operator's message, ready to send, and what is known of password and link, which are shown
// once; and whether there is a link, from which client programs configure themselves. Of many accounts: their passwords, once.
import { useState } from 'preact/hooks';
import type {
  Account,
  Credentials,
  CredentialsInFormats,
  HandoverMessage,
  NewSubscription,
} from '../../api-types.js';
import { useAction } from '../../lib/action.js';
import { call } from '../../lib/api.js';
import { saveFile } from '../../lib/download.js';
import { ago } from '../../lib/format.js';
import { t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { Button, Card, Copied, CopyButton, Facts, ScrollBox } from '../../ui/basics.js';
import { AskButton, SecretDialog } from '../../ui/dialog.js';
import { optionsOf, Segments } from '../../ui/form.js';
import { QrCode } from '../../ui/qr.js';
import { SmallTable } from '../../ui/small-table.js';
import { Failure, WhenLoaded } from '../../ui/states.js';
import { notify } from '../../ui/toast.js';
import { LANGUAGES } from '../notices/form.js';
import { LinkNotice } from '../settings/public-address.js';
import { ClientFormats } from './client-formats.js';
import { SoldFacts } from './facts.js';

/** What is known at this moment only. */
export interface HandedOver {
  readonly account: Account;
  readonly credentials?: CredentialsInFormats;
  readonly subscription?: NewSubscription | null;
}

interface HandoverDialogProps extends HandedOver {
  readonly title: string;
  readonly onClose: () => void;
}

export function HandoverDialog({ account, credentials, subscription, title, onClose }: HandoverDialogProps) {
  const [made, setMade] = useState(subscription ?? null);
  const [isCopied, setCopied] = useState(false);
  const isSecret = credentials !== undefined || made !== null;
  return (
    <SecretDialog title={title} wide onClose={onClose} unsaved={isSecret && !isCopied ? 'secret' : null}>
      {isSecret && <p class="warn-text">{t(credentials ? 'credentials.once' : 'subscription.once')}</p>}
      <LinkNotice />
      {made?.guess && <p class="notice">{t('subscription.guess')}</p>}
      <Message
        of={{ account, subscription: made, ...(credentials ? { credentials } : {}) }}
        onCopied={() => setCopied(true)}
      />
      {!isSecret && (
        <>
          <p class="soft">{t('handover.unknown')}</p>
          <SubscriptionState id={account.id} onMade={setMade} />
        </>
      )}
      {credentials && (
        <details open={made === null}>
          <summary>{t('handover.formats')}</summary>
          <Facts
            of={[
              [t('account.username'), <Copied text={credentials.username} />],
              [t('account.password'), <Copied text={credentials.password} isPassword />],
            ]}
          />
          <ClientFormats formats={credentials.formats} />
        </details>
      )}
    </SecretDialog>
  );
}

/** On the page of an account: what was sold, whether it has a link, and, once that is made there, the message with it. */
export function LinkCard({ account }: { account: Account }) {
  const [made, setMade] = useState<NewSubscription | null>(null);
  return (
    <Card title={t('handover.send')}>
      <SoldFacts account={account} />
      {made && (
        <>
          <p class="warn-text">{t('subscription.once')}</p>
          <Message of={{ account, subscription: made }} onCopied={() => {}} />
          <p>
            <a href={made.url} target="_blank" rel="noreferrer">
              {t('handover.page')}
            </a>
          </p>
        </>
      )}
      <SubscriptionState id={account.id} onMade={setMade} />
    </Card>
  );
}

/** The message in the language of the player, which the operator can change for this once, and the link as a QR code. */
function Message({ of, onCopied }: { of: HandedOver; onCopied: () => void }) {
  const { id } = of.account;
  const [language, choose] = useState<HandoverMessage['language']>();
  const known = { language, password: of.credentials?.password, link: of.subscription?.url };
  const { data, pending, ...loaded } = useLoad(
    'handOver',
    { params: { id }, body: known },
    { topics: ['settings'] },
  );
  const work = useAction();
  const send = (sendBy: HandoverMessage['channels'][number]) =>
    work.run(async () => {
      const { delivered } = await call('handOver', { params: { id }, body: { ...known, sendBy } });
      if (delivered) onCopied();
      notify(t(delivered ? 'handover.sent' : 'handover.notSent'));
    });
  return (
    // The message before a link was made, or in the other language, is not to be copied.
    <WhenLoaded of={{ ...loaded, data: pending ? undefined : data }} rows={4}>
      {({ text, channels, ...message }) => (
        <div class="client-text">
          <div class="grow stack near">
            <pre class="text" data-message>
              {text}
            </pre>
            <div class="row wrap">
              <CopyButton text={text} label={t('handover.copy')} kind="primary" onCopied={onCopied} />
              {channels.map((channel) => (
                <Button key={channel} onClick={() => void send(channel)} disabled={work.busy}>
                  {t('handover.sendBy', { channel: t(`notices.channel.${channel}`) })}
                </Button>
              ))}
              <Segments
                label={t('handover.language')}
                value={message.language}
                onInput={choose}
                options={optionsOf(LANGUAGES, (each) => t(`contacts.language.${each}`))}
              />
            </div>
            {work.error && <Failure error={work.error} />}
          </div>
          {of.subscription && <QrCode text={of.subscription.url} label={t('subscription.qr')} />}
        </div>
      )}
    </WhenLoaded>
  );
}

/** Whether the account has a link, and how to make, replace and revoke it. */
function SubscriptionState({ id, onMade }: { id: string; onMade: (made: NewSubscription) => void }) {
  const { data, error, reload } = useLoad('getSubscription', { params: { id } }, { topics: ['accounts'] });
  const createdAt = data?.createdAt ?? null;
  const hasAny = data !== undefined && (createdAt !== null || data.hasFormerAddress);
  return (
    <>
      <p class="soft">{t(data && !data.isServed ? 'subscription.off' : 'subscription.text')}</p>
      {error ? <Failure error={error} retry={reload} /> : null}
      {data && (data.isServed || hasAny) && (
        <div class="row wrap">
          <span class="grow">
            {createdAt === null ? t('subscription.none') : t('subscription.since', { time: ago(createdAt) })}
            {data.hasFormerAddress && ` ${t('subscription.former')}`}
          </span>
          {hasAny && (
            <AskButton
              right="revokeSubscription"
              text={t('tokens.revoke')}
              danger
              act={() => call('revokeSubscription', { params: { id } })}
              done={t('subscription.revoked')}
              after={reload}
              question={t('subscription.revoke.text')}
            />
          )}
          {data.isServed && (
            <AskButton
              right="createSubscription"
              text={t(createdAt === null ? 'subscription.create' : 'subscription.replace')}
              act={async () => onMade(await call('createSubscription', { params: { id } }))}
              after={reload}
              question={t(hasAny ? 'subscription.replace.text' : 'subscription.text')}
            />
          )}
        </div>
      )}
    </>
  );
}

interface ManyCredentialsProps {
  readonly list: readonly Credentials[];
  /** Left out: says that the accounts were created. */
  readonly title?: string;
  readonly onClose: () => void;
}

export function ManyCredentialsDialog({ list, title: given, onClose }: ManyCredentialsProps) {
  const title = given ?? t('credentials.many', { n: list.length });
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
