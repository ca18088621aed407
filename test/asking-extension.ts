/** An extension of pi whose tools ask people, as a file to be written where a gateway finds it. */
export const ASKING_EXTENSION = `
export default function (pi) {
  const tool = (name, run) =>
    pi.registerTool({
      name, label: name, description: name, parameters: { type: "object", properties: {} },
      async execute(_id, _params, _signal, _update, ctx) {
        const answer = await run(ctx.ui);
        return { content: [{ type: "text", text: JSON.stringify(answer) ?? "nothing" }], details: undefined };
      },
    });
  tool("ask_choice", (ui) => ui.select("Which one?", ["tea", "coffee"]));
  tool("ask_yes", (ui) => ui.confirm("Sure?", "It is final."));
  tool("ask_words", (ui) => ui.input("Your name?", "first and last"));
  tool("ask_text", (ui) => ui.editor("Say it better.", "so so"));
  tool("ask_briefly", (ui) => ui.select("Quick?", ["yes"], { timeout: 200 }));
  tool("ask_note", async (ui) => {
    ui.setStatus("state", "working");
    ui.setTitle("a title");
    ui.notify("Saved.", "info");
    return "told";
  });
  pi.on("before_agent_start", async ({ prompt }, { ui }) => {
    if (!prompt.includes("first_ask")) return;
    const answer = await ui.select("Go on?", ["yes", "no"]);
    return { message: { customType: "answer", content: "went on: " + answer, display: false } };
  });
}
`;

export const ASKING_TOOLS = ["ask_choice", "ask_yes", "ask_words", "ask_text", "ask_briefly", "ask_note"] as const;
