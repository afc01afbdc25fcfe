import { runInNewContext } from 'node:vm';
import { describe, expect, it, vi } from 'vitest';
import { visitorScript } from './accounts/visitor.ts';
import { earlyScript } from './early-script.ts';

/** A document in which the script has run; `open` is what the browser does when the reader opens the page. */
function run(cookie: string) {
  const html = { dataset: {} as Record<string, string>, hidden: false };
  const document = { cookie, documentElement: html, onprerenderingchange: () => {} };
  const reload = vi.fn();
  runInNewContext(earlyScript([visitorScript]), { document, location: { reload } });
  const open = (cookies: string): void => {
    document.cookie = cookies;
    document.onprerenderingchange();
  };
  return { html, reload, open };
}

describe('the script of the head', () => {
  it('marks the page by its cookies', () => {
    const { html } = run('visitor=registered');
    expect(html).toEqual({ dataset: { visitor: 'registered' }, hidden: false });
  });

  it('leaves a prerendered page as it is when it is opened by the reader for whom it was prerendered', () => {
    const { html, reload, open } = run('visitor=registered');
    open('a=b; visitor=registered');
    expect(html).toEqual({ dataset: { visitor: 'registered' }, hidden: false });
    expect(reload).not.toHaveBeenCalled();
  });

  it.each([
    ['a sign-out', 'visitor=founder', '', {}],
    ['a sign-in', '', 'visitor=registered', { visitor: 'registered' }],
    ['a purchase', 'visitor=registered', 'visitor=member', { visitor: 'member' }],
  ])('hides the page after %s, and loads it again', (_what, before, after, marks) => {
    const { html, reload, open } = run(before);
    open(after);
    expect(html).toEqual({ dataset: marks, hidden: true });
    expect(reload).toHaveBeenCalledOnce();
  });
});
