/**
 * The process that is measured: back-fills one content store, exactly as the site does, and prints what it took as one line of JSON.
 * `node bench/content/sync.ts <address> <file> [<user> <password>]`
 */
import { openContent } from '../../src/content/content.server.ts';
import { silent } from '../../src/lib/logging.ts';

const [address, file, user = 'bench', password = 'bench'] = process.argv.slice(2);
if (!address || !file) throw new Error('usage: node bench/content/sync.ts <address> <file>');

const began = performance.now();
let readyMs: number | null = null;
const content = openContent({
  file,
  wordpress: { url: address, user, password },
  siteUrl: 'http://127.0.0.1:8080',
  frameHosts: [],
  measure: async () => null,
  log: { ...silent, error: (context, message) => console.error(message, context) },
  pollSeconds: 3600,
  onChange: ({ tags }) => {
    if (readyMs === null && tags.has('site')) readyMs = Math.round(performance.now() - began);
  },
});
// A line that is overwritten belongs on a terminal, not in a log.
const progress = setInterval(() => {
  if (!process.stderr.isTTY) return;
  const { progress: types, secondsLeft } = content.status();
  const { done = 0, total = 0 } = types.articles ?? {};
  process.stderr.write(`\r  ${done} of ${total} articles, about ${secondsLeft ?? '?'} s left   `);
}, 1000);
const report = await content.syncNow();
clearInterval(progress);
if (process.stderr.isTTY) process.stderr.write(`\r${' '.repeat(60)}\r`);
const seconds = (performance.now() - began) / 1000;
await content.stop();
const { userCPUTime, systemCPUTime, maxRSS: peakKb } = process.resourceUsage();
const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6;
console.log(JSON.stringify({ ...report, seconds, cpuSeconds, readyMs, peakKb }));
