/** Long lists, page by page. */
export interface Page {
  readonly limit: number;
  /** Opaque, from `next` of the page before. */
  readonly cursor?: string;
}

export interface Listed<T> {
  readonly items: readonly T[];
  readonly next?: string;
}
