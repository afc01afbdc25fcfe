// @vitest-environment jsdom
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { deviceType, fetchArticle, hasPaywall, isCut, metadataOf } from './after-payment.ts';
import { granted, refusal } from './testing.ts';

const excerpt = '<p>The first words.</p><p>And the second.</p>';
const rest = '<p id="third">The third, which is paid for.</p><p>The last.</p>';
const story = (body: string) =>
  `<!doctype html><title>A</title><header id="header">Sign In</header><article class="story"><div class="body">${body}</div>
   <div class="talk"><section class="comments" id="comments">Comments</section></div></article>`;
const wall = story(
  `<div class="prose" data-cut>${excerpt}</div><section class="paywall"><a href="/pricing">Join</a></section>`,
);
const full = story(
  `<div class="prose">${excerpt}${rest}</div><div data-ad-slot="x"></div><div class="prose" data-end><p>Beyond.</p></div>
   <script>window.ran = true</script><aside class="author">By Ada</aside>`,
);

let pages: (() => Response)[] = [];
let asked: Request[] = [];
const html = (text: string, status = 200) => HttpResponse.html(text, { status });
const server = setupServer(
  http.get('*', ({ request }) => {
    asked.push(request);
    return (pages.length > 1 ? pages.shift() : pages[0])?.() ?? HttpResponse.error();
  }),
);
beforeAll(() => server.listen());
beforeEach(() => {
  asked = [];
  const { body } = new DOMParser().parseFromString(wall, 'text/html');
  document.body.replaceChildren(...body.childNodes);
  window.scrollTo = vi.fn() as never;
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => server.close());

const body = () => document.querySelector('.body') as HTMLElement;

describe('an article that was just paid for', () => {
  it('opens in place without scripts and ads, and leaves everything around it as it was', async () => {
    pages = [() => html(full)];
    const [header, comments] = [document.getElementById('header'), document.getElementById('comments')];
    expect(isCut()).toBe(true);
    const put = await fetchArticle();
    expect(isCut()).toBe(true);
    put?.();
    expect(isCut()).toBe(false);
    expect(body().querySelector('.paywall')).toBeNull();
    expect(body().textContent).toContain('The third, which is paid for.');
    expect(body().textContent).toContain('Beyond.');
    expect(body().textContent).toContain('By Ada');
    expect(body().querySelector('script, [data-ad-slot]')).toBeNull();
    expect((window as { ran?: boolean }).ran).toBeUndefined();
    expect(document.getElementById('header')).toBe(header);
    expect(document.getElementById('comments')).toBe(comments);
    expect(body().nextElementSibling?.firstElementChild).toBe(comments);
  });

  it.each([
    ['sound', '<section class="sound"><audio src="/sound/7/0.mp3"></audio></section>'],
    ['live entries', '<section class="live"><article data-entry="1"></article></section>'],
    ['a recording in its text', '<div class="prose"><figure><audio src="/sound/7/1.mp3"></audio></figure></div>'],
    ['an embed', '<div class="prose"><figure class="embed" data-embed-src="https://video.example"></figure></div>'],
  ])('is loaded again with its scripts and styles if it has %s', async (_, part) => {
    pages = [() => html(full.replace('<aside', `${part}<aside`))];
    const before = document.body.innerHTML;
    const reload = vi.fn();
    const { href, pathname, search } = location;
    vi.stubGlobal('location', { href, pathname, search, reload });
    (await fetchArticle())?.();
    vi.unstubAllGlobals();
    expect(reload).toHaveBeenCalledOnce();
    expect(document.body.innerHTML).toBe(before);
  });

  it('focuses its first new paragraph, below a quiet line with a link to what comes next', async () => {
    pages = [() => html(full)];
    (await fetchArticle())?.();
    expect(document.activeElement?.id).toBe('third');
    const note = document.getElementById('third')?.previousElementSibling;
    expect(note?.getAttribute('role')).toBe('status');
    expect(note?.querySelector('a')?.getAttribute('href')).toBe('/thankyou');
    expect(window.scrollTo).toHaveBeenCalledWith({ top: 0, behavior: 'instant' });
    (document.activeElement as HTMLElement).blur();
    expect(document.getElementById('third')?.hasAttribute('tabindex')).toBe(false);
  });

  it('is requested again while the response is still cut at the paywall', async () => {
    pages = [() => html(wall), () => html('Busy', 503), () => html(full)];
    expect(await fetchArticle()).not.toBeNull();
    expect(asked).toHaveLength(3);
    expect(asked.map(({ url }) => new URL(url).pathname)).toEqual(['/', '/', '/']);
  });

  it('leaves the page unchanged when it is still cut after four requests', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    pages = [() => html(wall)];
    const before = document.body.innerHTML;
    const end = fetchArticle();
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(2500);
      expect(asked).toHaveLength(4);
    });
    expect(await end).toBeNull();
    expect(document.body.innerHTML).toBe(before);
    vi.useRealTimers();
  });

  it('is uncovered without a request when its text was in the page all along', async () => {
    document.querySelector('.prose')?.removeAttribute('data-cut');
    document.body.insertAdjacentHTML('beforeend', '<aside class="metered-paywall">You have read three stories</aside>');
    expect(hasPaywall()).toBe(true);
    (await fetchArticle())?.();
    expect(asked).toEqual([]);
    expect(hasPaywall()).toBe(false);
    expect(document.querySelector<HTMLElement>('.metered-paywall')?.hidden).toBe(true);
    expect(document.querySelectorAll('[data-joined]')).toHaveLength(1);
    expect(document.activeElement?.tagName).toBe('P');
  });
});

describe('the metadata of a subscription', () => {
  it('has the fields of spec section 3, and none that are empty', () => {
    const page = new URL(
      'https://paper.example/article/a?utm_campaign=autumn&utm_source=mail&recognized_email=b%40example.com#comments',
    );
    const geo = granted({ ip: '203.0.113.9', city: 'Albany', country: 'US' });
    expect(metadataOf(page, 'a@example.com', 390, geo as never)).toEqual({
      created_with: 'web',
      customer_email: 'a@example.com',
      query_url: 'https://paper.example/article/a?utm_campaign=autumn&utm_source=mail',
      query_utm_campaign: 'autumn',
      query_utm_source: 'mail',
      device_type: 'mobile',
      geo_city: 'Albany',
      geo_country: 'US',
    });
    const none = metadataOf(new URL('https://paper.example/pricing'), null, 1280, refusal(0));
    expect(none).toEqual({
      created_with: 'web',
      query_url: 'https://paper.example/pricing',
      device_type: 'desktop',
    });
    expect([767, 768, 1023, 1024].map(deviceType)).toEqual(['mobile', 'tablet', 'tablet', 'desktop']);
  });
});
