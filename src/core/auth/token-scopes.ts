// The scopes of API tokens.

/** The administrator (console or Basic authentication) has all permissions. */
export const TOKEN_SCOPES = [
  'accounts:read',
  'accounts:write',
  /** In addition to accounts:write: set the egress class of an account. */
  'egress:write',
  'sessions:read',
  'sessions:write',
  'heartbeats:read',
  'agents:read',
  'agents:write',
  'settings:read',
  'settings:write',
  'audit:read',
  'log:read',
] as const;
