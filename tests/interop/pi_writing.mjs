// Lets the real pi write. Reads from standard input {"manager": <path of its session-manager.js>, "requests": [...]} and
// writes the list of answers as JSON. A request is one of
//   {"text": json}                 the text after parse and stringify
//   {"run": steps, "file": path, "clock": ms, "seed": n}
//                                  opens (or begins) a session file and calls methods of the session manager, see `run`
//   {"read": file}                 a copy is opened; context of every entry, labels, name, leaf
// While a run lasts, every look at the clock gives one second more, and random bytes are counted (see `randomBytes`).
import crypto from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { pathToFileURL } from "node:url";

const { manager, requests } = JSON.parse(readFileSync(0, "utf8"));

const RealDate = Date;
let clock = null;
let counter = 0;

globalThis.Date = class extends RealDate {
    constructor(...args) {
        if (args.length === 0 && clock !== null) super((clock += 1000));
        else super(...args);
    }
    static now() {
        return clock === null ? RealDate.now() : (clock += 1000);
    }
};

// Sixteen bytes of which the first four are a number that counts up, times an odd constant: ids look random and differ.
function randomBytes() {
    const bytes = Buffer.alloc(16);
    bytes.writeUInt32BE(Math.imul(++counter, 0x9e3779b1) >>> 0, 0);
    return bytes;
}

const realUuid = crypto.randomUUID;
crypto.randomUUID = () => {
    if (clock === null) return realUuid();
    const bytes = randomBytes();
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};
syncBuiltinESMExports();

const pi = await import(pathToFileURL(manager).href);
const { convertToLlm } = await import(pathToFileURL(manager.replace("session-manager.js", "messages.js")).href);

// A step is [method, ...arguments]. Ids are given as places: {"$": n} is the id that step n returned, {"$": -1} is null.
// An argument {"undefined": true} is undefined. A method that throws gives "error".
function run(request) {
    clock = request.clock;
    counter = request.seed;
    const session = pi.SessionManager.open(request.file, undefined, request.cwd);
    const results = [];
    const argument = (value) => {
        if (value === null || typeof value !== "object") return value;
        if ("$" in value) return value.$ < 0 ? null : results[value.$];
        return value.undefined ? undefined : value;
    };
    for (const [method, ...args] of request.run) {
        let result;
        try {
            result = session[method](...args.map(argument));
        } catch {
            result = "error";
        }
        results.push(result === undefined ? null : typeof result === "object" && result !== null ? result.id : result);
    }
    const file = session.getSessionFile();
    clock = null;
    const context = contextOf(session);
    return {
        results,
        file,
        leaf: session.getLeafId(),
        text: existsSync(file) ? readFileSync(file).toString("base64") : null,
        context,
        llm: context === "error" ? null : convertToLlm(context.messages),
    };
}

function contextOf(session) {
    try {
        return session.buildSessionContext();
    } catch {
        return "error";
    }
}

function pathEnds(session, id) {
    const seen = new Set();
    for (let entry = session.getEntry(id); entry; entry = entry.parentId ? session.getEntry(entry.parentId) : undefined) {
        if (seen.has(entry)) return false;
        seen.add(entry);
    }
    return true;
}

function read(file) {
    const session = pi.SessionManager.open(file);
    const entries = session.getEntries();
    const byId = new Map(entries.map((entry) => [entry.id, entry]));
    const contexts = {};
    for (const id of byId.keys()) {
        if (typeof id !== "string" || id === "" || !pathEnds(session, id)) continue;
        try {
            const { entries: projected, messages, thinkingLevel, model } = pi.buildSessionProjection(entries, id, byId);
            const ids = projected.map((part) => part.sourceEntry.id ?? null);
            contexts[id] = { ids, counts: projected.map((part) => part.messages.length), messages, thinkingLevel, model };
        } catch {
            contexts[id] = "error";
        }
    }
    const labels = {};
    for (const id of byId.keys()) if (session.getLabel(id) !== undefined) labels[id] = session.getLabel(id);
    const leaf = session.getLeafId();
    return {
        leaf: leaf ?? null,
        name: session.getSessionName() ?? null,
        id: session.getSessionId(),
        cwd: session.getCwd(),
        labels,
        ids: entries.map((entry) => entry.id ?? null),
        contexts,
    };
}

const answers = requests.map((request) => {
    if ("text" in request) return JSON.stringify(JSON.parse(request.text));
    if (request.run) return run(request);
    if (request.read) return read(request.read);
    throw new Error(`unknown request ${JSON.stringify(request)}`);
});
process.stdout.write(JSON.stringify(answers));
