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

describe('the early script in the page’s head', () => {
  it('marks the page according to the visitor cookie', () => {
    const { html } = run('visitor=registered');
    expect(html).toEqual({ dataset: { visitor: 'registered' }, hidden: false });
  });

  it('leaves a prerendered page alone when it is opened with the same visitor cookie', () => {
    const { html, reload, open } = run('visitor=registered');
    open('a=b; visitor=registered');
    expect(html).toEqual({ dataset: { visitor: 'registered' }, hidden: false });
    expect(reload).not.toHaveBeenCalled();
  });

  it.each([
    ['a sign-out', 'visitor=founder', '', {}],
    ['a sign-in', '', 'visitor=registered', { visitor: 'registered' }],
    ['a purchase', 'visitor=registered', 'visitor=member', { visitor: 'member' }],
  ])('hides and reloads a prerendered page that is opened after %s', (_what, before, after, marks) => {
    const { html, reload, open } = run(before);
    open(after);
    expect(html).toEqual({ dataset: marks, hidden: true });
    expect(reload).toHaveBeenCalledOnce();
  });
});
