/** One field that finds conversations, views, commands, jobs and settings, for a keyboard alone: type, arrow keys, Enter. */
import { useEffect, useId, useRef } from "preact/hooks";
import { choose, chosen, closePalette, found, moveChosen, typed, typeToFind } from "../../state/palette.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../icons.tsx";

const MAX_TYPED = 200;

export function Palette() {
  const ids = useId();
  const entries = found.value;
  const current = entries[chosen.value];
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [chosen.value, entries]);
  return (
    <Dialog name="Find" class="palette" onClose={closePalette}>
      <label class="palette-field">
        <Icon name="search" size={18} />
        <input
          dir="auto"
          type="text"
          role="combobox"
          aria-label="Find a conversation, view, command, job or setting"
          aria-expanded="true"
          aria-controls={`${ids}-list`}
          aria-autocomplete="list"
          aria-activedescendant={current ? `${ids}-${chosen.value}` : undefined}
          placeholder="Find a conversation, view, command, job or setting"
          autocomplete="off"
          spellcheck={false}
          maxLength={MAX_TYPED}
          value={typed.value}
          onInput={(event) => typeToFind(event.currentTarget.value)}
          onKeyDown={onKey}
        />
      </label>
      <div class="palette-list" role="listbox" aria-label="Found" id={`${ids}-list`} ref={list} tabindex={-1}>
        {[...Map.groupBy(entries, ({ group }) => group)].map(([group, members]) => (
          <div key={group} role="group" aria-label={group}>
            <div class="palette-group" aria-hidden="true">
              {group}
            </div>
            {members.map((entry) => {
              const at = entries.indexOf(entry);
              return (
                <div
                  key={entry.id}
                  id={`${ids}-${at}`}
                  class="palette-entry"
                  role="option"
                  aria-selected={at === chosen.value}
                  onPointerMove={() => (chosen.value = at)}
                  onClick={() => choose(entry)}
                >
                  <span dir="auto">{entry.name}</span>
                  {entry.detail !== undefined && <small dir="auto">{entry.detail}</small>}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      <p class="palette-note" role="status">
        {entries.length === 0 ? `Nothing found for “${typed.value}”.` : ""}
      </p>
    </Dialog>
  );
}

function onKey(event: KeyboardEvent): void {
  if (event.isComposing) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    moveChosen(event.key === "ArrowDown" ? 1 : -1);
  }
  if (event.key === "Enter") {
    event.preventDefault();
    choose(found.value[chosen.value]);
  }
}
