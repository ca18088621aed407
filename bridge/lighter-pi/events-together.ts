/**
 * pi writes every event by itself and waits until it has left, so each wakes the gateway: some twenty times in a turn. Events of one moment
 * leave together, and the end of a tool at once. Nothing is reordered or dropped, and pi waits as before where the gateway does not read.
 */
type Done = (error?: Error | null) => void;
type Write = (text: string, done: Done) => unknown;

interface Options {
  write: Write;
  /** Runs it when pi has said all it has to say for now. */
  later(run: () => void): void;
  /** What was said could not be written, and pi was told that it was. */
  failed(error: Error): void;
}

/** pi goes on for a millisecond or two after it, with the next request to the model, and people see this one. */
const AT_ONCE = '{"type":"tool_execution_end"';
/** From here on pi waits. */
const MAX_HELD_CHARS = 65_536;

export function writeEventsTogether(): void {
  const { stdout } = process;
  const usual = stdout.write.bind(stdout) as (chunk: unknown, ...more: unknown[]) => boolean;
  const output = createOutput({ write: usual, later: setImmediate, failed: () => process.exit(1) }); // as pi ends when it cannot write
  process.on("exit", output.flush);
  const write = (chunk: unknown, ...more: unknown[]): boolean => {
    const [done] = more;
    if (typeof chunk === "string" && typeof done === "function") {
      output.write(chunk, done as Done);
      return true;
    }
    output.flush();
    return usual(chunk, ...more);
  };
  stdout.write = write as typeof stdout.write;
}

export function createOutput({ write, later, failed }: Options) {
  let held = "";
  let leaving = 0;

  const leave = (done?: Done): void => {
    const text = held;
    held = "";
    leaving++;
    write(text, (error) => {
      leaving--;
      if (done) done(error);
      else if (error) failed(error);
    });
  };
  const flush = (): void => {
    if (held !== "") leave();
  };

  return {
    flush,
    write(text: string, done: Done): void {
      if (held === "") later(flush);
      held += text;
      // an empty text asks whether everything has left
      const waits = text === "" || leaving > 0 || held.length >= MAX_HELD_CHARS;
      if (waits || text.startsWith(AT_ONCE)) leave(done);
      else done();
    },
  };
}
