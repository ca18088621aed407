/** What was said in voice messages, by the digest of their content: the same recording is transcribed once. */
export interface TranscriptionStore {
  find(digest: string): Promise<string | null>;
  /** The oldest go when there are too many. */
  put(digest: string, words: string, at: number): Promise<void>;
}
