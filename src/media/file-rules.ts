/** Which files may leave, and for whom. Pure: the same facts, the same decision, with its reason. Secret files leave for nobody. */

/** How far a role reaches: every file of the workspace and the open folders, those of the conversation, or none. */
export type FileReach = "workspace" | "conversation" | "nothing";

/** How a file came to this conversation; `elsewhere`: it did not. */
export type FileSource = "made" | "received" | "elsewhere";

type FileDecision = { readonly ok: true } | { readonly ok: false; readonly because: string };

const SECRET = "Files that usually hold secrets (keys, credentials, names that begin with a dot) are never sent.";
const NOTHING = "Files cannot be sent from this conversation.";
/** The same words whether such a file exists or not: otherwise names could be guessed one by one. */
const NOT_HERE = "Only files that were made or received in this conversation can be sent here, and this is not one.";

/** Folders of version control that have no dot. */
const VCS_FOLDERS = new Set(["cvs", "rcs", "sccs", "_darcs", "_mtn"]);

/** What editors and people put behind the name of a copy. */
const COPY_ENDING = /(?:~|\.(?:bak|backup|old|orig|save|copy|tmp|swp|[0-9]+)|[. ]+)$/;

const SECRET_ENDINGS = new Set([
  ...["pem", "key", "p8", "p12", "pfx", "ppk", "jks", "keystore", "keytab", "agekey"],
  ...["gpg", "pgp", "kdb", "kdbx", "keychain", "ovpn", "env", "tfstate", "tfvars"],
  ...["secret", "secrets", "token", "credentials", "password", "passwd"],
]);

const SECRET_NAMES = new Set([
  ...["env", "netrc", "_netrc", "npmrc", "pypirc", "pgpass", "my.cnf", "htpasswd", "passwd", "shadow"],
  ...["auth.json", "kubeconfig", "authorized_keys", "known_hosts", "wallet.dat", "cookies.sqlite", "logins.json"],
  ...["key3.db", "key4.db", "application_default_credentials.json", "pi-gateway.json", "pi-gateway.jsonc"],
]);

const SSH_KEY = /^id_(?:rsa|dsa|ecdsa|ed25519)(?:[_-][a-z0-9_-]+)?(?:\.(?!pub$).*)?$/;
/** The name without its ending. A picture or a PDF of that name is let through: `password.png`, `secret-santa.txt`. */
const SECRET_STEM =
  /^(?:(?:.*[._-])?(?:secrets?|credentials?|passwords?|passwd|api[._-]?keys?|private[._-]?key)|(?:(?:access|auth|refresh|bot|api)[._-])?tokens?|(?:service[._-]?account|client[._-]?secret|vault[._-]?pass).*)$/;
const DATA_ENDINGS = new Set([
  ...["", "txt", "json", "jsonc", "json5", "yaml", "yml", "toml", "ini", "cfg", "conf", "config", "csv", "tsv"],
  ...["xml", "plist", "properties", "md", "sh", "db", "sqlite", "log", "zip", "tar", "gz"],
]);

/** About the name, folders included: for everybody, owners too. `parts` as `judgePath` gives them. */
export function judgeName(parts: readonly string[]): FileDecision {
  return parts.some(isSecretPart) ? { ok: false, because: SECRET } : { ok: true };
}

/** About who sends it. */
export function judgeSource(reach: FileReach, source: FileSource): FileDecision {
  if (reach === "workspace") return { ok: true };
  if (reach === "nothing") return { ok: false, because: NOTHING };
  return source === "elsewhere" ? { ok: false, because: NOT_HERE } : { ok: true };
}

function isSecretPart(part: string): boolean {
  const name = bareName(part.normalize("NFKC").toLowerCase());
  if (part.startsWith(".") || name.startsWith(".") || VCS_FOLDERS.has(name)) return true;
  if (SECRET_NAMES.has(name) || SSH_KEY.test(name)) return true;
  const dot = name.lastIndexOf(".");
  const [stem, ending] = dot < 0 ? [name, ""] : [name.slice(0, dot), name.slice(dot + 1)];
  return SECRET_ENDINGS.has(ending) || (DATA_ENDINGS.has(ending) && SECRET_STEM.test(stem));
}

/** `server.pem.bak~` is judged as `server.pem`. */
function bareName(name: string): string {
  const bare = name.replace(COPY_ENDING, "");
  return bare === name || bare === "" ? name : bareName(bare);
}
