/** The letters of a store that one gateway at a time can open: there is nobody to write to. */
import type { LetterStore } from "../contracts/store/letters.ts";

const NOTHING = { [Symbol.dispose]: () => undefined };

export const NO_LETTERS: LetterStore = {
  send: () => undefined,
  onLetter: () => NOTHING,
  onMissed: () => NOTHING,
  onOther: () => NOTHING,
  others: () => [],
  live: async () => [],
};
