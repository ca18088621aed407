/** JSON of a server as it arrives: the library parses whatever depth it gets, and takes seconds for what is nested a million times. Pure. */

const MAX_DEPTH = 64;

const NEWLINE = 10;
const RETURN = 13;
const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** Passes the bytes on, of one value or of a stream of events, and fails with the first bracket that is one too many. */
export function shallowJson(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const isTooDeep = depthCounter();
  const check = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      if (bytes.some(isTooDeep)) throw new TypeError(`it sent JSON that is nested deeper than ${MAX_DEPTH} levels`);
      controller.enqueue(bytes);
    },
  });
  return body.pipeThrough(check);
}

/**
 * Told one byte after the other. Brackets inside of texts count for nothing, and no text of JSON goes on in the next line. An empty line ends an
 * event; the lines of one event are one value.
 */
function depthCounter(): (byte: number) => boolean {
  let depth = 0;
  let inText = false;
  let isEscaped = false;
  let isLineEmpty = true;
  const endLine = (byte: number): void => {
    inText = false;
    isEscaped = false;
    if (byte !== NEWLINE) return;
    if (isLineEmpty) depth = 0;
    isLineEmpty = true;
  };
  const readText = (byte: number): void => {
    if (isEscaped) isEscaped = false;
    else if (byte === BACKSLASH) isEscaped = true;
    else if (byte === QUOTE) inText = false;
  };
  return (byte) => {
    if (byte === NEWLINE || byte === RETURN) {
      endLine(byte);
      return false;
    }
    isLineEmpty = false;
    if (inText) readText(byte);
    else if (byte === QUOTE) inText = true;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) depth++;
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth = Math.max(0, depth - 1);
    return depth > MAX_DEPTH;
  };
}
