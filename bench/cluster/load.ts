/** Readers and editors of a cluster under faults: every answer is judged, and every webhook is sent again until it is answered with 200. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Paper, webhookRequest } from '../../tests/fixtures/paper.ts';

export interface ReadersOptions {
  /** Port of the proxy. */
  readonly port: number;
  readonly paths: readonly string[];
  /** Whether each style sheet and script that a page names is fetched, too. */
  readonly withAssets?: boolean;
  /** Paths of withdrawn stories; they must answer 410. */
  readonly withdrawn: ReadonlySet<string>;
}

export interface Readers {
  readonly counts: { pages: number; assets: number; withdrawn: number };
  /** What went wrong, one sentence per failure. */
  readonly failures: string[];
  stop(): Promise<void>;
}

const readers = 4;
const betweenMs = 15;

/** Readers who request one page after another. */
export function startReaders(options: ReadersOptions): Readers {
  const counts = { pages: 0, assets: 0, withdrawn: 0 };
  const failures: string[] = [];
  const stopping = new AbortController();
  const began = performance.now();
  const failed = (path: string, why: string): void => {
    failures.push(`${((performance.now() - began) / 1000).toFixed(1)} s, ${path}: ${why}`);
  };

  async function get(path: string): Promise<{ status: number; text: string } | null> {
    try {
      const answer = await fetch(`http://127.0.0.1:${options.port}${path}`, { redirect: 'manual' });
      return { status: answer.status, text: await answer.text() };
    } catch (error) {
      failed(path, String((error as Error).cause ?? error));
      return null;
    }
  }

  async function readPage(path: string): Promise<void> {
    const answer = await get(path);
    if (!answer) return;
    counts.pages++;
    if (answer.status !== 200) return failed(path, `status ${answer.status}`);
    if (!answer.text.includes('</html>')) return failed(path, 'the page is cut off');
    if (!options.withAssets) return;
    const names = new Set([...answer.text.matchAll(/\/_assets\/[\w./-]+\.(?:css|js)/g)].map(([name]) => name));
    for (const name of names) {
      const asset = await get(name);
      counts.assets++;
      if (asset && asset.status !== 200) failed(name, `status ${asset.status}, named by ${path}`);
    }
  }

  async function readWithdrawn(path: string): Promise<void> {
    const answer = await get(path);
    counts.withdrawn++;
    if (answer && answer.status !== 410) failed(path, `status ${answer.status}, though it was withdrawn`);
  }

  async function read(first: number): Promise<void> {
    for (let at = first; !stopping.signal.aborted; at++) {
      await readPage(options.paths[at % options.paths.length] as string);
      const gone = [...options.withdrawn];
      if (at % 5 === 0 && gone.length > 0) await readWithdrawn(gone[at % gone.length] as string);
      await pause(betweenMs);
    }
  }

  const reading = Promise.all(Array.from({ length: readers }, (_, at) => read(at * 3)));
  return {
    counts,
    failures,
    async stop() {
      stopping.abort();
      await reading;
    },
  };
}

export interface EditorsOptions {
  /** The site that came with WordPress. */
  readonly newsroom: Paper;
  /** Port of the proxy. */
  readonly port: number;
  /** Milliseconds between two edits. */
  readonly everyMs: number;
  /** Ids of the stories that are edited, and of those that are withdrawn, one for each tenth edit. */
  readonly edited: readonly number[];
  readonly withdrawable: readonly number[];
}

export interface Editors {
  /** The latest text of each edited story. */
  readonly words: ReadonlyMap<number, string>;
  /** Paths of stories whose withdrawal was answered with 200. */
  readonly withdrawn: ReadonlySet<string>;
  readonly counts: { edits: number; sends: number };
  /** Milliseconds from each edit to its 200. */
  readonly times: readonly number[];
  /** How many webhooks aren't answered yet. */
  open(): number;
  /** Resolves when the webhooks of the edits so far are answered. */
  answered(): Promise<unknown>;
  /** Stops editing; resolves to the number of webhooks that weren't answered with 200 in five minutes. */
  stop(): Promise<number>;
}

const resendMs = 500;
const resendForMs = 300_000;

/** Editors who change and withdraw stories; WordPress sends each webhook again until it is answered with 200. */
export function startEditors({ newsroom, port, everyMs, edited, withdrawable }: EditorsOptions): Editors {
  const words = new Map<number, string>();
  const withdrawn = new Set<string>();
  const counts = { edits: 0, sends: 0 };
  const times: number[] = [];
  const unanswered: Promise<boolean>[] = [];
  const stopping = new AbortController();

  async function deliver(hook: Record<string, unknown>): Promise<boolean> {
    const began = performance.now();
    const delivery = randomUUID();
    while (performance.now() - began < resendForMs) {
      counts.sends++;
      const answer = await fetch(
        `http://127.0.0.1:${port}/api/v1/revalidate`,
        webhookRequest(hook, { delivery }),
      ).catch(() => null);
      await answer?.arrayBuffer().catch(() => {});
      // 409: an earlier delivery was handled, but its response was lost.
      if (answer?.status === 200 || answer?.status === 409) {
        times.push(performance.now() - began);
        return true;
      }
      await pause(resendMs);
    }
    return false;
  }

  async function withdraw(id: number): Promise<boolean> {
    newsroom.edit(id, { status: 'draft' });
    const isDone = await deliver({ event: 'unpublish', id, slug: `story-${id}`, status: 'draft' });
    if (isDone) withdrawn.add(`/article/story-${id}`);
    return isDone;
  }

  async function edit(): Promise<void> {
    for (let at = 0; !stopping.signal.aborted; at++) {
      counts.edits++;
      const gone = at % 10 === 9 ? withdrawable[Math.floor(at / 10)] : undefined;
      if (gone !== undefined) unanswered.push(withdraw(gone));
      else {
        const id = edited[at % edited.length] as number;
        words.set(id, `Words of edit ${at} to story ${id}`);
        newsroom.edit(id, { title: { rendered: words.get(id) } });
        unanswered.push(deliver({ id, slug: `story-${id}` }));
      }
      await pause(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  const editing = edit();
  return {
    words,
    withdrawn,
    counts,
    times,
    open: () => unanswered.length - times.length,
    answered: () => Promise.all(unanswered),
    async stop() {
      stopping.abort();
      await editing;
      return (await Promise.all(unanswered)).filter((isDone) => !isDone).length;
    },
  };
}

/** @returns a sentence for each node and story that doesn't show the latest words within ten seconds, or shows what was withdrawn */
export async function missingEdits(papers: readonly Paper[], editors: Editors): Promise<string[]> {
  const missing: string[] = [];
  const end = performance.now() + 10_000;
  for (const [node, paper] of papers.entries()) {
    for (const [id, text] of editors.words) {
      const shows = async () => (await paper.ask(`/article/story-${id}`)).text.includes(text);
      while (!(await shows()) && performance.now() < end) await pause(20);
      if (!(await shows())) missing.push(`node ${node} doesn't show "${text}"`);
    }
    for (const path of editors.withdrawn) {
      const { status } = await paper.ask(path);
      if (status !== 410) missing.push(`node ${node} answers ${status} for ${path}, which was withdrawn`);
    }
  }
  return missing;
}
