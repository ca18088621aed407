/** A field that narrows the list below it while somebody types. */
interface Props {
  /** What a screen reader calls it. */
  readonly name: string;
  /** When that is not its name. */
  readonly placeholder?: string;
  readonly value: string;
  readonly onTyped: (text: string) => void;
}

const MAX_TYPED = 200;

export function FindField({ name, placeholder = name, value, onTyped }: Props) {
  return (
    <input
      class="filter-text"
      type="search"
      dir="auto"
      aria-label={name}
      placeholder={placeholder}
      maxLength={MAX_TYPED}
      value={value}
      onInput={(event) => onTyped(event.currentTarget.value)}
    />
  );
}
