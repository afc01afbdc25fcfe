// @vitest-environment jsdom
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { playerTools, withPlayerTools } from '../lib/sound/model.ts';

const player = (id: number): string =>
  `<section class="sound" data-sound="${id}" data-title="The Vote" data-series="How It Works" data-picture="/p.jpg">
  <audio src="/sound/${id}/0"></audio>${playerTools}<p class="sound-place"></p>
  <ol><li><a href="#" data-seek="0">A</a></li><li><a href="#" data-seek="60">B</a></li><li><a href="#" data-seek="120">C</a></li></ol>
  </section>`;

type Handlers = Map<string, (details: Record<string, number>) => void>;
let handlers: Handlers;
let session: { metadata: unknown; setActionHandler: unknown };

beforeEach(() => {
  handlers = new Map();
  session = { metadata: null, setActionHandler: (name: string, handler: never) => handlers.set(name, handler) };
  Object.defineProperty(navigator, 'mediaSession', { configurable: true, value: session });
  vi.stubGlobal(
    'MediaMetadata',
    class {
      readonly facts: object;
      constructor(facts: object) {
        this.facts = facts;
      }
    },
  );
  vi.spyOn(HTMLMediaElement.prototype, 'play').mockImplementation(async function (this: HTMLMediaElement) {
    this.dispatchEvent(new Event('play'));
  });
  vi.spyOn(HTMLMediaElement.prototype, 'pause').mockImplementation(() => {});
  localStorage.clear();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.resetModules();
});

async function open(html: string) {
  document.body.innerHTML = html;
  const { handleControl: act } = await import('./sound.ts');
  const audio = document.querySelector('audio') as HTMLAudioElement;
  Object.defineProperty(audio, 'duration', { configurable: true, value: 600 });
  const press = (selector: string) => act(document.querySelector(selector) as HTMLElement);
  return { audio, press };
}
const stored = () => JSON.parse(localStorage.sound ?? '{}');

it('the audio player skips, but never beyond the start or the end', async () => {
  const { audio, press } = await open(player(7));
  press('[data-skip="30"]');
  expect(audio.currentTime).toBe(30);
  press('[data-skip="-15"]');
  press('[data-skip="-15"]');
  press('[data-skip="-15"]');
  expect(audio.currentTime).toBe(0);
  audio.currentTime = 590;
  press('[data-skip="30"]');
  expect(audio.currentTime).toBe(600);
});

it('the tools of an audio player in a text belong to the player in the same figure', async () => {
  const block = (name: string) => withPlayerTools(`<figure><audio src="/${name}.mp3"></audio></figure>`);
  const { press } = await open(`<div class="prose">${block('one')}${block('two')}</div>`);
  press('figure:nth-child(2) [data-skip="30"]');
  expect([...document.querySelectorAll('audio')].map(({ currentTime }) => currentTime)).toEqual([0, 30]);
});

it('the audio player starts at a chapter, and marks the chapter that is playing', async () => {
  const { audio, press } = await open(player(7));
  press('[data-seek="60"]');
  expect([audio.currentTime, HTMLMediaElement.prototype.play]).toEqual([60, expect.objectContaining({})]);
  expect(HTMLMediaElement.prototype.play).toHaveBeenCalledOnce();
  audio.dispatchEvent(new Event('timeupdate'));
  expect(document.querySelector('[aria-current]')?.textContent).toBe('B');
});

it('the playback speed is kept for all audio players', async () => {
  const { audio, press } = await open(player(7));
  const select = document.querySelector('select') as HTMLSelectElement;
  select.value = '1.5';
  press('select');
  expect([audio.playbackRate, stored().speed]).toEqual([1.5, 1.5]);
  vi.resetModules();
  const again = await open(player(8));
  expect([again.audio.playbackRate, document.querySelector('select')?.value]).toEqual([1.5, '1.5']);
});

it('the audio player resumes at its stored position, and forgets it at the end', async () => {
  const { audio } = await open(player(7));
  audio.currentTime = 200;
  audio.dispatchEvent(new Event('pause'));
  expect(stored().places).toEqual([['7', 200]]);
  vi.resetModules();
  const again = await open(player(7));
  expect(again.audio.currentTime).toBe(200);
  expect(document.querySelector('.sound-place')?.textContent).toContain('3:20');
  vi.resetModules();
  expect((await open(player(8))).audio.currentTime).toBe(0);
  vi.resetModules();
  const last = await open(player(7));
  last.audio.currentTime = 599;
  last.audio.dispatchEvent(new Event('pause'));
  expect(stored().places).toEqual([]);
});

it.each(['{', '7', '{"places":{}}', '{"places":[["7"],7,["7","x"]],"speed":"fast"}'])(
  'the audio player starts at the beginning when the stored entry is broken: %s',
  async (entry) => {
    localStorage.sound = entry;
    const { audio } = await open(player(7));
    expect([audio.currentTime, audio.playbackRate]).toEqual([0, 1]);
  },
);

it('the audio player works without browser storage', async () => {
  vi.stubGlobal('localStorage', {
    getItem: () => {
      throw new DOMException('blocked');
    },
    setItem: () => {
      throw new DOMException('full');
    },
  });
  const { audio, press } = await open(player(7));
  press('[data-skip="30"]');
  audio.dispatchEvent(new Event('pause'));
  expect(audio.currentTime).toBe(30);
});

it('the audio player stores only the 50 newest positions', async () => {
  localStorage.sound = JSON.stringify({ places: Array.from({ length: 50 }, (_, id) => [`old-${id}`, 9]) });
  const { audio } = await open(player(7));
  audio.currentTime = 200;
  audio.dispatchEvent(new Event('pause'));
  expect([stored().places.length, stored().places[0][0], stored().places.at(-1)]).toEqual([50, 'old-1', ['7', 200]]);
});

it('the lock screen shows title, series, and picture of the recording, and its controls skip', async () => {
  const { audio, press } = await open(player(7));
  press('[data-seek="60"]');
  expect(session.metadata).toMatchObject({
    facts: { title: 'The Vote', artist: 'How It Works', artwork: [{ src: expect.stringMatching(/\/p\.jpg$/) }] },
  });
  handlers.get('seekforward')?.({});
  expect(audio.currentTime).toBe(90);
  handlers.get('nexttrack')?.({});
  expect(audio.currentTime).toBe(120);
  handlers.get('previoustrack')?.({});
  expect(audio.currentTime).toBe(60);
  handlers.get('seekto')?.({ seekTime: 5 });
  expect(audio.currentTime).toBe(5);
});

it('the lock screen has no chapter keys for a recording without chapters that follows one with them', async () => {
  const { press } = await open(`${player(7)}<div class="prose"><figure><audio src="/one.mp3"></audio></figure></div>`);
  press('[data-seek="60"]');
  expect(handlers.get('nexttrack')).toBeTypeOf('function');
  document.querySelector('figure audio')?.dispatchEvent(new Event('play'));
  expect([handlers.get('nexttrack'), handlers.get('previoustrack')]).toEqual([null, null]);
  expect(handlers.get('seekforward')).toBeTypeOf('function');
});

it('the audio player handles keys pressed inside it, but not in a field or with Ctrl', async () => {
  const { audio } = await open(player(7));
  const press = (key: string, target: Element = audio, more: KeyboardEventInit = {}) =>
    target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));
  press('l');
  expect(audio.currentTime).toBe(30);
  press('J');
  expect(audio.currentTime).toBe(15);
  press('>');
  expect(audio.playbackRate).toBe(1.25);
  press('l', document.querySelector('select') as Element);
  press('l', audio, { ctrlKey: true });
  expect(audio.currentTime).toBe(15);
});

it('an audio element without a figure does not handle keys pressed in the text around it', async () => {
  document.body.innerHTML =
    '<div class="prose"><p><a href="/a">A link</a></p><audio src="/one.mp3"></audio><audio src="/two.mp3"></audio></div>';
  await import('./sound.ts');
  const [first, second] = document.querySelectorAll('audio');
  const press = (target: Element | null | undefined) =>
    target?.dispatchEvent(new KeyboardEvent('keydown', { key: 'l', bubbles: true, cancelable: true }));
  expect(press(document.querySelector('a'))).toBe(true);
  expect(press(second)).toBe(false);
  expect([first?.currentTime, second?.currentTime]).toEqual([0, 30]);
});
