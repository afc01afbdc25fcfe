import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import type { Alert } from '../../lib/alerts/model.ts';
import type { ContentReader } from '../../lib/content/reader.ts';
import { silent } from '../../lib/logging.ts';
import type { CachedPage } from '../../press/cache/cached-page.ts';
import type { Insertion } from '../../press/cache/insertions.server.ts';
import { type AlertBanner, type AlertBannerOptions, createAlertBanner } from './alert-banner.ts';

const alert = (text: string): Alert => ({
  id: `id-${text}`,
  text,
  href: null,
  starts: '2026-11-25T12:00:00Z',
  until: '2026-11-25T16:00:00Z',
  mail: false,
  push: false,
});

const open: AlertBanner[] = [];
afterEach(async () => {
  for (const banner of open.splice(0)) await banner.stop();
});

/** A press that renders the present alert. */
function fixture(part: Partial<AlertBannerOptions> = {}) {
  const state = { alert: null as Alert | null, status: 200, hold: Promise.resolve(), renders: 0 };
  const inserted: (string | null)[] = [];
  const banners: (string | null)[] = [];
  const shownOn = (insertion: Insertion | null): string | null => {
    const place = '<a class="skip-link"></a>';
    return insertion?.into(Buffer.from(place))?.toString().replace(place, '') ?? null;
  };
  const onEnd = vi.fn();
  const banner = createAlertBanner({
    press: {
      async get() {
        state.renders++;
        const text = state.alert?.text ?? '';
        await state.hold;
        if (state.status === 500) throw new Error('broken');
        return { status: state.status, text } as unknown as CachedPage;
      },
      encoded: (page) => ({ body: Buffer.from(`<b>${(page as unknown as { text: string }).text}</b>\n`) }) as never,
      insert: (insertion) => void inserted.push(shownOn(insertion)),
    },
    reader: () => ({ alert: () => state.alert }) as unknown as ContentReader,
    onBanner: (html) => void banners.push(html),
    onEnd,
    log: silent,
    everyMs: 5,
    ...part,
  });
  open.push(banner);
  return { banner, state, inserted, banners, onEnd, on: () => shownOn(banner.current()) };
}

it('the alert’s banner is rendered once, and given to the press and the other processes', async () => {
  const { banner, state, inserted, banners, on } = fixture();
  await banner.update();
  expect(inserted).toEqual([]);
  state.alert = alert('one');
  await Promise.all([banner.update(), banner.update()]);
  await banner.update();
  expect([inserted, banners, state.renders]).toEqual([['<b>one</b>'], ['<b>one</b>'], 1]);
  expect([on(), banner.html()]).toEqual(['<b>one</b>', '<b>one</b>']);
});

it('a withdrawn alert is removed from the pages synchronously, before anything is awaited', async () => {
  const { banner, state, inserted, banners, on } = fixture();
  state.alert = alert('one');
  await banner.update();
  state.alert = null;
  const updating = banner.update();
  expect([inserted.at(-1), banners.at(-1), on()]).toEqual([null, null, null]);
  await updating;
  expect(inserted).toEqual(['<b>one</b>', null]);
});

it('an alert that is withdrawn or replaced while it is rendered is never shown', async () => {
  const { banner, state, inserted } = fixture();
  const held = Promise.withResolvers<void>();
  state.hold = held.promise;
  state.alert = alert('one');
  const first = banner.update();
  state.alert = null;
  const second = banner.update();
  state.alert = alert('two');
  const third = banner.update();
  held.resolve();
  await Promise.all([first, second, third]);
  expect(inserted).toEqual(['<b>two</b>']);
});

it('an alert that is replaced is off the pages at once, while its successor is rendered', async () => {
  const { banner, state, inserted, on } = fixture();
  state.alert = alert('one');
  await banner.update();
  const held = Promise.withResolvers<void>();
  state.hold = held.promise;
  state.alert = alert('two');
  const updating = banner.update();
  expect(on()).toBeNull();
  held.resolve();
  await updating;
  expect(inserted).toEqual(['<b>one</b>', null, '<b>two</b>']);
});

it('an alert that can’t be rendered is retried after some seconds, without a change', async () => {
  let clock = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock);
  onTestFinished(() => void vi.restoreAllMocks());
  const { banner, state, inserted } = fixture();
  state.alert = alert('one');
  state.status = 500;
  for (const renders of [1, 2]) {
    if (renders === 1) await banner.update();
    await vi.waitFor(() => expect(state.renders).toBe(renders));
    clock += 5000;
  }
  state.status = 200;
  await vi.waitFor(() => expect(inserted).toEqual(['<b>one</b>']));
});

it('an alert is removed automatically when it ends', async () => {
  const { banner, state, inserted, onEnd } = fixture();
  state.alert = alert('one');
  await banner.update();
  // The reader's answer from the alert's last second on.
  state.alert = null;
  await vi.waitFor(() => expect(inserted).toEqual(['<b>one</b>', null]));
  expect(onEnd).toHaveBeenCalledOnce();
});

it('an alert that ends while it is rendered, so that its fragment is empty, is never shown', async () => {
  const { banner, state, inserted, banners } = fixture({
    press: {
      get: async () => ({ status: 200 }) as never,
      encoded: () => ({ body: Buffer.from('\n') }) as never,
      insert: () => {},
    },
  });
  state.alert = alert('one');
  await banner.update();
  expect([inserted, banners, banner.current()]).toEqual([[], [], null]);
});

it.each([404, 500])(
  'an alert that can’t be rendered (%i) leaves the pages as they are, and is shown after the next change',
  async (status) => {
    const { banner, state, inserted } = fixture();
    state.alert = alert('one');
    state.status = status;
    await banner.update();
    expect(inserted).toEqual([]);
    state.status = 200;
    await banner.update();
    expect(inserted).toEqual(['<b>one</b>']);
  },
);
