/** What one rate limit counts, told to the other gateways on the same database and heard from them. */
export interface SharedCount {
  /** Was counted here, once. `of`: what the limit needs to know of it where the name is new. */
  tell(name: string, of: number): void;
  /** Was counted elsewhere, a moment ago, so many times. */
  hear(listener: (name: string, count: number, of: number) => void): void;
}

/** Of a gateway without others. */
export const COUNTED_ALONE: SharedCount = { tell: () => undefined, hear: () => undefined };
