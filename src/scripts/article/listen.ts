/** Reads a story aloud with the browser's own voices: headline, standfirst, and the text that this reader has before them. */
import './listen.css';
import { piecesOf } from '../../lib/article/speech.ts';
import { say } from './bar.ts';
import { createReader } from './reader.ts';

/** What is looked at and not read: pictures, tables, players, notes. */
const silent = 'figure, table, pre, hr, .embed, .table-scroll, [data-ad-slot], [data-joined], aside, style, script';
const rates = [0.8, 1, 1.25, 1.5, 2] as const;

const blocks = (): readonly HTMLElement[] => [
  ...document.querySelectorAll<HTMLElement>('.story h1, .story .standfirst'),
  ...[...document.querySelectorAll<HTMLElement>('.story .body > .prose > *')].filter((block) => !block.matches(silent)),
];

const textOf = (block: HTMLElement): string => {
  const copy = block.cloneNode(true) as HTMLElement;
  for (const part of copy.querySelectorAll(silent)) part.remove();
  return copy.textContent ?? '';
};

let open: { readonly close: () => void } | null = null;

/** Opens the player and begins; pressed again, it ends. */
export function listen(): void {
  if (open) {
    open.close();
    return;
  }
  const all = blocks();
  const language = document.documentElement.lang;
  const pieces = piecesOf(all.map(textOf), language);
  const { bar, play, rate, stop } = player();
  const button = document.querySelector<HTMLButtonElement>('[data-tool="listen"]');
  let marked: HTMLElement | undefined;
  const mark = (block: HTMLElement | undefined): void => {
    if (block === marked) return;
    marked?.classList.remove('is-read');
    block?.classList.add('is-read');
    marked = block;
  };

  const reader = createReader({
    pieces,
    language,
    rate: 1,
    onChange: ({ playing, at }) => {
      play.textContent = playing ? 'Pause' : 'Play';
      mark(playing ? all[pieces[at]?.block ?? -1] : undefined);
    },
    onEnd: () => close(),
    onTrouble() {
      close();
      say('This browser cannot read aloud just now.');
    },
  });
  const close = (): void => {
    reader.stop();
    mark(undefined);
    removeEventListener('pagehide', close);
    const held = bar.contains(document.activeElement);
    bar.remove();
    delete document.documentElement.dataset.listening;
    button?.removeAttribute('aria-pressed');
    open = null;
    if (held) button?.focus({ preventScroll: true });
  };
  play.addEventListener('click', () => {
    if (play.textContent === 'Pause') reader.pause();
    else reader.play();
  });
  rate.addEventListener('change', () => reader.setRate(Number(rate.value)));
  stop.addEventListener('click', close);
  addEventListener('pagehide', close);
  document.body.append(bar);
  document.documentElement.dataset.listening = '';
  if (button) button.ariaPressed = 'true';
  open = { close };
  play.focus({ preventScroll: true });
  reader.play();
}

function player() {
  const bar = document.createElement('section');
  bar.className = 'listen-bar';
  bar.setAttribute('aria-label', 'Listen to this story');
  const title = document.createElement('p');
  title.textContent = document.querySelector('.story h1')?.textContent ?? '';
  const make = (words: string): HTMLButtonElement => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = words;
    return button;
  };
  const play = make('Pause');
  play.className = 'button';
  const label = document.createElement('label');
  label.textContent = 'Speed ';
  const rate = document.createElement('select');
  for (const each of rates) rate.append(new Option(`${each}×`, String(each), each === 1, each === 1));
  label.append(rate);
  const stop = make('Stop');
  stop.className = 'button button-plain';
  bar.append(title, play, label, stop);
  return { bar, play, rate, stop };
}
