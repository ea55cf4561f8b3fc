// What the very first start says: the administrator's password, once, and the commands to begin with.

/**
 * The text for stderr. In the journal the password is not shown: others may read it there, for ever.
 */
export function firstRunBanner(
  { username, password }: { username: string; password: string },
  ready: { readonly socks: readonly string[]; readonly admin: readonly string[] },
  { isJournal }: { isJournal: boolean },
): string {
  if (isJournal) {
    return 'The administrator has a random password that is not written to the journal. Set one: pulsegate admin set-password\n';
  }
  const console = `http://${reachable(ready.admin[0])}/`;
  const api = `${console}ProxyAccount`;
  const login = `-u '${username}:${password}'`;
  return `
  First start: the administrator's password is shown only this once.

    user name  ${username}
    password   ${password}

  The console, in a browser:
    ${console}
  List the accounts:
    curl ${login} ${api}/GetProxyAccountList
  Add an account:
    curl ${login} -H 'Content-Type: application/json' -d '{"Username":"player","Password":"secret"}' ${api}/AddProxyAccount
  Go through the proxy with it:
    curl -x socks5h://player:secret@${reachable(ready.socks[0])} http://example.com/

`;
}

/** An address that a command on this machine can connect to, for one that a listener is bound to. */
function reachable(address = ''): string {
  return address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:');
}
