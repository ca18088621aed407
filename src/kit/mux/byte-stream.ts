/** Bytes in both directions, each with an end. */
export interface ByteStream {
  /** The next bytes; null after the last ones. Rejects when the stream was cut. One reader at a time. */
  read(): Promise<Uint8Array | null>;
  /** Resolves when all of it is on its way. Rejects when the stream is over. One writer at a time. */
  write(bytes: Uint8Array): Promise<void>;
  /** Nothing more is written. */
  end(): void;
  abort(reason: string): void;
  /** Aborts when the stream ends in any way but a complete one. */
  readonly cut: AbortSignal;
}

/** Passes everything on, both ways at once, until both are complete. Rejects when one is cut; both are over then. `said`: called for each piece. */
export async function joinStreams(
  one: ByteStream,
  other: ByteStream,
  said: () => void = () => undefined,
): Promise<void> {
  const pass = async (from: ByteStream, to: ByteStream): Promise<void> => {
    for (let bytes = await from.read(); bytes !== null; bytes = await from.read()) {
      said();
      await to.write(bytes);
    }
    to.end();
  };
  try {
    await Promise.all([pass(one, other), pass(other, one)]);
  } catch (error) {
    one.abort("the other side was cut");
    other.abort("the other side was cut");
    throw error;
  }
}
