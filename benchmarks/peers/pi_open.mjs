// Opens a session file with the real pi and prints how many entries it has: pi_open.mjs SESSION_MANAGER FILE
//
// Only pi's session manager is loaded, not the whole client, which would add most of a second. Opening may write (a
// missing last line break, a migration), so the file must be a copy.
import { pathToFileURL } from "node:url";

const [manager, file] = process.argv.slice(2);
const { SessionManager } = await import(pathToFileURL(manager).href);
process.stdout.write(`${SessionManager.open(file).getEntryCount()}\n`);
