// Downloads: those of the daemon that need a confirmation, and files made in the page.
import { askToConfirm, call } from './api.js';

/** A download can take some seconds to begin. */
const SPARE_MS = 5_000;

/** Opens the link of a download that needs a confirmation. A browser would show the refusal as a page. */
export function confirmThenFollow(event: MouseEvent & { readonly currentTarget: HTMLAnchorElement }): void {
  event.preventDefault();
  const link = document.createElement('a');
  link.href = event.currentTarget.href;
  link.download = '';
  void (async () => {
    const { confirmedUntil, now } = await call('getMe');
    const leftMs = confirmedUntil === null ? 0 : Date.parse(confirmedUntil) - Date.parse(now);
    if (leftMs > SPARE_MS || (await askToConfirm())) link.click();
  })().catch(() => link.click());
}

export function saveFile(fileName: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(url);
}
