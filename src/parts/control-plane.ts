// The control plane: creates and starts the parts that manage what serves players, in order. Loaded after that has taken over.
import { ExitFigures } from '../core/exits/exit-figures.js';
import type { StartControlPlane } from '../daemon.js';
import { createAdminListenersPart, createControlSocketPart } from './admin/admin-listeners.js';
import { createHttpPart } from './admin/http.js';
import { createAgentsPart } from './agents.js';
import { createGivenPasswordPart, openAuth } from './auth.js';
import { createMemoryPart } from './capacity.js';
import { createCore, enterTimeZone } from './core.js';
import { createActivityPart, createChangesPart, createPenaltiesPart } from './database/changes.js';
import { createDatabasePart, createStoragePart } from './database/database.js';
import { createNodePart } from './database/node.js';
import { createSessionsPart } from './database/sessions.js';
import { warnOfLostGeo } from './geo.js';
import { createHeartbeatsPart, createLogTrimmingPart } from './heartbeats.js';
import { readCertificate } from './listeners/certificates.js';
import { createEventsPart } from './notices/events.js';
import { createNoticesPart } from './notices/notices.js';
import { openSettings } from './operator-settings.js';
import { createExits } from './players/exits.js';
import { createFirstLoginsPart } from './players/first-logins.js';
import { createProxyPart } from './players/proxy.js';
import { createStatsPart } from './stats.js';

export const startControlPlane: StartControlPlane = async (options, serving, { use }) => {
  const { config, source, log } = options;
  const { geo, sessions, players, tlsListeners, listeners, sockets, given } = serving;
  const { plane, libc } = players;
  const startedAt = Date.now();
  const tls = readCertificate(config.admin.tls, log, startedAt);
  const database = await use(await createDatabasePart(config, log));
  const { store } = database;
  const storage = await use(createStoragePart(config, store, log));
  const core = await createCore(config, store, sessions);
  warnOfLostGeo(config, core.directory, log);
  const firstRun = await core.credentials.ensure(options.given);
  const base = { config, core, log: storage.log, now: Date.now, startedAt };
  const node = await core.settings.open(await use(await createNodePart(base)));
  await enterTimeZone(base);
  await core.usage.load();
  const settings = await openSettings({ ...base, source });
  const stats = await use(await createStatsPart({ ...base, node }));
  const liveSessions = await use(createSessionsPart({ ...base, stats, node }));
  const penalties = await use(createPenaltiesPart(base));
  const shared = { ...base, settings, stats, node, liveSessions, penalties };
  const auth = await openAuth(base);
  const events = await use(createEventsPart({ ...shared, ...auth, geo, plane }));
  const notices = await use(createNoticesPart({ ...shared, storage, events }));
  await use(createLogTrimmingPart(shared));
  const heartbeats = await use(createHeartbeatsPart(shared));
  await use(createActivityPart({ ...shared, heartbeats }));
  const firstLogins = await use(createFirstLoginsPart(base));
  const exitFigures = new ExitFigures(base.now);
  const counts = createProxyPart({ ...shared, log, players, notices, events, firstLogins, exitFigures });
  // It stops after the data plane: sessions over TLS cannot be handed over, and end last.
  await use(tlsListeners);
  await use(players);
  await use(counts);
  await use(createChangesPart({ ...shared, plane }));
  const exits = createExits({ ...base, exitFigures }, plane, libc);
  const agents = await use(createAgentsPart(shared));
  const http = await use(
    createHttpPart({
      ...shared,
      ...options,
      ...serving,
      auth,
      notices,
      events,
      heartbeats,
      problem: storage.problem,
      plane,
      agents,
      exits,
      tls,
      monotonicNow: () => performance.now(),
      random: Math.random,
    }),
  );
  // Listeners open last, so that every connection finds the other parts running.
  await use(listeners);
  const admin = await use(createAdminListenersPart({ config, plane, http, sockets, given }));
  await use(createControlSocketPart({ config, http, sockets, log }));
  sockets?.closeUnused();
  await penalties.read();
  await node.serve({
    addresses: () => ({
      socks: listeners.addresses,
      admin: admin.addresses,
      players: listeners.reachedAt(settings.publicAddress.current()),
    }),
    load: () => stats.load(),
    refuse: (isRefusing) => plane.tell({ kind: 'refuse', isRefusing }),
  });
  await use(serving.priority);
  await use(createMemoryPart(libc));
  await use(createGivenPasswordPart(base));
  // Stored last: a failed start has not shown the password, so the next start generates a new one.
  const isShown = (await firstRun?.store()) ?? false;

  return {
    ready: { socks: listeners.addresses, admin: admin.addresses },
    firstRun: isShown ? firstRun : null,
    certificate: http.certificate,
    closeDatabase: database.stop,
    reload(changed) {
      // Everything is read before anything changes, so that one broken file leaves all of the configuration in use.
      const pair = readCertificate(changed.admin.tls, log, Date.now());
      const reloads = [tlsListeners.prepareReload(), agents.prepareReload(changed.webhooks)];
      for (const reload of reloads) reload();
      if (pair) http.setTls(pair);
      geo.reload();
    },
  };
};
