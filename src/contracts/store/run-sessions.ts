/** The sessions that runs of jobs and heartbeats leave behind, one for each: dropped when they are old, with the files of their memory. */

export interface RunSessionStore {
  /**
   * Drops sessions in which nothing happened since `before`, except the newest ones of each job. One that runs, that has something under way,
   * that a person has spoken in or named, or whose memory is used elsewhere stays. One transaction; returns how many were dropped.
   */
  drop(rule: {
    readonly before: number;
    readonly keepPerJob: number;
    /** In one go. */
    readonly limit: number;
  }): Promise<number>;
  /** Names of files whose session is gone, until they are gone too. */
  deadFiles(limit: number): Promise<readonly string[]>;
  fileGone(file: string): Promise<void>;
}
