// Why a change of an account is refused, as the command line says it.
import { SCHEDULE_RULE } from '../../core/accounts/access/schedule.js';
import { ADDRESS_FIELDS } from '../../core/accounts/fields/address-fields.js';
import { MAX_TAGS, TAG_RULE } from '../../core/accounts/fields/tags.js';
import { Refused, worded } from '../shared/api.js';
import { CommandError } from '../shared/command.js';

/** Says refusals of a change in the command line's words. @param texts more of them, as for `worded` */
export function wordedAccount<Answer>(
  answer: Promise<Answer>,
  texts: Parameters<typeof worded>[1] = {},
): Promise<Answer> {
  return worded(answer, { ...REFUSALS, ...texts }).catch((error: unknown) => {
    const [wrong] = error instanceof Refused ? (error.problem.errors ?? []) : [];
    if (!wrong || !ADDRESS_FIELDS.some((name) => wrong.path.startsWith(`body.${name}`))) throw error;
    throw new CommandError(`${wrong.message.charAt(0).toUpperCase()}${wrong.message.slice(1)}.`);
  });
}

const REFUSALS = {
  'body.username too-short': 'User name and password must not be empty.',
  'body.username': 'The user name must be 1 to 255 bytes of UTF-8 without control characters.',
  'body.password': 'The password must be 1 to 255 bytes of UTF-8 and not only white space.',
  'body.remarks not-storable': 'The remarks contain characters that cannot be stored.',
  'body.tags': `At most ${MAX_TAGS} tags, and ${TAG_RULE}.`,
  'body.expiresAt': 'The expiry must be in the years 0001 to 9999 (UTC).',
  'body.schedule': `The schedule must be ${SCHEDULE_RULE}.`,
  'body.contacts.email': 'The e-mail address must be one address such as name@example.com.',
  'body.contacts.telegram': 'The Telegram chat must be a number, or @ and the name of a channel.',
  'username-taken': 'An account with this user name already exists.',
  'no-account': 'The account no longer exists.',
};
