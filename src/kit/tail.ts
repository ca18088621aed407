/** The last `maxChars` of a text stream, such as a process's stderr for error reports. Older output is dropped on purpose. */
interface Tail {
  push(chunk: string): void;
  text(): string;
}

export function createTail(maxChars: number): Tail {
  let kept = "";
  return {
    push(chunk) {
      kept = (kept + chunk).slice(-maxChars);
    },
    text: () => kept,
  };
}
