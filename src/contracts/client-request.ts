/** What a program gives an agent with a request: tools that the program runs itself, instructions, and what was said before. */

/** A tool of a program. The gateway offers it to the model, and hands the call back to the program instead of running it. */
export interface ClientTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>; // JSON Schema
}

/** For one turn of a session. */
export interface ClientRequest {
  readonly tools: readonly ClientTool[];
  /** Empty: none. */
  readonly instructions: string;
}

/** One message of a conversation that a program brings along. */
export type HistoryMessage =
  | { readonly role: "user"; readonly text: string; readonly images: readonly HistoryImage[] }
  | { readonly role: "assistant"; readonly text: string; readonly calls: readonly ClientCall[] }
  | { readonly role: "tool"; readonly callId: string; readonly tool: string; readonly text: string };

export interface HistoryImage {
  readonly mimeType: string;
  readonly base64: string;
}

/** A call of a client tool. */
export interface ClientCall {
  readonly callId: string;
  readonly tool: string;
  readonly input: unknown;
}
