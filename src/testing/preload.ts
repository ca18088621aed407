/** Runs before every test file: files made by tests are private, as in production. Nothing else, so that no test depends on it unseen. */
process.umask(0o077);
