/** Part of `npm run bench:tools`: pages of a discussion of 5,000 comments, rendered and from the store, the first and the last. */
import { storeComment } from '../../src/content/store/comments.server.ts';
import { publication } from '../../src/publication.ts';
import { count, ms, percentile, printTable } from '../support/figures.ts';
import { textOf } from '../support/http.ts';
import { startPaper } from './paper.ts';

const comments = 5000;
const perSection = 8;
/** The newest story of the fixture, and its section's address. */
const article = 1000 + 10 * perSection;
const pages = 200;

/** Four of five begin a thread, the fifth answers one. */
function discussion(store: (comment: { id: number; parent: number; date: string }) => void): void {
  for (let at = 0; at < comments; at++) {
    const id = 10_000 + at;
    const parent = at % 5 === 4 ? id - 1 - (at % 4) : 0;
    store({ id, parent, date: new Date(Date.UTC(2026, 10, 20) + at * 1000).toISOString().replace('.000', '') });
  }
}

/** Pages are rendered at the first request, and come from the store at the second. */
export async function benchComments(): Promise<void> {
  const paper = await startPaper({
    perSection,
    fill: (store) =>
      store.transaction(() =>
        discussion((comment) =>
          storeComment(store, {
            ...comment,
            post: article,
            author: 'A reader',
            contentHtml: '<p>This is what I think of the plan, and why the council should think of it again.</p>',
          }),
        ),
      ),
  });
  try {
    const { articles } = JSON.parse(textOf(await paper.ask('/api/v1/articles/popular/list?limit=50'))) as {
      articles: { id: number; slug: string }[];
    };
    const slug = articles.find(({ id }) => id === article)?.slug;
    if (!slug) throw new Error('The story of the discussion is not listed.');
    const last = Math.ceil((comments * 4) / 5 / publication.pageSizes.comments);
    const time = async (page: number): Promise<number> => {
      const began = performance.now();
      const { status } = await paper.ask(`/article/${slug}/comments${page === 1 ? '' : `?page=${page}`}`);
      if (status !== 200) throw new Error(`Page ${page} of the discussion was answered ${status}.`);
      return performance.now() - began;
    };
    const chosen = Array.from({ length: pages }, (_, at) => 1 + Math.round((at * (last - 1)) / (pages - 1)));
    const measure = async (): Promise<number[]> => {
      const times: number[] = [];
      for (const page of chosen) times.push(await time(page));
      return times;
    };
    const rendered = await measure();
    const stored = await measure();
    const line = (name: string, times: readonly number[]) => [
      ...[name, ms(times[0] ?? 0), ms(times.at(-1) ?? 0), ms(percentile(times, 0.5)), ms(percentile(times, 0.99))],
    ];
    console.log(
      `\n${count(comments)} comments under one story, ${count(pages)} of ${count(last)} pages of ten threads; ms`,
    );
    printTable([
      ['', 'first page', 'last page', 'p50', 'p99'],
      line('rendered', rendered),
      line('from the store', stored),
    ]);
  } finally {
    await paper.remove();
  }
}
