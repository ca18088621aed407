/** Input of a command, line by line. Nothing may be endless. */
const MAX_LINE_CHARS = 1_000_000;

/** Line by line; the last line counts without a line break too. */
export async function* readLines(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of input) {
    rest += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield line.endsWith("\r") ? line.slice(0, -1) : line;
    if (rest.length > MAX_LINE_CHARS) throw new Error("This line is too long to be a message.");
  }
  if (rest !== "") yield rest;
}
