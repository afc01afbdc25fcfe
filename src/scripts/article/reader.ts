/**
 * Reads pieces aloud, one after another. A pause is a stop that remembers its place: to hold a voice and go on is not reliable on
 * phones.
 */
import { type Piece, voiceFor } from '../../lib/article/speech.ts';

export interface ReaderState {
  readonly playing: boolean;
  /** Of the piece that is read, or was read last. */
  readonly at: number;
  readonly rate: number;
}

export interface Reader {
  play(): void;
  pause(): void;
  setRate(rate: number): void;
  /** Ends for good. */
  stop(): void;
}

interface Options {
  readonly pieces: readonly Piece[];
  readonly language: string;
  readonly rate: number;
  /** Told of every change. */
  readonly onChange: (state: ReaderState) => void;
  /** Told when the last piece has been read. */
  readonly onEnd: () => void;
  readonly onTrouble: () => void;
}

export function createReader({ pieces, language, onChange, onEnd, onTrouble, ...options }: Options): Reader {
  const voices = window.speechSynthesis;
  let { rate } = options;
  let at = 0;
  let playing = false;
  /** Events of a piece that was broken off come late, and are nobody's. */
  let turn = 0;

  const tell = () => onChange({ playing, at, rate });

  function speak(): void {
    const mine = ++turn;
    const piece = pieces[at];
    if (!piece) {
      playing = false;
      at = 0;
      tell();
      onEnd();
      return;
    }
    const words = new SpeechSynthesisUtterance(piece.text);
    words.lang = language;
    words.rate = rate;
    const voice = voiceFor(voices.getVoices(), language);
    if (voice) words.voice = voice;
    words.onend = () => {
      if (mine !== turn || !playing) return;
      at++;
      speak();
    };
    words.onerror = () => {
      if (mine !== turn || !playing) return;
      playing = false;
      tell();
      onTrouble();
    };
    tell();
    voices.speak(words);
  }

  function hush(): void {
    turn++;
    playing = false;
    voices.cancel();
  }

  return {
    play() {
      if (playing) return;
      // Another page of the paper may be reading.
      voices.cancel();
      playing = true;
      speak();
    },
    pause() {
      hush();
      tell();
    },
    setRate(next) {
      rate = next;
      const was = playing;
      hush();
      if (was) this.play();
      else tell();
    },
    stop: hush,
  };
}
