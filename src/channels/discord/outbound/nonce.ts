/** The name under which Discord knows a message before it has an id: the same for the same piece of the same part, for ever. */
const MAX_NONCE_CHARS = 25;

/** Piece 0 of a reply's first part is also what its preview is sent under: whichever comes first, there is one message. */
export function nonceOf(partId: string, piece: number): string {
  return new Bun.CryptoHasher("sha256").update(`${partId}#${piece}`).digest("base64url").slice(0, MAX_NONCE_CHARS);
}

/** The part that a turn's preview becomes. */
export function firstPartOf(turnId: string): string {
  return `${turnId}:0`;
}
