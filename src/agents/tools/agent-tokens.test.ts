/** A token of an agent process speaks for whom the process serves now, and for nobody once the process is gone. */
import { expect, test } from "bun:test";
import { createSeqIds } from "../../testing/seq-ids.ts";
import { MEMBER, OWNER } from "../../testing/tools/tool-world.ts";
import { createAgentTokens } from "./agent-tokens.ts";

test("a token stands for the caller of the current lease, for nobody between leases, and is unknown after its process", () => {
  const hidden: string[] = [];
  let shownAgain = 0;
  const tokens = createAgentTokens({
    ids: createSeqIds(),
    hide(secret) {
      hidden.push(secret.reveal());
      return { [Symbol.dispose]: () => void shownAgain++ };
    },
  });
  const token = tokens.issue();
  const text = token.secret.reveal();
  expect([hidden, tokens.known(text), tokens.resolve(text)]).toEqual([[text], true, null]);
  token.serve(OWNER);
  expect(tokens.resolve(text)).toBe(OWNER);
  token.serve(null);
  expect([tokens.known(text), tokens.resolve(text)]).toEqual([true, null]);
  token.serve(MEMBER);
  expect(tokens.resolve(text)).toBe(MEMBER);
  token[Symbol.dispose]();
  expect([tokens.known(text), tokens.resolve(text), shownAgain]).toEqual([false, null, 1]);
  expect(tokens.known("another token")).toBe(false);
});
