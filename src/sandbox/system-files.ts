/** Which files of the system a confined program may read. `/etc` is listed one by one: there are secrets in it. */

const PROGRAMS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt"];
/** NixOS and Guix have programs nowhere else. */
const STORES = ["/nix/store", "/run/current-system", "/gnu/store"];

const NAMES = [
  "passwd",
  "group",
  "nsswitch.conf",
  "hosts",
  "host.conf",
  "gai.conf",
  "resolv.conf",
  "services",
  "protocols",
];
const LIBRARIES = [
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "ld-musl-x86_64.path",
  "ld-musl-aarch64.path",
  "alternatives",
];
const CERTIFICATES = [
  "ssl/certs",
  "ssl/openssl.cnf",
  "ssl/cert.pem",
  "ca-certificates",
  "ca-certificates.conf",
  "pki/tls/certs",
];
const MORE_CERTIFICATES = ["pki/ca-trust/extracted", "pki/tls/openssl.cnf", "crypto-policies", "static"];
const PLACE = ["localtime", "timezone", "locale.conf", "locale.alias", "os-release", "lsb-release", "debian_version"];
const TOOLS = ["gitconfig", "gitattributes", "profile", "bash.bashrc", "inputrc", "terminfo", "mime.types", "magic"];
const LANGUAGES = ["python3", "perl", "java-17-openjdk", "java-21-openjdk", "fonts"];

export const SYSTEM_FILES: readonly string[] = [
  ...PROGRAMS,
  ...STORES,
  ...[NAMES, LIBRARIES, CERTIFICATES, MORE_CERTIFICATES, PLACE, TOOLS, LANGUAGES].flat().map((name) => `/etc/${name}`),
];

/** No terminal among them: a program could type into it. */
export const DEVICES: readonly string[] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
