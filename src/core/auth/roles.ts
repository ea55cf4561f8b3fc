// The scopes of API tokens, and the roles of operators: each the scopes that it has.
/** The administrator (console or Basic authentication) has all permissions. */
export const TOKEN_SCOPES = [
  'accounts:read',
  'accounts:write',
  /** In addition to accounts:write: set egress class, exit and limits per minute of an account, and lift its suspension. */
  'egress:write',
  'sessions:read',
  'sessions:write',
  'heartbeats:read',
  /** Who used a destination at a time; each search is in the audit log. */
  'trace:read',
  'agents:read',
  'agents:write',
  'settings:read',
  'settings:write',
  'audit:read',
  'log:read',
] as const;

/**
 * `viewer`: sees every account and changes nothing; `seller`: manages its own accounts and sees no others; `operator`: manages
 * every account, but not the service itself.
 */
export const ROLES = ['operator', 'seller', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** No role has the scopes of settings, nodes, agents and the log, which belong to the administrator. */
export const ROLE_SCOPES: Readonly<Record<Role, readonly (typeof TOKEN_SCOPES)[number][]>> = {
  operator: [
    'accounts:read',
    'accounts:write',
    'egress:write',
    'sessions:read',
    'sessions:write',
    'heartbeats:read',
    'trace:read',
    'audit:read',
  ],
  seller: [
    'accounts:read',
    'accounts:write',
    'sessions:read',
    'sessions:write',
    'heartbeats:read',
    'audit:read',
  ],
  viewer: ['accounts:read', 'sessions:read', 'heartbeats:read', 'audit:read'],
};
