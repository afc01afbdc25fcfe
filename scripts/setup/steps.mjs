/**
 * Long steps on the terminal: what is being done, how far it is, how long it took. Without a terminal the same as plain
 * lines, at most one every few seconds.
 */

const isTerminal = Boolean(process.stdout.isTTY) && !process.env.CI;
/** Milliseconds between two lines about one step where there is no terminal. */
const lineEveryMs = 10_000;

/**
 * A duration in words.
 *
 * @param {number} ms
 */
export function duration(ms) {
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

/**
 * Runs one step and prints its time. Steps that take no time print nothing.
 *
 * @template T
 * @param {string} title for instance "Installing packages"
 * @param {(progress: (note: string) => void) => Promise<T>} work calls `progress` with how far it is, e.g. "12 of 80"
 * @returns {Promise<T>}
 */
export async function step(title, work) {
  const began = Date.now();
  let note = '';
  let printed = began;
  let shown = false;
  const line = () => `  ${title}${note ? `: ${note}` : ''} … ${duration(Date.now() - began)}`;
  const show = () => {
    shown = true;
    if (isTerminal) process.stdout.write(`\r\u001b[K${line().slice(0, (process.stdout.columns || 80) - 1)}`);
    else console.log(line());
    printed = Date.now();
  };
  const timer = setInterval(() => {
    if (isTerminal || Date.now() - printed >= lineEveryMs) show();
  }, 500);
  const first = setTimeout(() => {
    if (!isTerminal) show();
  }, 1000);
  const clear = () => {
    clearInterval(timer);
    clearTimeout(first);
    if (isTerminal && shown) process.stdout.write('\r\u001b[K');
  };
  try {
    const result = await work((text) => {
      note = text;
    });
    clear();
    const took = Date.now() - began;
    if (took > 500) console.log(`✓ ${title} (${duration(took)})`);
    return result;
  } catch (error) {
    clear();
    console.error(`✗ ${title} (${duration(Date.now() - began)})`);
    throw error;
  }
}
