/** The only source of chance: ids, tokens and codes. Production: systemIds. Tests: SeqIds. */
export interface Ids {
  /** Unique and roughly ordered by time, so that rows made later sort later. */
  next(prefix: string): string;
  /** Unguessable text of `bytes` random bytes, URL-safe. For tokens, codes and boundaries. */
  secret(bytes: number): string;
}

export const systemIds: Ids = {
  next: (prefix) => `${prefix}_${Bun.randomUUIDv7().replaceAll("-", "")}`,
  secret: (bytes) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("base64url"),
};
