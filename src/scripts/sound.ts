/**
 * Players of a page: chapters and skips seek, the speed and the place are kept in this browser, and the lock screen shows what plays. The
 * page has all controls already (components/sound, lib/sound/model.ts); this loads at a touch.
 */
import { readStoredJson, writeStored } from '../lib/browser-storage.ts';
import { clockTime } from '../lib/sound/model.ts';

/** Name of the entry in the browser's storage, and the most positions that it keeps. */
const entryName = 'sound';
const maxPlaces = 50;
/** Seconds: a position closer to the beginning or the end isn't stored. */
const margin = 3;
const back = 15;
const forward = 30;
/** Milliseconds between two writes while something plays. */
const writeEveryMs = 5000;

interface Stored {
  readonly speed?: number;
  /** Seconds by player, the oldest first. */
  readonly places?: readonly (readonly [player: string, seconds: number])[];
}

function readStored(): Stored {
  const value = readStoredJson(entryName) as Stored | null;
  const isPlace = (place: unknown): boolean =>
    Array.isArray(place) && typeof place[0] === 'string' && Number.isFinite(place[1]);
  return {
    speed: Number.isFinite(value?.speed) ? Number(value?.speed) : 1,
    places: Array.isArray(value?.places) ? value.places.filter(isPlace) : [],
  };
}

const store = (change: Stored): void => void writeStored(entryName, JSON.stringify({ ...readStored(), ...change }));

function storePlace(player: string, seconds: number | null): void {
  const others = (readStored().places ?? []).filter(([name]) => name !== player);
  store({ places: seconds === null ? others : [...others, [player, Math.floor(seconds)] as const].slice(-maxPlaces) });
}

/** The part of the page that belongs to a player: the story's sound, the figure in its text, or the player alone. */
const boxOf = (element: Element): Element => element.closest('.sound, figure') ?? element;

const audioOf = (control: Element): HTMLAudioElement | null => boxOf(control).querySelector('audio');

/** Name of a player in storage: for the story's sound the story's id, for others their file. */
const nameOf = (audio: HTMLAudioElement): string =>
  audio.closest<HTMLElement>('.sound')?.dataset.sound ?? audio.currentSrc ?? audio.src;

const hasDuration = ({ duration }: HTMLAudioElement): boolean => Number.isFinite(duration);

function seek(audio: HTMLAudioElement, seconds: number): void {
  const end = hasDuration(audio) ? audio.duration : Number.POSITIVE_INFINITY;
  audio.currentTime = Math.min(Math.max(0, seconds), end);
}

const play = (audio: HTMLAudioElement): void => void audio.play().catch(() => {});

function setSpeed(audio: HTMLAudioElement, speed: number): void {
  audio.defaultPlaybackRate = speed;
  audio.playbackRate = speed;
  const select = boxOf(audio).querySelector<HTMLSelectElement>('[data-speed]');
  if (select) select.value = String(speed);
}

/** Handles a click on one of the page's controls. */
export function handleControl(control: HTMLElement): void {
  const audio = audioOf(control);
  if (!audio) return;
  const { skip, seek: start } = control.dataset;
  if (skip !== undefined) seek(audio, audio.currentTime + Number(skip));
  else if (start !== undefined) {
    seek(audio, Number(start));
    play(audio);
  } else if (control instanceof HTMLSelectElement) {
    setSpeed(audio, Number(control.value));
    store({ speed: Number(control.value) });
  }
}

/** Marks the current chapter. */
function markChapter(audio: HTMLAudioElement): void {
  const links = [...boxOf(audio).querySelectorAll<HTMLElement>('[data-seek]')];
  const current = links.findLast((link) => Number(link.dataset.seek) <= audio.currentTime);
  for (const link of links) {
    if (link === current) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}

/** The lock screen's controls: title, series, picture, skips and chapters. */
function showOnLockScreen(audio: HTMLAudioElement): void {
  const session = navigator.mediaSession;
  if (!session) return;
  const { title, series = '', picture } = audio.closest<HTMLElement>('.sound')?.dataset ?? {};
  session.metadata = new MediaMetadata({
    title: title ?? audio.getAttribute('aria-label') ?? document.title,
    artist: series,
    album: series,
    artwork: picture ? [{ src: new URL(picture, location.href).href, sizes: '640x640' }] : [],
  });
  const chapters = [...boxOf(audio).querySelectorAll<HTMLElement>('[data-seek]')].map(({ dataset }) =>
    Number(dataset.seek),
  );
  const hasChapters = chapters.length > 0;
  // `null` removes the handler that the recording before this one has set.
  const handlers: Partial<Record<MediaSessionAction, MediaSessionActionHandler | null>> = {
    play: () => play(audio),
    pause: () => audio.pause(),
    seekbackward: ({ seekOffset }) => seek(audio, audio.currentTime - (seekOffset ?? back)),
    seekforward: ({ seekOffset }) => seek(audio, audio.currentTime + (seekOffset ?? forward)),
    seekto: ({ seekTime }) => seek(audio, seekTime ?? audio.currentTime),
    // Slightly before the chapter's start, so that a second press leads to the previous chapter.
    previoustrack: hasChapters
      ? () => seek(audio, chapters.findLast((start) => start < audio.currentTime - 3) ?? 0)
      : null,
    nexttrack: hasChapters
      ? () => seek(audio, chapters.find((start) => start > audio.currentTime) ?? audio.currentTime)
      : null,
  };
  for (const [action, handler] of Object.entries(handlers)) {
    try {
      session.setActionHandler(action as MediaSessionAction, handler);
    } catch {
      // Not every browser knows every action.
    }
  }
}

function showPosition(audio: HTMLAudioElement): void {
  if (!hasDuration(audio)) return;
  const { duration, playbackRate, currentTime } = audio;
  navigator.mediaSession?.setPositionState?.({ duration, playbackRate, position: Math.min(currentTime, duration) });
}

/** Keys within a player: J and L skip, K plays and pauses, < and > change the speed. */
function onKey(event: KeyboardEvent, audio: HTMLAudioElement): void {
  const target = event.target as Element;
  if (event.ctrlKey || event.metaKey || event.altKey || target.matches('select, input, textarea')) return;
  const speeds = [...boxOf(audio).querySelectorAll('[data-speed] option')].map((option) =>
    Number((option as HTMLOptionElement).value),
  );
  const changeSpeed = (by: number): void => {
    const next = speeds[speeds.indexOf(audio.playbackRate) + by];
    if (next === undefined) return;
    setSpeed(audio, next);
    store({ speed: next });
  };
  const keys: Readonly<Record<string, () => void>> = {
    j: () => seek(audio, audio.currentTime - back),
    l: () => seek(audio, audio.currentTime + forward),
    k: () => (audio.paused ? play(audio) : audio.pause()),
    '<': () => changeSpeed(-1),
    '>': () => changeSpeed(1),
  };
  const action = keys[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  action();
}

function enhance(audio: HTMLAudioElement): void {
  const name = nameOf(audio);
  const { speed = 1, places = [] } = readStored();
  setSpeed(audio, speed);
  const place = places.find(([player]) => player === name)?.[1] ?? 0;
  const note = boxOf(audio).querySelector('.sound-place');
  if (place > 0 && audio.currentTime === 0) {
    audio.currentTime = place;
    if (note) note.textContent = `You stopped at ${clockTime(place)}. It continues from there.`;
  }
  let wrote = 0;
  const write = (): void => {
    const { currentTime, duration } = audio;
    const over = audio.ended || (hasDuration(audio) && currentTime > duration - margin);
    if (currentTime < margin && !over) return;
    wrote = Date.now();
    storePlace(name, over ? null : currentTime);
  };
  audio.addEventListener('play', () => {
    // Only one player plays at a time.
    for (const other of document.querySelectorAll('audio')) if (other !== audio) other.pause();
    if (note) note.textContent = '';
    showOnLockScreen(audio);
  });
  audio.addEventListener('timeupdate', () => {
    markChapter(audio);
    showPosition(audio);
    if (Date.now() - wrote > writeEveryMs) write();
  });
  for (const type of ['pause', 'ended', 'seeked']) audio.addEventListener(type, write);
  addEventListener('pagehide', () => {
    if (!audio.paused) write();
  });
  const box = boxOf(audio);
  box.addEventListener('keydown', (event) => onKey(event as KeyboardEvent, audio));
  if (!audio.paused) showOnLockScreen(audio);
}

for (const audio of document.querySelectorAll<HTMLAudioElement>('.sound audio, .prose audio')) enhance(audio);
