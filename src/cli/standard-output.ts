/** The outputs of the process without the streams of Node, which take 7 ms of every start to load and which a gateway does not need. */
import { fstatSync, statSync } from "node:fs";
import { devNull } from "node:os";

const DESCRIPTORS = { stdout: 1, stderr: 2 } as const;

/** Where there can be no terminal, no stream is asked. */
export function isTerminal(output: keyof typeof DESCRIPTORS): boolean {
  return mayBeTerminal(DESCRIPTORS[output]) && process[output].isTTY === true;
}

function mayBeTerminal(fd: number): boolean {
  try {
    const found = fstatSync(fd);
    return found.isCharacterDevice() && found.rdev !== statSync(devNull).rdev;
  } catch {
    return true; // it is closed, or this system tells less: the stream knows
  }
}

/** Of a gateway, which goes on when the reader of its output is gone. */
export function createLastingOutput(): (text: string) => void {
  let sink: Bun.FileSink | null = null; // opened by who writes
  const write = async (text: string): Promise<void> => {
    sink ??= Bun.stdout.writer();
    await sink.write(text); // throws at once where the reader is gone
    await sink.flush();
  };
  return (text) => void write(text).catch(() => undefined); // nobody reads it
}
