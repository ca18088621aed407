/** Turns a failed Bun.build into one error that names files and lines. */
export function refuseFailure(result: Bun.BuildOutput): void {
  if (result.success) return;
  throw new Error(result.logs.map(sentence).join("\n"));
}

function sentence({ message, position }: Bun.BuildOutput["logs"][number]): string {
  return position ? `${position.file}:${position.line}:${position.column} ${message}` : message;
}
