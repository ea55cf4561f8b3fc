// /api/v1: a password with its link and client formats, shown when it is made or when the caller knows it.
import { randomBytes } from 'node:crypto';
import { clientText, clientTexts } from '../../core/accounts/client-formats.js';
import { linkAddressFor, type PublicAddressUses } from './public-address.js';

/** 15 bytes are 20 characters, 120 bits, and none of them needs escaping in a link. */
export function randomPassword(): string {
  return randomBytes(15).toString('base64url');
}

interface Shown {
  readonly id: string;
  readonly username: string;
  readonly password: string;
}

export function credentials(
  uses: Pick<PublicAddressUses, 'socks' | 'publicAddress'>,
  hostname: string,
  account: Shown,
): Record<string, unknown> {
  const access = { ...account, ...linkAddressFor(uses, hostname) };
  return { ...account, link: clientText('link', access), plain: clientText('plain', access) };
}

/** The same with every client format: for one account, since they are long. */
export function credentialsInFormats(
  uses: Pick<PublicAddressUses, 'socks' | 'publicAddress'>,
  hostname: string,
  account: Shown,
): Record<string, unknown> {
  const formats = clientTexts({ ...account, ...linkAddressFor(uses, hostname) });
  return { ...credentials(uses, hostname, account), formats };
}
