/** One bug on purpose: a line of the product, and what stands in its place. */
export interface Mutant {
  readonly name: string;
  /** Below src/. */
  readonly file: string;
  /** Occurs once in the file. */
  readonly find: string;
  readonly replace: string;
  /** The first seed that shows it, where none of the first few hundred does. */
  readonly seed?: number;
  /** Shows with the shipped pool (`--pool`). */
  readonly pool?: true;
}
