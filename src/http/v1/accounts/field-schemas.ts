// Schemas of the fields of an account: limits and usage, addresses, schedule, contacts, credentials, tags.
import { z } from 'zod';
import { MAX_SCHEDULE_CHARS } from '../../../core/accounts/access/schedule.js';
import { ACCESS_FIELDS } from '../../../core/accounts/fields/account-fields.js';
import { CONTACT_LANGUAGES, MAX_TAG_CHARS, MAX_TAGS } from '../../../core/accounts/fields/contacts.js';
import { MAX_GUARD_LIMIT } from '../../../core/accounts/fields/kinds.js';
import { EXIT_NAME } from '../../../core/exits/exit.js';
import { Bytes, Count, component, Guid, Time, TimeIn } from '../../api/schemas.js';

const GuardLimit = z.int().min(0).max(MAX_GUARD_LIMIT).nullable().meta({
  description: '0: any number; null: as the egress class or the configuration says.',
});

export const AccountLimits = component('AccountLimits', {
  maxSessions: z.int().min(1).nullable(),
  /** Number of different client addresses at the same time. */
  maxClientAddresses: z.int().min(1).nullable(),
  /** From client to destination. The account's sessions share the rate fairly. */
  bytesPerSecondUp: z.int().min(1).nullable(),
  bytesPerSecondDown: z.int().min(1).nullable(),
  /** Up and down together, within one `quotaPeriod`. */
  quotaBytes: z.int().min(1).nullable(),
  quotaPeriod: z.enum(['day', 'week', 'month', 'never']),
  /** Name of an egress class of the configuration; null: the default one. */
  egressClass: z.string().min(1).max(64).nullable(),
  /** New connections of TCP and UDP, on each node. A change needs egress:write, as of those below and of the class. */
  connectionsPerSecond: GuardLimit,
  connectionsPerMinute: GuardLimit,
  /** Different destinations. */
  destinationsPerMinute: GuardLimit,
  /** Datagrams to destinations that are new within the minute. */
  udpDestinationsPerSecond: GuardLimit,
  failedConnectionsPerMinute: GuardLimit,
  /** Names that are asked of the name servers. */
  lookupsPerMinute: GuardLimit,
  /** At once; an association counts twice. */
  maxConnections: GuardLimit,
});

/** A field that is left out stays unchanged. */
export const AccountLimitsChange = AccountLimits.partial().meta({ id: 'AccountLimitsChange' });

export const AccountUsage = component('AccountUsage', {
  sessions: Count,
  clientAddresses: Count,
  /** Up and down since `periodStartedAt`. */
  periodBytes: Bytes,
  periodStartedAt: Time.nullable(),
  /** When the usage of the quota resets; null when it never does. */
  periodEndsAt: Time.nullable(),
  /** Since the account was created; a reset does not clear it. */
  totalBytesUp: Bytes,
  totalBytesDown: Bytes,
});

const AuthorizedAddresses = z.array(z.string().min(1).max(64)).max(256).meta({
  description:
    'Addresses and networks (203.0.113.7, 2001:db8::/48). A client from there that sends no credentials uses this account; no two accounts overlap. At most socks.maxAuthorizedAddresses.',
});

const AllowedClients = z.array(z.string().min(1).max(64)).max(256).meta({
  description:
    'Addresses, networks and countries from which the account may log in (203.0.113.7, 2001:db8::/48, asn:64500, country:de); none: everywhere. At most socks.maxAllowedClients. Countries and numbers of networks need the files of `geo` in the configuration; without them, such an entry allows nobody.',
});

const Schedule = z.string().max(MAX_SCHEDULE_CHARS).nullable().meta({
  description:
    'Days and hours in the time zone `timeZone`: mon-fri 08:00-23:00; sat,sun 00:00-24:00. null: always.',
});

/** The player's addresses for notices. */
export const Contacts = component('Contacts', {
  email: z.string().max(254).nullable(),
  /** Id of the chat with the operator's bot, or the name of a channel: @name. */
  telegram: z.string().max(64).nullable(),
  /** null: the language of the notice settings. */
  language: z.enum(CONTACT_LANGUAGES).nullable(),
});
/** A field that is left out stays unchanged. */
export const ContactsChange = Contacts.partial().meta({ id: 'ContactsChange' });

/** 1 to 255 bytes of UTF-8 (RFC 1929 §2). The account rules check bytes and control characters. */
export const Username = z.string().min(1).max(255);
export const Password = z.string().min(1).max(255);
export const Remarks = z.string().max(4_000).nullable();
export const Tag = z.string().min(1).max(MAX_TAG_CHARS).meta({
  id: 'Tag',
  description: 'A label that operators choose; no commas, semicolons or control characters.',
});
/** The account rules refuse too many tags only after they removed duplicates, so the schema allows more. */
export const Tags = z.array(Tag).max(10 * MAX_TAGS);

/** The fields that requests give for an account: one schema of each for creation, change, many accounts and bulk actions. */
const Fields = z.object({
  isEnabled: z.boolean(),
  remarks: Remarks,
  /** A change replaces all of them; at most 16. */
  tags: Tags,
  expiresAt: TimeIn.nullable(),
  limits: AccountLimitsChange,
  /** A change replaces all of them. */
  authorizedAddresses: AuthorizedAddresses,
  /** A change replaces all of them. Sessions from addresses that are no longer allowed end. */
  allowedClients: AllowedClients,
  /** Sessions end when it does not allow the present time. */
  schedule: Schedule,
  /** Name of the exit by which its new sessions leave; null: the default one, or none. Needs egress:write. */
  exit: z.string().regex(EXIT_NAME).nullable(),
});

/** The fields that answers give as requests do; the others have their own form there. */
export const FieldsOfAnswers = Fields.omit({
  isEnabled: true,
  remarks: true,
  tags: true,
  expiresAt: true,
  limits: true,
});

/** The fields of new accounts, of one or of many. */
export const NewAccountFields = {
  ...Fields.omit({ authorizedAddresses: true }).partial().shape,
  isEnabled: Fields.shape.isEnabled.default(true),
  remarks: Fields.shape.remarks.default(null),
  tags: Fields.shape.tags.default([]),
  expiresAt: Fields.shape.expiresAt.default(null),
  /** Name of a plan, which sets expiry and limits. Explicit values take precedence. */
  plan: z.string().max(64).optional(),
  contacts: ContactsChange.optional(),
};

export const NewAccount = component('NewAccount', {
  username: Username,
  /** Left out: the daemon makes a random one. */
  password: Password.optional(),
  ...NewAccountFields,
  authorizedAddresses: Fields.shape.authorizedAddresses.optional(),
  /** Also makes its link for client programs, where `admin.playerPage.enabled`. */
  subscription: z.boolean().default(false),
});

export const AccountChange = z
  .object({
    /** A new name ends the account's live sessions. Id, heartbeats and history stay. */
    username: Username,
    /** A new password ends the account's live sessions. */
    password: Password,
    ...Fields.shape,
    /** Changes the owner to another seller, or to the administrator (null). Only the administrator may do this. */
    owner: Guid.nullable(),
    /** Lifts a suspension; one by the guard needs egress:write. */
    suspendedUntil: z.null(),
    contacts: ContactsChange,
  })
  .partial()
  .meta({ id: 'AccountChange', description: 'A field that is left out stays unchanged.' });

/** The fields that a bulk action may replace. A field that is left out stays unchanged. */
export const AccessChange = Fields.pick(
  Object.fromEntries(ACCESS_FIELDS.map((name) => [name, true])) as Record<
    (typeof ACCESS_FIELDS)[number],
    true
  >,
)
  .partial()
  .meta({ id: 'AccessChange' });
