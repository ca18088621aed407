/** Finds tools by words, with a full-text index. Who may find what is decided by whoever asks: only the given tools are found. */

/** What is written about a tool, as plain words. The same object is indexed once. */
export interface ToolText {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  readonly parameters: string;
}

export interface ToolIndex extends Disposable {
  /** Of `among` those that have at least one of the words, best first. */
  search(among: readonly ToolText[], words: readonly string[], limit: number): readonly ToolText[];
}
