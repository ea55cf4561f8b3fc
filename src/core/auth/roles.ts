// The roles of operators beside the administrator, and what each may do.
import type { TOKEN_SCOPES } from './token-scopes.js';

/**
 * `viewer`: sees every account and changes nothing; `seller`: works on its own accounts and knows no others; `operator`: works on
 * every account, but not on the service itself.
 */
export const ROLES = ['operator', 'seller', 'viewer'] as const;
export type Role = (typeof ROLES)[number];

/** Neither settings, nodes and agents, which are the administrator's. */
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
