/**
 * Reads a story aloud with the browser's own voices: headline, standfirst, and the text of the page, piece by piece. A pause cancels
 * speech and remembers the position, because phones don't reliably resume a paused voice.
 */
import './listen.css';
import { type Piece, piecesOf, voiceFor } from '../../lib/article/speech.ts';
import { toolMessages } from '../../lib/article/tools.ts';
import { showStatus } from './story.ts';

interface Options {
  readonly pieces: readonly Piece[];
  readonly language: string;
  /** @param at index of the current or last piece */
  readonly onChange: (playing: boolean, at: number) => void;
  /** After the last piece. */
  readonly onEnd: () => void;
  readonly onError: () => void;
}

function createReader({ pieces, language, onChange, onEnd, onError }: Options) {
  const voices = window.speechSynthesis;
  let rate = 1;
  let at = 0;
  let playing = false;
  /** Number of the latest piece: late events of canceled pieces are ignored. */
  let latest = 0;

  const report = () => onChange(playing, at);

  function speak(): void {
    const own = ++latest;
    const piece = pieces[at];
    if (!piece) {
      playing = false;
      at = 0;
      report();
      onEnd();
      return;
    }
    const utterance = new SpeechSynthesisUtterance(piece.text);
    utterance.lang = language;
    utterance.rate = rate;
    const voice = voiceFor(voices.getVoices(), language);
    if (voice) utterance.voice = voice;
    utterance.onend = () => {
      if (own !== latest || !playing) return;
      at++;
      speak();
    };
    utterance.onerror = () => {
      if (own !== latest || !playing) return;
      playing = false;
      report();
      onError();
    };
    report();
    voices.speak(utterance);
  }

  function silence(): void {
    latest++;
    playing = false;
    voices.cancel();
  }

  return {
    play() {
      if (playing) return;
      // Another tab may be reading aloud.
      voices.cancel();
      playing = true;
      speak();
    },
    pause() {
      silence();
      report();
    },
    setRate(next: number) {
      rate = next;
      const was = playing;
      silence();
      if (was) this.play();
      else report();
    },
    stop: silence,
  };
}

/** Parts that aren't read aloud: pictures, tables, players, notes. */
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

/** Opens the player and starts reading; a second call closes it. */
export function listen(): void {
  if (open) {
    open.close();
    return;
  }
  const all = blocks();
  // A story that isn't in the page's language names its own.
  const language = document.querySelector<HTMLElement>('.story')?.dataset.language ?? document.documentElement.lang;
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
    onChange: (playing, at) => {
      play.textContent = playing ? toolMessages.pause : toolMessages.play;
      mark(playing ? all[pieces[at]?.block ?? -1] : undefined);
    },
    onEnd: () => close(),
    onError() {
      close();
      showStatus(toolMessages.noVoice);
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
    if (play.textContent === toolMessages.pause) reader.pause();
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
  bar.setAttribute('aria-label', toolMessages.listen);
  const title = document.createElement('p');
  title.textContent = document.querySelector('.story h1')?.textContent ?? '';
  const make = (label: string): HTMLButtonElement => {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = label;
    return button;
  };
  const play = make(toolMessages.pause);
  play.className = 'button';
  const label = document.createElement('label');
  label.textContent = `${toolMessages.speed} `;
  const rate = document.createElement('select');
  for (const each of rates) rate.append(new Option(`${each}×`, String(each), each === 1, each === 1));
  label.append(rate);
  const stop = make(toolMessages.stop);
  stop.className = 'button button-plain';
  bar.append(title, play, label, stop);
  return { bar, play, rate, stop };
}
