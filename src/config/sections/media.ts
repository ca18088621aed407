/** Pictures and files. */
import { Type } from "typebox";
import { choice, closed, flag, list, secretText, text, wholeNumber } from "./kinds.ts";

const reach = (who: string, usual: "workspace" | "conversation") =>
  choice(
    { of: ["workspace", "conversation", "nothing"], default: usual },
    `Which files ${who} can be sent: every file of the agent's workspace and of media.roots (workspace), those made or received in their conversation, or none.`,
  );

export const MediaSection = Type.Object(
  {
    maxMb: wholeNumber({ default: 25, minimum: 1, maximum: 25 }, "Largest file that is taken in or sent, in MiB."),
    dailyMb: wholeNumber(
      { default: 200, minimum: 1, maximum: 1_000_000 },
      "What one person may send within 24 hours, in MiB. More is not taken in, and they are told.",
    ),
    transcription: Type.Object(
      {
        baseUrl: text(
          {
            default: "https://api.groq.com/openai/v1",
            pattern: "^https?://[^\\s]+$",
            expects: "an address such as http://127.0.0.1:8000/v1",
            maxLength: 2048,
          },
          "An endpoint with OpenAI's /audio/transcriptions; a server on your own machine works as well.",
        ),
        model: text({ default: "whisper-large-v3-turbo", minLength: 1, maxLength: 200 }, "The model that listens."),
        apiKey: secretText("Sent as a bearer token. Usually ${GROQ_API_KEY}."),
        enabled: Type.Optional(
          flag({}, "Left out: on when there is an apiKey, or another baseUrl than the usual one."),
        ),
      },
      { ...closed, description: "Voice messages as words." },
    ),
    roots: list(
      Type.String({ pattern: "^/", expects: "an absolute path", maxLength: 4096 }),
      32,
      "Folders besides the agent's workspace whose files the assistant may send. A folder that contains the state directory is not used.",
    ),
    send: Type.Object(
      { member: reach("members", "workspace"), guest: reach("guests", "conversation") },
      {
        ...closed,
        description:
          "Who can be sent which files. Owners can be sent all of them. Files that usually hold secrets (.env, keys, credentials) are sent to nobody.",
      },
    ),
  },
  { ...closed, description: "Pictures and files." },
);
