/**
 * Frames of a WebSocket for tests, each in a turn of the event loop of its own. `expect(…).rejects` waits by running the event loop in the
 * place where it stands; standing in the middle of frames that Bun's client is reading, it mixes them up, and the client ends the connection
 * with 1002.
 */
interface FrameHandlers {
  frame(data: unknown): void;
  closed(code: number, reason: string): void;
}

export function onFrames(socket: WebSocket, { frame, closed }: FrameHandlers): void {
  const waiting: (() => void)[] = [];
  const takeOne = (): void => {
    const take = waiting.shift();
    if (waiting.length > 0) setTimeout(takeOne, 0); // before this one is taken: whoever takes it may run the event loop
    take?.();
  };
  const add = (take: () => void): void => {
    if (waiting.push(take) === 1) setTimeout(takeOne, 0);
  };
  socket.addEventListener("message", ({ data }) => add(() => frame(data)));
  socket.addEventListener("close", ({ code, reason }) => add(() => closed(code, reason)));
}
