// @vitest-environment jsdom
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { consentValue, type OptionalPurpose, readConsent } from '../consent/model.ts';
import { adSizes, adSteps, adTargeting, adUnit } from './ads.ts';

const consent = (...granted: OptionalPurpose[]) =>
  readConsent(`privacy-choices=${consentValue(granted, false)}`, false);
const codes = { anonymous: 0, registered: 1, subscriber: 2, reader: 3, member: 4, founder: 5 };
const article = { slug: 'a-story', title: 'A', id: 1, date: '', author: '', category: '' };
const page = { kind: 'article', section: 'culture', article };

/** The ad server's object, which runs what waits for it and records its calls. */
function arrive() {
  const calls: [string, ...unknown[]][] = [];
  let listener: (event: object) => void = () => {};
  const defined: string[] = [];
  const builder = { addSize: () => builder, build: () => [] };
  const service = {
    addEventListener: (_name: string, next: (event: object) => void) => {
      listener = next;
    },
    setPrivacySettings: (settings: unknown) => calls.push(['privacy', settings]),
  };
  const waiting = (window.googletag?.cmd ?? []) as unknown as (() => void)[];
  window.googletag = {
    cmd: { push: (command: () => void) => command() },
    setConfig: (config: unknown) => void calls.push(['setConfig', config]),
    sizeMapping: () => builder as never,
    pubads: () => service as never,
    enableServices: () => {},
    defineSlot(unit: string, sizes: unknown, element: string) {
      defined.push(element);
      calls.push(['defineSlot', unit, sizes]);
      const slot = {
        addService: () => slot,
        defineSizeMapping: () => slot,
        setConfig() {},
        getSlotElementId: () => element,
      };
      return slot as never;
    },
    display: (element: string) => void calls.push(['display', element]),
    destroySlots: () => Boolean(calls.push(['destroySlots'])),
  } as never;
  for (const command of waiting) command();
  const answer = (element: string, isEmpty: boolean) =>
    listener({ slot: { getSlotElementId: () => element }, isEmpty });
  return { calls, answer, defined };
}

let make: typeof import('./ads.ts').makeAds;
const settings = {
  network: '77',
  scriptUrl: 'https://ads.test/gpt.js',
  limitedScriptUrl: 'https://ads.test/ltd.js',
  withoutConsent: 'house' as const,
};
const slots = () => [...document.querySelectorAll<HTMLElement>('[data-ad-room]')];
const scripts = () => [...document.querySelectorAll('script')].map(({ src }) => src);

beforeEach(async () => {
  vi.resetModules();
  ({ makeAds: make } = await import('./ads.ts'));
  Reflect.deleteProperty(window, 'googletag');
  for (const script of document.querySelectorAll('script')) script.remove();
  document.body.innerHTML = ['article-1 billboard', 'article-2 box', 'article-3 box']
    .map((text) => text.split(' '))
    .map(
      ([name, shape]) =>
        `<aside data-ad-slot="${name}" data-ad-room="kept" data-shape="${shape}" aria-label="Word" data-ad-label="Advertisement of ${name}"><div data-ad-place id="ad-${name}"></div></aside>`,
    )
    .join('');
  // jsdom has no layout; the third slot isn't shown to this reader.
  for (const [at, slot] of slots().entries()) slot.getClientRects = () => (at < 2 ? [{}] : []) as never;
});

describe('ad sizes and targeting', () => {
  it('use only the three sizes of the specification', () => {
    const all = new Set((['ribbon', 'billboard', 'box'] as const).flatMap(adSizes).map((size) => size.join('x')));
    expect([...all].toSorted()).toEqual(['300x250', '320x50', '970x250']);
    for (const steps of Object.values(adSteps)) expect(steps.at(-1)?.from).toBe(0);
    expect(adUnit('77,88', 'home-1')).toBe('/77,88/home-1');
  });

  it('target by section, article and type of visitor', () => {
    expect(adTargeting(page, 'reader')).toEqual({
      page: 'article',
      section: 'culture',
      slug: 'a-story',
      visitor: 'reader',
    });
    expect(adTargeting({ kind: 'home', section: null, article: null }, null)).toEqual({ page: 'home' });
  });
});

describe('the ad loader', () => {
  it('loads the ad script once consent and visitor type are known, and requests only visible slots', () => {
    const ads = make({ settings, page, codes });
    void ads.allow(consent('advertising'));
    expect(scripts()).toEqual([]);
    ads.visitor?.('anonymous');
    expect(scripts()).toEqual(['https://ads.test/gpt.js']);
    const { calls, defined } = arrive();
    expect(calls[0]).toEqual([
      'setConfig',
      { lazyLoad: expect.any(Object), targeting: adTargeting(page, 'anonymous') },
    ]);
    expect(defined).toEqual(['ad-article-1', 'ad-article-2']);
    expect(calls.filter(([what]) => what === 'display')).toHaveLength(2);
    expect(calls.some(([what]) => what === 'privacy')).toBe(false);
  });

  it('labels only the filled slots, and clears all slots on withdrawal', () => {
    const ads = make({ settings, page, codes });
    void ads.allow(consent('advertising'));
    ads.visitor?.('anonymous');
    const { calls, answer } = arrive();
    answer('ad-article-1', false);
    answer('ad-article-2', true);
    expect(slots().map((slot) => slot.dataset.filled)).toEqual(['', undefined, undefined]);
    expect(slots()[0]?.ariaLabel ?? slots()[0]?.getAttribute('aria-label')).toBe('Advertisement of article-1');
    ads.withdraw();
    expect(slots().some((slot) => slot.dataset.filled !== undefined)).toBe(false);
    expect(calls.at(-1)).toEqual(['destroySlots']);
  });

  it('destroys the old slots on the next route and when the reader becomes a member', () => {
    const ads = make({ settings, page, codes });
    void ads.allow(consent('advertising'));
    ads.visitor?.('anonymous');
    const { calls } = arrive();
    ads.route?.();
    expect(calls.filter(([what]) => what === 'destroySlots')).toHaveLength(1);
    // A member sees no ads: no slot is shown anymore.
    for (const slot of slots()) slot.getClientRects = () => [] as never;
    ads.visitor?.('member');
    expect(calls.at(-1)).toEqual(['destroySlots']);
  });

  it('without consent requests limited ads, if configured, with the cookieless script', () => {
    const ads = make({ settings: { ...settings, withoutConsent: 'limited' }, page, codes });
    void ads.allow(consent());
    ads.visitor?.('anonymous');
    expect(scripts()).toEqual(['https://ads.test/ltd.js']);
    const { calls } = arrive();
    expect(calls).toContainEqual(['privacy', { limitedAds: true }]);
  });

  it('removes ads and does not reuse the script with cookies once consent is withdrawn', () => {
    const ads = make({ settings: { ...settings, withoutConsent: 'limited' }, page, codes });
    void ads.allow(consent('advertising'));
    ads.visitor?.('anonymous');
    const { calls } = arrive();
    void ads.allow(consent());
    expect(calls.at(-1)).toEqual(['destroySlots']);
    ads.route?.();
    expect(calls.at(-1)).toEqual(['destroySlots']);
  });
});
