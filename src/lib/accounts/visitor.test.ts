import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { visitorKinds } from './products.ts';
import { readVisitor, visitorScript } from './visitor.ts';

/** What the script in the page's head derives from a `document.cookie`. */
function mark(cookie: string, dataset: Record<string, string> = {}): string | null {
  runInNewContext(visitorScript, { document: { cookie, documentElement: { dataset } } });
  return dataset.visitor ?? null;
}

describe('the visitor cookie', () => {
  it.each(visitorKinds)('is read as %s in any position among other cookies', (kind) => {
    for (const cookie of [
      `visitor=${kind}`,
      `a=1; visitor=${kind}`,
      `visitor=${kind}; b=2`,
      `a=1; visitor=${kind}; b=`,
    ]) {
      expect(readVisitor(cookie)).toBe(kind);
      expect(mark(cookie)).toBe(kind);
    }
  });

  it.each([
    '',
    'visitor=',
    'visitor=anonymous',
    'visitor=readers',
    'xvisitor=reader',
    'a=visitor=reader',
    'visitor="reader"',
  ])('is read as anonymous from %j', (cookie) => {
    expect(readVisitor(cookie)).toBeNull();
    expect(mark(cookie)).toBeNull();
    expect(mark(cookie, { visitor: 'founder' }), 'in a second run').toBeNull();
  });
});
