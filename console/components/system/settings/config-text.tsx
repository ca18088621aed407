/** The text of the configuration file, comments included, without its secrets. Checked while somebody types, with line and column. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { configFile } from "../../../state/config-state.ts";
import { soon } from "../../../state/soon.ts";
import { ReviewChange } from "./review-change.tsx";

const PAUSE_MS = 300;
const ROWS = 24;

export function ConfigText() {
  const file = configFile.value;
  if (file === null) return <p class="list-note">Reading…</p>;
  if (file === "failed") return <p class="list-note">The file could not be read. Is the gateway connected?</p>;
  if (file.text === null)
    return (
      <p class="about" data-testid="no-text">
        {file.path} is not JSONC, so nobody can tell what in it is secret, and it is not shown. Go back to the last good
        settings, or repair it where it is.
      </p>
    );
  return <Editor key={file.version} path={file.path} saved={file.text} />;
}

function Editor({ path, saved }: { readonly path: string; readonly saved: string }) {
  const text = useSignal(saved);
  /** What is looked at; follows the text after a pause. */
  const checked = useSignal(saved);
  const area = useRef<HTMLTextAreaElement>(null);
  const reset = () => {
    text.value = saved;
    checked.value = saved;
  };
  return (
    <>
      <label class="field whole config-text">
        <span>
          {path}. Secrets are shown as "(hidden)": what stays hidden stays as it is, and a new value takes its place.
        </span>
        <textarea
          ref={area}
          class="code"
          dir="ltr"
          rows={ROWS}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          data-testid="config-text"
          value={text.value}
          onInput={(event) => {
            text.value = event.currentTarget.value;
            soon("config text", PAUSE_MS, () => (checked.value = text.value));
          }}
        />
      </label>
      {checked.value !== saved && (
        <ReviewChange
          name="Changed text"
          change={{ text: checked.value }}
          onDone={reset}
          onPlace={(line, column) => showPlace(area.current, line, column)}
        />
      )}
    </>
  );
}

/** Puts the cursor there and selects the rest of the line. */
function showPlace(area: HTMLTextAreaElement | null, line: number, column: number): void {
  if (!area) return;
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  const end = start + (lines[line - 1]?.length ?? 0);
  area.focus();
  area.setSelectionRange(Math.min(start + column - 1, end), end);
}
