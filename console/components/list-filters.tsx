/** Which conversations the list shows: of one channel, agent or person, or the archived ones. */
import { request } from "../state/console-state.ts";
import { choices, filter, filterList } from "../state/session-list.ts";

const NAMES = { channel: "Channel", agent: "Agent", person: "Person" } as const;
type Field = keyof typeof NAMES;

export function ListFilters() {
  const chosen = filter.value;
  const narrowed = chosen.channel !== "" || chosen.agent !== "" || chosen.person !== "" || chosen.archived;
  return (
    <details class="list-filters">
      <summary>Filter</summary>
      {(Object.keys(NAMES) as Field[]).map((field) => (
        <select
          key={field}
          aria-label={NAMES[field]}
          value={chosen[field]}
          onChange={(event) => filterList(request, { ...chosen, [field]: event.currentTarget.value })}
        >
          <option value="">Any {NAMES[field].toLowerCase()}</option>
          {choices.value[field].map((value) => (
            <option key={value} value={value}>
              {value}
            </option>
          ))}
        </select>
      ))}
      <label>
        <input
          type="checkbox"
          checked={chosen.archived}
          onChange={(event) => filterList(request, { ...chosen, archived: event.currentTarget.checked })}
        />
        <span>Archived</span>
      </label>
      {narrowed && (
        <button type="button" class="quiet small" onClick={() => filterList(request, null)}>
          Show all
        </button>
      )}
    </details>
  );
}
