// The access that a change of credentials or rights ends, in the transaction that makes the change.

export interface EndedAccess {
  /** Whose; null: the administrator's. All its console sessions end. */
  readonly operatorId: string | null;
  /** Its API tokens are revoked, too. */
  readonly tokens: boolean;
}
