/** JSON lines: split on LF only (U+2028 inside a string is legal), one trailing CR dropped, every line capped before it is parsed. */
interface LineSplitter {
  push(chunk: Uint8Array): void;
}

interface LineSink {
  line(text: string): void;
  /** The current line grew past the cap. Called once; what follows is ignored. */
  tooLong(bytes: number): void;
}

const LF = 10;

export function createLineSplitter(maxLineBytes: number, sink: LineSink): LineSplitter {
  let pieces: Uint8Array[] = [];
  let held = 0;
  let broken = false;

  const emit = (last: Uint8Array): void => {
    const whole = pieces.length === 0 ? last : Buffer.concat([...pieces, last]);
    pieces = [];
    held = 0;
    const text = Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString("utf8");
    sink.line(text.endsWith("\r") ? text.slice(0, -1) : text);
  };

  return {
    push(chunk) {
      let start = 0;
      while (!broken) {
        const end = chunk.indexOf(LF, start);
        const stop = end < 0 ? chunk.length : end;
        if (held + (stop - start) > maxLineBytes) {
          broken = true;
          pieces = [];
          sink.tooLong(held + (stop - start));
          return;
        }
        if (end < 0) break;
        emit(chunk.subarray(start, end));
        start = end + 1;
      }
      if (broken || start >= chunk.length) return;
      pieces.push(chunk.slice(start)); // copied: the reader may reuse its buffer
      held += chunk.length - start;
    },
  };
}
