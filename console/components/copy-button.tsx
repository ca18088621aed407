/** A button that copies a text and says for a moment that it did. */
import { useState } from "preact/hooks";
import { copyText } from "../text/copy.ts";
import { Icon } from "./icons.tsx";

const COPIED_MS = 1_500;

interface Props {
  readonly text: string;
  /** For screen readers: what is copied. */
  readonly label: string;
}

export function CopyButton({ text, label }: Props) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    setCopied(await copyText(text));
    setTimeout(() => setCopied(false), COPIED_MS);
  };
  return (
    <button type="button" class="quiet small" aria-label={copied ? "Copied" : label} onClick={() => void copy()}>
      <Icon name={copied ? "check" : "copy"} size={16} /> {copied ? "Copied" : "Copy"}
    </button>
  );
}
