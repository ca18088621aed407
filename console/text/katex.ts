/** KaTeX as the web console uses it: a chunk of its own, loaded with the first formula. Gives MathML, which browsers draw themselves. */
import katex from "katex";

const MAX_EXPANSIONS = 1_000;
const MAX_SIZE_EM = 50;

export function writeMath(tex: string, display: boolean): string | null {
  try {
    return katex.renderToString(tex, {
      output: "mathml",
      displayMode: display,
      throwOnError: true,
      strict: "ignore",
      trust: false, // no links, no pictures, no classes
      maxExpand: MAX_EXPANSIONS,
      maxSize: MAX_SIZE_EM,
    });
  } catch {
    return null; // not a formula that KaTeX knows: the text stays as it was written
  }
}
