/** Asks diagram.html for pictures of diagrams. It is a frame without an origin, made when the first diagram is shown, and made anew when it hangs. */
export type Drawing =
  | { readonly url: string; readonly width: number; readonly height: number; readonly isDark: boolean }
  | { readonly problem: string };

const PAGE = "/diagram.html";
const MAX_DIAGRAM_CHARS = 20_000;
const DRAWN_WITHIN_MS = 10_000;
const MAX_KEPT = 50;

interface Frame {
  readonly element: HTMLIFrameElement;
  readonly ready: Promise<void>;
  readonly waiting: Map<number, (answer: Answer) => void>;
}

interface Answer {
  readonly svg?: unknown;
  readonly width?: unknown;
  readonly height?: unknown;
  readonly problem?: unknown;
}

const kept = new Map<string, Promise<Drawing>>();
let frame: Frame | null = null;
let count = 0;

/** Never rejects. */
export function drawDiagram(text: string, isDark: boolean): Promise<Drawing> {
  const key = `${isDark ? "dark" : "light"} ${text}`;
  const known = kept.get(key);
  if (known) return known;
  const tooLong = { problem: "It is too long." };
  const drawing = text.length > MAX_DIAGRAM_CHARS ? Promise.resolve(tooLong) : draw(text, isDark);
  kept.set(key, drawing);
  const [oldest] = kept.keys();
  if (kept.size > MAX_KEPT && oldest !== undefined) void forget(oldest);
  return drawing;
}

async function forget(key: string): Promise<void> {
  const drawing = await kept.get(key);
  kept.delete(key);
  if (drawing && "url" in drawing) URL.revokeObjectURL(drawing.url);
}

async function draw(text: string, isDark: boolean): Promise<Drawing> {
  frame ??= makeFrame();
  const { element, ready, waiting } = frame;
  const id = ++count;
  const late = new Promise<Answer>((resolve) => setTimeout(resolve, DRAWN_WITHIN_MS, { problem: "It took too long." }));
  const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
  void ready.then(() => element.contentWindow?.postMessage({ id, text, isDark }, "*"));
  const answer = await Promise.race([answered, late]);
  if (!waiting.delete(id) && frame?.element === element) dropFrame();
  return drawingOf(answer, isDark);
}

/** As a picture: whatever is in it, it runs nothing and loads nothing. */
function drawingOf({ svg, width, height, problem }: Answer, isDark: boolean): Drawing {
  if (typeof svg !== "string" || typeof width !== "number" || typeof height !== "number")
    return { problem: typeof problem === "string" ? problem : "It could not be drawn." };
  return { url: URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })), width, height, isDark };
}

function makeFrame(): Frame {
  const element = document.createElement("iframe");
  element.setAttribute("sandbox", "allow-scripts");
  element.title = "Draws diagrams";
  element.tabIndex = -1;
  element.className = "diagram-frame";
  element.setAttribute("aria-hidden", "true");
  const waiting: Frame["waiting"] = new Map();
  const ready = new Promise<void>((resolve) => {
    addEventListener("message", ({ source, data }: MessageEvent<Answer & { ready?: unknown; id?: unknown }>) => {
      if (source !== element.contentWindow || typeof data !== "object" || data === null) return;
      if (data.ready === true) return resolve();
      const answer = typeof data.id === "number" ? waiting.get(data.id) : undefined;
      answer?.(data);
    });
  });
  element.src = PAGE;
  document.body.append(element);
  return { element, ready, waiting };
}

function dropFrame(): void {
  frame?.element.remove();
  frame = null;
}
