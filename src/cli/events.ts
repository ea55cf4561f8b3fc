// `pulsegate event-receiver` and `pulsegate event-delivery`: the receivers of events, and what each was sent.
import { NOTICE_STATES } from '../core/notices/notice.js';
import { CommandError } from './shared/command.js';
import type { AddCommands } from './shared/group.js';
import { enabling, limitOption } from './shared/options.js';
import { choice, param, repeated } from './shared/params.js';

const RECEIVER = { id: '<id>  id of the receiver' } as const;
const types = repeated(
  '--type <type...>  types of events, such as account.created account.expired',
  (text) => [text as 'account.created'],
);
const isEnabled = enabling('--enable  send events to it', '--disable  discard what waits, and send nothing');
const REFUSALS = { 'no-receiver': 'No such receiver. See: pulsegate event-receiver list' };
const secretOf = (secret: string | null): string =>
  secret === null ? '' : `\nSecret of its signatures, shown only now: ${secret}`;

export const addReceiverCommands: AddCommands = (program) =>
  program
    .group('event-receiver', 'manage receivers of events: programs that are notified of changes', REFUSALS)
    .examples('event-receiver add https://shop.example/events --type account.expired account.removed')

    .command('list', 'list receivers')
    .lists('No receivers. See: pulsegate event-receiver add --help', 'GET /event-receivers', [
      { ID: 'id', URL: 'url', OWNER: 'owner', STATE: ({ isEnabled }) => (isEnabled ? 'on' : 'off') },
      { TYPES: 'types' },
    ])

    .command('add', 'add a receiver', { url: '<url>  address that gets each event', types: types.required() })
    .calls('POST /event-receivers', (_, { id, secret }) => `Added ${id}.${secretOf(secret)}`)

    .command('set', 'change a receiver', RECEIVER, {
      url: param('--url <url>  address that gets each event'),
      types,
      isEnabled,
      newSecret: '--new-secret  replace the secret of its signatures',
    })
    .needs('change')
    .calls('PATCH /event-receivers/{id}', ({ id }, { secret }) => `Changed ${id}.${secretOf(secret)}`)

    .command('remove', 'remove a receiver; what waits for it is discarded', RECEIVER)
    .asks(({ id }) => `The receiver ${id} will be removed.`)
    .does('DELETE /event-receivers/{id}', ({ id }) => `Removed ${id}.`)

    .command('test', 'send a test event to a receiver; needs the daemon', RECEIVER)
    .calls('POST /event-receivers/{id}/test', (_, { delivered, detail }) => {
      if (!delivered) throw new CommandError(`Not delivered: ${detail}.`);
      return `Delivered: ${detail}.`;
    });

export const addDeliveryCommands: AddCommands = (program) =>
  program
    .group('event-delivery', 'list what receivers of events were sent, and send it again', {
      'no-delivery': 'No such delivery. See: pulsegate event-delivery list',
      'delivery-waits': 'It waits for its next attempt.',
    })

    .command('list', 'list deliveries, newest first', {
      receiver: param('--receiver <id>  only those to a receiver'),
      state: choice('--state <state>  only those in a state', NOTICE_STATES),
      limit: limitOption('deliveries', 100),
    })
    .lists('Nothing was sent yet.', 'GET /event-deliveries', [
      { ID: 'id', AT: 'at', TYPE: 'type', STATE: 'state', TRIES: 'tries', RECEIVER: 'receiver' },
      { ANSWER: 'detail' },
    ])

    .command('retry', 'send one again, with a new set of attempts', { id: '<id>  id of the delivery' })
    .does('POST /event-deliveries/{id}/retry', ({ id }) => `Sending ${id} again.`);
