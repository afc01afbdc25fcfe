/** Turns operating system errors into sentences that say what to do. */

/** An error whose message is meant for the user and is printed without a stack. */
export class Stop extends Error {
  /**
   * @param {string} message what happened and what to do
   * @param {{cause?: unknown}} [options]
   */
  constructor(message, options) {
    super(message, /** @type {any} */ (options));
    this.name = 'Stop';
  }
}

/**
 * Rethrows an error so that its message and its cause are printed without a stack.
 *
 * @param {Error} error
 * @returns {never}
 */
export function throwAsStop(error) {
  throw new Stop(error.cause ? `${error.message}\n  (${error.cause})` : error.message, { cause: error });
}

/** Patterns in the output of npm, Node and the system, each with advice. */
const advices = [
  [
    /ENOSPC|no space left on device/i,
    'The disk is full. Free about 2 GB (or, if there is room, raise the quota) and run the same command again; it continues where it stopped.',
  ],
  [
    /EDQUOT|disk quota exceeded/i,
    'The disk quota is used up. Free about 2 GB and run the same command again; it continues where it stopped.',
  ],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|network|ERR_SOCKET_TIMEOUT|FETCH_ERROR/i,
    'The npm registry cannot be reached. Check the network (and the proxy, if there is one: npm config get proxy) and run the same command again; it continues where it stopped.',
  ],
  [
    /EACCES|EPERM|permission denied/i,
    "You don't have permission to write a file. Run the command as the user that owns this folder, or give the folder to this user (chown -R).",
  ],
  [
    /EROFS|read-only file system/i,
    'This folder is on a read-only file system. Clone the repository where it can be written.',
  ],
  [
    /EINTEGRITY|integrity checksum failed/i,
    'A downloaded package is damaged. Run "npm cache verify" and then the same command again.',
  ],
  [/E401|E403|ENEEDAUTH/, 'The npm registry asks for a log-in. Check the registry setting: npm config get registry.'],
  [
    /EMFILE|too many open files/i,
    'Too many files are open. Raise the limit (ulimit -n 4096) and run the same command again.',
  ],
];

/**
 * The advice for an error text, or `null` if the error is unknown.
 *
 * @param {string} text
 * @returns {string | null}
 */
export function whatToDo(text) {
  for (const [pattern, advice] of advices)
    if (/** @type {RegExp} */ (pattern).test(text)) return /** @type {string} */ (advice);
  return null;
}

/**
 * @param {unknown} error
 * @returns {string} what to print
 */
export function explain(error) {
  if (error instanceof Stop) return error.message;
  const text = error instanceof Error ? `${/** @type {any} */ (error).code ?? ''} ${error.message}` : String(error);
  const advice = whatToDo(text);
  if (advice) return `${advice}\n  (${text.trim()})`;
  return error instanceof Error ? (error.stack ?? error.message) : text;
}
