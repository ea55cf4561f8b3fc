// What is known of the address of a client, beside it in answers.
import { z } from 'zod';
import { type ClientOrigin, type Geo, originOf } from '../../../core/geo.js';

const Origin = z
  .object({ country: z.string().nullable(), asn: z.int().nullable(), network: z.string().nullable() })
  .meta({
    id: 'ClientOrigin',
    description:
      'Country (ISO 3166, lower case), and number and name of the network of the address of the client, by the files of `geo` in the configuration.',
  });

export const ClientFields = {
  client: z.string(),
  /** null: the files know nothing of the address, or there are none. */
  clientOrigin: Origin.nullable(),
};

export const withOrigin = <Item extends { readonly client: string }>(
  item: Item,
  geo: Geo,
): Item & { readonly clientOrigin: ClientOrigin | null } => ({
  ...item,
  clientOrigin: originOf(item.client, geo),
});
