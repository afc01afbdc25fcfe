/** What a story costs a reader who has the shared dictionary, which the first page has made the browser fetch. */
import { createHash } from 'node:crypto';
import { median } from '../support/figures.ts';

/** Most bytes of the median story (docs/decisions/0035). */
export const mostBytes = 3000;

/** Most requests for a page until it arrives compressed with the dictionary; the site waits 100 ms in each. */
const mostTurns = 20;

export interface NextStory {
  readonly stories: number;
  /** Bytes of the dictionary itself, and medians of the stories without and with it; bodies alone, compressed. */
  readonly dictionary: number;
  readonly without: number;
  readonly withIt: number;
}

/** Measures the stories that the front page links to. @throws Error when the site has no dictionary */
export async function measureNextStory(site: string): Promise<NextStory> {
  const front = await fetch(site);
  const path = /<([^>]+)>; rel="compression-dictionary"/.exec(front.headers.get('link') ?? '')?.[1];
  if (path === undefined) throw new Error('The front page names no shared dictionary.');
  const hash = createHash('sha256').update(await (await fetch(site + path)).bytes());
  const available = `:${hash.digest('base64')}:`;
  const bytesOf = async (address: string, headers: Record<string, string>, coding?: string): Promise<number> => {
    for (let turn = 0; turn < mostTurns; turn++) {
      const { headers: answered } = await fetch(site + address, { method: 'HEAD', headers });
      // The first reader of a page may get it before it is compressed with the dictionary.
      if (coding === undefined || answered.get('content-encoding') === coding)
        return Number(answered.get('content-length'));
    }
    throw new Error(`${address} isn't sent as ${coding}.`);
  };
  const links = (await front.text()).matchAll(/href="(\/article\/[\w-]+)"/g);
  const stories = [...new Set([...links].map(([, story = '']) => story))];
  const without: number[] = [];
  const withIt: number[] = [];
  for (const story of stories) {
    without.push(await bytesOf(story, { 'accept-encoding': 'br' }));
    withIt.push(await bytesOf(story, { 'accept-encoding': 'br, dcb, dcz', 'available-dictionary': available }, 'dcb'));
  }
  const dictionary = await bytesOf(path, { 'accept-encoding': 'br' });
  return { stories: stories.length, dictionary, without: median(without), withIt: median(withIt) };
}
