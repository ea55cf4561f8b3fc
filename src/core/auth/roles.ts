// The roles of operators besides the administrator, and the scopes of each.
import type { TOKEN_SCOPES } from './token-scopes.js';

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
