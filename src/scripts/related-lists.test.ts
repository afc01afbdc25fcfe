// @vitest-environment jsdom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const story = (slug: string) => `<li><h3><a href="/article/${slug}">${slug}</a></h3></li>`;
const list = (name: string, more = '') =>
  `<section id="${name}" class="rail-list"><ol data-fragment="/fragments/${name}" data-limit="2" ${more}></ol></section>`;
const titles = (name: string) => [...document.querySelectorAll(`#${name} a`)].map(({ textContent }) => textContent);

/** The site's answers by address; any other address isn't found. */
let answers: Record<string, string>;

async function open(html: string): Promise<void> {
  document.body.innerHTML = html;
  vi.resetModules();
  await import('./related-lists.ts');
}

beforeEach(() => {
  history.replaceState(null, '', '/article/here');
  vi.stubGlobal(
    'fetch',
    async (address: string) => new Response(answers[address], { status: answers[address] === undefined ? 500 : 200 }),
  );
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      readonly #notify: (entries: object[]) => void;
      constructor(notify: (entries: object[]) => void) {
        this.#notify = notify;
      }
      observe(target: Element) {
        this.#notify([{ isIntersecting: true, target }]);
      }
      unobserve() {}
    },
  );
});
afterEach(() => {
  vi.unstubAllGlobals();
  document.body.innerHTML = '';
});

describe('lists of further stories', () => {
  it('show as many stories as fit, without the current one unless the list is a ranking', async () => {
    const all = ['here', 'one', 'two', 'three'].map(story).join('');
    answers = { '/fragments/author': all, '/fragments/popular': all };
    await open(list('author') + list('popular', 'data-ranked=""'));
    await vi.waitFor(() => expect(titles('popular')).toEqual(['here', 'one']));
    expect(titles('author')).toEqual(['one', 'two']);
  });

  it('are removed with their link to all stories when the section has no other story', async () => {
    answers = { '/fragments/section': '<article><h3 class="headline"><a href="/article/here">here</a></h3></article>' };
    vi.spyOn(Element.prototype, 'getBoundingClientRect').mockReturnValue({ top: innerHeight + 1 } as DOMRect);
    await open(
      '<section id="section"><div data-fragment="/fragments/section" data-limit="6"><p class="all"><a href="/section/x">See all stories</a></p></div></section>',
    );
    await vi.waitFor(() => expect(document.querySelector('#section')).toBeNull());
    vi.restoreAllMocks();
  });

  it('stay in place when they cannot be fetched', async () => {
    answers = {};
    await open(list('author'));
    await vi.waitFor(() => expect(document.querySelector('[data-fragment]')).toBeNull());
    expect(document.querySelector<HTMLElement>('#author')?.style.visibility).toBe('');
  });

  it('are removed when empty, but keep their space where removal would shift visible content', async () => {
    answers = { '/fragments/author': story('here'), '/fragments/section': '' };
    const tops: Record<string, number> = { author: innerHeight + 1, section: 200 };
    vi.spyOn(Element.prototype, 'getBoundingClientRect').mockImplementation(function (this: Element) {
      return { top: tops[this.id] ?? 0 } as DOMRect;
    });
    await open(list('author') + list('section'));
    await vi.waitFor(() => expect(document.querySelector('#author')).toBeNull());
    await vi.waitFor(() => expect(document.querySelector<HTMLElement>('#section')?.style.visibility).toBe('hidden'));
    vi.restoreAllMocks();
  });
});
