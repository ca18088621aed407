/** The sessions that a list is limited to, so that a page holds as many as it may although others were left out. */
export interface SessionReach {
  /** Ids of agents. Null: sessions of all agents. */
  readonly agents: readonly string[] | null;
  /** Only sessions that the key with this id has named. Null: sessions of everybody. */
  readonly keyId: string | null;
}
