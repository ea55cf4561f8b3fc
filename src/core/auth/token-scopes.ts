// What an API token may be allowed to do.

/** The operator (console or Basic) may do everything. */
export const TOKEN_SCOPES = [
  'accounts:read',
  'accounts:write',
  /** Beside accounts:write: which egress class an account is in, that is where it may go. */
  'egress:write',
  'sessions:read',
  'sessions:write',
  'heartbeats:read',
  'agents:read',
  'agents:write',
  'settings:read',
  'settings:write',
  'audit:read',
] as const;
