/** Text for reading aloud, in pieces that browsers can speak, and the choice of a voice. */

/** Most characters of a piece: some voices of Chrome stop after 15 seconds. */
const longest = 220;

/** A piece of a text block. */
export interface Piece {
  readonly text: string;
  /** Index of the piece's block. */
  readonly block: number;
}

/** Blocks of text as pieces: whole sentences where they are short enough, never a part of a word. */
export function piecesOf(blocks: readonly string[], language: string): readonly Piece[] {
  return blocks.flatMap((text, block) =>
    sentences(text.replace(/\s+/gu, ' ').trim(), language).flatMap((sentence) =>
      chunks(sentence).map((piece) => ({ text: piece, block })),
    ),
  );
}

function sentences(text: string, language: string): string[] {
  if (text === '') return [];
  if (typeof Intl.Segmenter !== 'function') return text.split(/(?<=[.!?…]["”’)]?)\s+/u);
  return [...new Intl.Segmenter(language, { granularity: 'sentence' }).segment(text)].map(({ segment }) => segment);
}

function chunks(sentence: string): string[] {
  const found: string[] = [];
  let piece = '';
  for (const word of sentence.trim().split(' ')) {
    if (piece !== '' && piece.length + word.length >= longest) {
      found.push(piece);
      piece = '';
    }
    piece = piece === '' ? word : `${piece} ${word}`;
  }
  return piece === '' ? found : [...found, piece];
}

type Voice = Pick<SpeechSynthesisVoice, 'lang' | 'localService' | 'default'>;

/** The best voice for a language: the exact region first, then voices on the device. `null`: the browser's choice. */
export function voiceFor<V extends Voice>(voices: readonly V[], language: string): V | null {
  const tag = (text: string): string => text.replace('_', '-').toLowerCase();
  const wanted = tag(language);
  const base = wanted.split('-')[0];
  const rank = (voice: V): number =>
    (tag(voice.lang) === wanted ? 4 : 0) + (voice.localService ? 2 : 0) + (voice.default ? 1 : 0);
  const speaking = voices.filter(({ lang }) => tag(lang).split('-')[0] === base);
  return speaking.reduce<V | null>((best, voice) => (best && rank(best) >= rank(voice) ? best : voice), null);
}
