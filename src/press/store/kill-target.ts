/**
 * A press that is killed (kill.test.ts): edits, withdraws and reads as fast as it can until the process ends. Edits are appended to a
 * file before the press gets them, just as the content store commits before it emits tags.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Rendering } from '../scheduler/render.server.ts';
import { html, press, readText } from '../testing.ts';

export const victim = fileURLToPath(import.meta.url);

export const keys: readonly string[] = Array.from({ length: 12 }, (_, i) => `/${i}`);
export const tagsOf = (key: string): string[] => [
  `t${Number(key.slice(1)) % 5}`,
  `t${Number(key.slice(1)) % 3}`,
  'all',
];

/** The newspaper's state: number of the latest edit of each tag, and whether it is withdrawn (a negative number). */
export function readContent(dir: string): Map<string, number> {
  const content = new Map<string, number>();
  for (const line of readFileSync(join(dir, 'content.txt'), 'utf8').split('\n').slice(0, -1)) {
    const [tag = '', edit = '0'] = line.split(' ');
    content.set(tag, Number(edit));
  }
  return content;
}

/** The actions that the process reports. */
export interface Edited {
  readonly tag: string;
  readonly edit: number;
}

/** A page that contains a description of its content, so that a test can tell whether it is complete. */
export function pageOf(key: string, content: ReadonlyMap<string, number>): Rendering {
  const tags = tagsOf(key);
  const gone = tags.some((tag) => (content.get(tag) ?? 0) < 0);
  const seen = JSON.stringify(Object.fromEntries(tags.map((tag) => [tag, content.get(tag) ?? 0])));
  const filler = createHash('sha512').update(seen).digest('hex').repeat(60);
  return { ...html(`${key}|${seen}|${filler}`), status: gone ? 410 : 200, tags };
}

/** The content that a page states. @throws Error when it is torn */
export function readPage(key: string, text: string): Record<string, number> {
  const [of, seen = '{}', filler] = text.split('|');
  if (of !== key || filler !== createHash('sha512').update(seen).digest('hex').repeat(60))
    throw new Error(`${key} is torn`);
  return JSON.parse(seen);
}

async function work(dir: string): Promise<void> {
  const content = readContent(dir);
  const { press: opened } = press(dir, { render: async (key) => pageOf(key, new Map(content)), concurrency: 2 });
  for (const key of keys) await opened.get(key, 'public');
  const tags = [...new Set(keys.flatMap(tagsOf))];
  for (let turn = 0; ; turn++) {
    const tag = tags[Math.floor(Math.random() * tags.length)] ?? 'all';
    const before = content.get(tag) ?? 0;
    // Every seventh edit withdraws, and the next one publishes again.
    const edit = before > 0 && Math.random() < 1 / 7 ? -(before + 1) : Math.abs(before) + 1;
    appendFileSync(join(dir, 'content.txt'), `${tag} ${edit}\n`);
    content.set(tag, edit);
    void opened.invalidate([tag], edit < 0 ? { withdrawn: [tag] } : {});
    process.send?.({ tag, edit } satisfies Edited);
    for (const key of keys.slice(0, turn % 4)) readPage(key, await readText(opened, key));
    if (turn % 3 === 0) await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
  }
}

if (import.meta.main) await work(process.argv[2] ?? '');
