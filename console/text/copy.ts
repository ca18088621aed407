/** Text to the clipboard. Pages that are neither HTTPS nor loopback have no clipboard interface; the old command still works there. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text); // no such interface here, or not allowed
  }
}

function copyByCommand(text: string): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  field.className = "hidden";
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  return copied;
}
