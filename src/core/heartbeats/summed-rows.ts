// Rows of heartbeat sums, added up by account and game.

export interface HeartbeatSumRow {
  readonly accountId: string;
  /** null: none. */
  readonly gameId: string | null;
  readonly count: number;
  readonly bytesUp: number;
  readonly bytesDown: number;
}

/** The key of all GameIDs of an account beyond the maximum number per step. No GameID is white space. */
export const OTHER_GAMES = ' ';

/**
 * Sums by account and GameID. Clients choose GameIDs, so the ones beyond the first `maxGames` of an account share one row.
 * @param gamesOf GameIDs of an account that already have a row
 */
export function sumUp(
  rows: Iterable<HeartbeatSumRow>,
  maxGames: number,
  gamesOf: (accountId: string) => ReadonlySet<string> = () => new Set(),
): SummedRows {
  const summed = new SummedRows(maxGames, gamesOf);
  for (const row of rows) summed.add(row);
  return summed;
}

type Row = { -readonly [K in keyof HeartbeatSumRow]: HeartbeatSumRow[K] };

export class SummedRows {
  readonly #accounts = new Map<string, { games: Set<string>; rows: Map<string | null, Row> }>();
  readonly #maxGames: number;
  readonly #gamesOf: (accountId: string) => ReadonlySet<string>;
  size = 0;

  constructor(maxGames: number, gamesOf: (accountId: string) => ReadonlySet<string>) {
    this.#maxGames = maxGames;
    this.#gamesOf = gamesOf;
  }

  add({ accountId, gameId, count, bytesUp, bytesDown }: HeartbeatSumRow): void {
    let account = this.#accounts.get(accountId);
    if (!account) {
      account = { games: new Set(this.#gamesOf(accountId)), rows: new Map() };
      this.#accounts.set(accountId, account);
    }
    const { games, rows } = account;
    const isOther =
      gameId !== null && gameId !== OTHER_GAMES && !games.has(gameId) && games.size >= this.#maxGames;
    const key = isOther ? OTHER_GAMES : gameId;
    const row = rows.get(key);
    if (row) {
      row.count += count;
      row.bytesUp += bytesUp;
      row.bytesDown += bytesDown;
      return;
    }
    if (key !== null && key !== OTHER_GAMES) games.add(key);
    rows.set(key, { accountId, gameId: key, count, bytesUp, bytesDown });
    this.size += 1;
  }

  *all(): Generator<HeartbeatSumRow> {
    for (const { rows } of this.#accounts.values()) yield* rows.values();
  }
}
